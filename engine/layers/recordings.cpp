#include "engine/layers/recordings.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <sstream>

#include "compute/error.h"
#include "compute/indexing.h"
#include "compute/parallel_for.h"
#include "compute/plural.h"
#include "compute/reason.h"
#include "engine/io/volume_file.h"
#include "engine/layers/retina_search.h"
#include "engine/layers/tissue_search.h"

namespace echolux {
namespace {

constexpr std::int64_t most_samples = 16;                         // B-scans, evenly spaced: of the noise floor,
constexpr std::int64_t planned_samples = 4, checked_samples = 2;  // of the statistics, of the comparison
constexpr double most_range_db = 120;
constexpr float none = std::numeric_limits<float>::quiet_NaN();

// Values of a B-scan as stored, scaled.
void append_b_scan(const Volume& volume, std::int64_t b, std::vector<float>& values) {
    const VolumeGrid& grid = volume.grid;
    with_voxels(volume, [&](const auto* codes) {
        const std::int64_t slice = grid.depth * grid.a_scans;
        for (std::int64_t i = b * slice; i < (b + 1) * slice; ++i)
            values.push_back(static_cast<float>(static_cast<double>(codes[i]) * grid.scale + grid.offset));
    });
}

// Indices of evenly spaced B-scans.
std::vector<std::int64_t> sampled(std::int64_t b_scans, std::int64_t most) {
    std::vector<std::int64_t> samples;
    const std::int64_t count = std::min(b_scans, most);
    for (std::int64_t i = 0; i < count; ++i) samples.push_back((2 * i + 1) * b_scans / (2 * count));
    return samples;
}

StoredAs stated_in(const VolumeGrid& grid) {
    if (grid.quantity == "db") return StoredAs::db;
    if (grid.quantity == "amplitude") return StoredAs::amplitude;
    if (grid.quantity == "intensity" || grid.quantity == "reflectivity") return StoredAs::intensity;
    return StoredAs::automatic;
}

// Converts some B-scans. `stored_as` and `exponent` of the plan are used if there is one.
Brightness brightness_in(const Volume& volume, const std::vector<std::int64_t>& b_scans, StoredAs stored_as) {
    const VolumeGrid& grid = volume.grid;
    std::vector<float> values;
    values.reserve(index(grid.depth * grid.a_scans) * b_scans.size());
    for (const std::int64_t b : b_scans) append_b_scan(volume, b, values);
    return brightness_of(values, {grid.depth, grid.a_scans, std::ssize(b_scans)},
                         {stored_as, grid.type == VoxelType::u8 && grid.quantity.empty()});
}

std::vector<std::string> words_of(const std::string& text) {
    std::istringstream stream(text);
    std::vector<std::string> words;
    for (std::string word; stream >> word;) words.push_back(word);
    return words;
}

bool is_retina_name(const std::string& name) {
    return std::ranges::find(retina_names, name) != retina_names.end();
}

// Names of a recipe, or numbers.
std::vector<std::string> names_in(const LayerRecipe& recipe) {
    std::vector<std::string> names = words_of(recipe.names);
    for (std::int64_t i = 1; words_of(recipe.names).empty() && i <= recipe.count; ++i)
        names.push_back(std::to_string(i));
    return names;
}

bool is_single_surface(const LayerRecipe& recipe) {
    const auto is_zero = [](double um) { return um == 0; };
    return names_in(recipe).size() == 1 && recipe.polarity == std::vector<double>{1} && !recipe.tissue_below &&
           std::ranges::all_of(recipe.min_um, is_zero) && std::ranges::all_of(recipe.max_um, is_zero);
}

// The method for averaged or compressed pictures of what the recipe names.
SearchMethod robust_method(const LayerRecipe& recipe) {
    const std::vector<std::string> names = words_of(recipe.names);
    if (!names.empty() && std::ranges::all_of(names, is_retina_name)) return SearchMethod::retina;
    return is_single_surface(recipe) ? SearchMethod::surface : SearchMethod::likelihood;
}

// Copies a list with a value per boundary; a single number keeps the table of the model.
void take_list(const std::vector<double>& list, RetinaModel::List<double>& values, const char* key) {
    if (list.size() == 1) return;
    if (list.size() != values.size()) {
        throw Error(ErrorCode::bad_setting,
                    fmt::format("has {} for {}", plural(list.size(), "numbers"), plural(values.size(), "boundaries")),
                    key, "the method retina needs one for each of its nine boundaries");
    }
    std::ranges::copy(list, values.begin());
}

// Limits of a recipe with method = auto are those of the likelihood.
RetinaModel model_of(const LayerRecipe& recipe) {
    RetinaModel model;
    take_list(recipe.brightness, model.level, "layers.brightness");
    take_list(recipe.usual_um, model.thickness_um, "layers.usual_um");
    take_list(recipe.usual_sd_um, model.thickness_sd_um, "layers.usual_sd_um");
    take_list(recipe.contrast, model.contrast, "layers.contrast");
    if (recipe.method == SearchMethod::retina) {
        take_list(recipe.min_um, model.min_um, "layers.min_um");
        take_list(recipe.max_um, model.max_um, "layers.max_um");
    }
    model.reach_um = recipe.reach_um;
    return model;
}

double row_um_of(const VolumeGrid& grid, const LayerRecipe& recipe) {
    return recipe.row_um > 0 ? recipe.row_um : grid.spacing_um[0];
}

// Searches single B-scans.
class BScanSearch {
  public:
    BScanSearch(const Volume& volume, const LayerRecipe& recipe, SearchMethod method, double looks)
        : grid_(volume.grid), method_(method), model_(model_of(recipe)), looks_(looks),
          row_um_(row_um_of(volume.grid, recipe)) {
        names_ = names_in(recipe);
        tissue_.foot = recipe.foot;
        if (method_ == SearchMethod::retina)
            require_retina();
        else if (method_ == SearchMethod::surface)
            wanted_ = boundary_options(recipe, row_um_);
        else if (names_.size() != 1)
            throw Error(ErrorCode::bad_setting, "this method finds one surface", "layers.method",
                        "name a single surface, or choose another method");
        if (!wanted_.empty() && wanted_.front().polarity == -1)
            throw Error(ErrorCode::bad_setting, "the surface of tissue is brighter below", "layers.polarity",
                        "begin with 1, or choose another method");
    }

    const std::vector<std::string>& names() const { return names_; }

    // Returns the courses in the order of the names.
    std::vector<ConfidentCourse> found(const Brightness& all, std::int64_t index, double floor, double top) const {
        const std::int64_t slice = grid_.depth * grid_.a_scans;
        const auto first = all.linear.begin() + index * slice;
        const auto known = all.known.begin() + index * slice;
        const BScanBrightness b_scan{{grid_.depth, grid_.a_scans, {first, first + slice}},
                                     {known, known + slice},
                                     floor,
                                     top,
                                     row_um_,
                                     grid_.spacing_um[1],
                                     looks_};
        if (method_ == SearchMethod::surface) return surface_and_below(b_scan);
        if (method_ == SearchMethod::lumen) return {find_lumen(b_scan)};
        RetinaResult retina = find_retina(b_scan, model_);
        std::vector<ConfidentCourse> courses;
        for (const std::string& name : names_)
            courses.push_back(std::move(retina.boundaries[static_cast<std::size_t>(
                std::ranges::find(retina_names, name) - retina_names.begin())]));
        return courses;
    }

  private:
    std::vector<ConfidentCourse> surface_and_below(const BScanBrightness& b_scan) const {
        std::vector<ConfidentCourse> courses{find_tissue_surface(b_scan, tissue_)};
        for (std::size_t k = 1; k < wanted_.size(); ++k)
            courses.push_back(find_below(b_scan, courses.back(), wanted_[k]));
        return courses;
    }

    void require_retina() const {
        const auto other = std::ranges::find_if_not(names_, is_retina_name);
        if (other != names_.end()) {
            throw Error(ErrorCode::bad_setting, "the method retina does not support " + *other, "layers.names",
                        fmt::format("choose from {}", fmt::join(retina_names, " ")));
        }
        if (row_um_ > 0) return;
        throw Error(ErrorCode::bad_setting, "the depth pitch of the volume is unknown", "layers.row_um",
                    "set it in micrometres");
    }

    const VolumeGrid& grid_;
    SearchMethod method_;
    RetinaModel model_;
    TissueModel tissue_;
    double looks_;
    double row_um_;
    std::vector<std::string> names_;
    std::vector<BoundaryOptions> wanted_;  // of the method surface
};

constexpr std::int64_t min_rows = 64, least_a_scans = 8;

bool is_large_enough(const VolumeGrid& grid) {
    return grid.depth >= min_rows && grid.a_scans >= least_a_scans;
}

void require_size(const VolumeGrid& grid) {
    if (is_large_enough(grid)) return;
    throw Error(ErrorCode::bad_setting,
                fmt::format("{} x {} voxels are too few for this method", grid.depth, grid.a_scans), "layers.method",
                fmt::format("needs {} and {}, or the method likelihood", plural(min_rows, "rows"),
                            plural(least_a_scans, "A-scans")));
}

// A plan whose statistics are known: the brightness of further B-scans is converted likewise.
Brightness converted(const Volume& volume, const std::vector<std::int64_t>& b_scans, const SearchPlan& plan) {
    const VolumeGrid& grid = volume.grid;
    std::vector<float> values;
    for (const std::int64_t b : b_scans) append_b_scan(volume, b, values);
    return brightness_of(
        values, {grid.depth, grid.a_scans, std::ssize(b_scans)},
        {plan.stored_as, grid.type == VoxelType::u8 && grid.quantity.empty(), plan.exponent, plan.db_per_value});
}

// Returns the range of ln(value) of the middle B-scan, from the 1st to the 99.9th percentile.
double log_range(const Volume& volume) {
    std::vector<float> values;
    append_b_scan(volume, volume.grid.b_scans / 2, values);
    std::erase_if(values, [](float value) { return !(value > 0 && std::isfinite(value)); });
    for (float& value : values) value = std::log(value);
    return static_cast<double>(percentile_of(values, 0.999) - percentile_of(values, 0.01));
}

// OCT pictures span less than 120 dB. Beyond that, the limits of a logarithmic picture were wrong, perhaps reversed.
// Scales it to the usual range of a logarithmic picture and keeps the direction with the surer surface.
void find_direction(const Volume& volume, const LayerRecipe& recipe, SearchPlan& plan) {
    constexpr double nepers_per_db = 0.230258509299;
    const double scale = log_picture_db * nepers_per_db / std::max(log_range(volume), 1e-3);
    const BScanSearch search(volume, recipe, SearchMethod::surface, plan.looks);
    std::array<float, 2> sureness{};
    plan.stored_as = StoredAs::intensity;
    for (const std::size_t i : {0U, 1U}) {
        plan.exponent = i == 0 ? scale : -scale;
        const Brightness some = converted(volume, {volume.grid.b_scans / 2}, plan);
        sureness[i] = median_of(search.found(some, 0, some.floor, some.top).front().confidence);
    }
    const bool is_reversed = sureness[1] > sureness[0];
    plan.exponent = is_reversed ? -scale : scale;
    plan.why = fmt::format("assuming a logarithmic image with wrong limits{}: they span more than {:g} dB",
                           is_reversed ? ", reversed" : "", most_range_db);
}

// Writes the courses of a B-scan into the surfaces.
void put(const std::vector<ConfidentCourse>& courses, std::int64_t b, Surfaces& surfaces) {
    for (std::size_t k = 0; k < courses.size(); ++k) {
        Surface& surface = surfaces.all[k];
        for (std::int64_t a = 0; a < surfaces.a_scans; ++a) {
            const auto from = index(a), to = index(b * surfaces.a_scans + a);
            surface.reasons[to] = courses[k].reasons[from];
            surface.quality[to] = courses[k].confidence[from];
            surface.rows[to] = has_place(courses[k].reasons[from]) ? courses[k].rows[from] : none;
        }
    }
}

}  // namespace

SearchPlan plan_search(const Volume& volume, const LayerRecipe& recipe) {
    const StoredAs stated = stated_in(volume.grid);
    if (recipe.method == SearchMethod::likelihood && stated != StoredAs::automatic)
        return {{.stored_as = stated}, recipe.method};
    const Brightness some = brightness_in(volume, sampled(volume.grid.b_scans, planned_samples), stated);
    SearchPlan plan{some, recipe.method};
    if (recipe.method == SearchMethod::automatic)
        plan.method = is_large_enough(volume.grid) ? robust_method(recipe) : SearchMethod::likelihood;
    if (plan.method == SearchMethod::surface && stated == StoredAs::automatic && some.range_db > most_range_db)
        find_direction(volume, recipe, plan);
    if (recipe.method != SearchMethod::automatic || plan.method == SearchMethod::likelihood || !is_single_look(some))
        return plan;
    plan.is_checked = plan.method == SearchMethod::retina && row_um_of(volume.grid, recipe) > 0;
    plan.method = SearchMethod::likelihood;
    return plan;
}

Surfaces surfaces_in_recording(const Volume& volume, const LayerRecipe& recipe, const SearchPlan& plan,
                               Progress& progress) {
    const VolumeGrid& grid = volume.grid;
    require_size(grid);
    const BScanSearch search(volume, recipe, plan.method, plan.looks);
    const Brightness some = converted(volume, sampled(grid.b_scans, most_samples), plan);
    Surfaces surfaces{grid.a_scans, grid.b_scans, {}, 0, {}};
    const auto lines = index(surfaces.lines());
    for (const std::string& name : search.names())
        surfaces.all.push_back({name, std::vector<float>(lines, none), std::vector<float>(lines),
                                std::vector<Reason>(lines, Reason::no_signal)});
    const std::int64_t together = 4 * std::max(1, thread_count());
    progress.begin("find surfaces", grid.b_scans, "B-scans");
    for (std::int64_t first = 0; first < grid.b_scans; first += together) {
        const std::int64_t end = std::min(grid.b_scans, first + together);
        parallel_for(first, end, [&](std::int64_t b) {
            put(search.found(converted(volume, {b}, plan), 0, some.floor, some.top), b, surfaces);
        });
        progress.advance(end - first);
    }
    progress.end();
    sort_surfaces(surfaces);
    return surfaces;
}

bool agrees_with_retina(const Volume& volume, const LayerRecipe& recipe, const SearchPlan& plan,
                        const Surfaces& surfaces) {
    constexpr float far_um = 30;      // more than any bias between both methods
    constexpr double most_far = 0.1;  // share of the places
    const VolumeGrid& grid = volume.grid;
    const BScanSearch search(volume, recipe, SearchMethod::retina, plan.looks);
    const std::vector<std::int64_t> samples = sampled(grid.b_scans, checked_samples);
    const Brightness some = converted(volume, samples, plan);
    const auto far_rows = static_cast<float>(far_um / row_um_of(grid, recipe));
    std::int64_t sure = 0, far = 0;
    for (std::size_t i = 0; i < samples.size(); ++i) {
        const auto courses = search.found(some, static_cast<std::int64_t>(i), some.floor, some.top);
        for (std::size_t k = 0; k < courses.size(); ++k) {
            for (std::int64_t a = 0; a < grid.a_scans; ++a) {
                if (courses[k].reasons[index(a)] != Reason::ok) continue;
                const float row = surfaces.all[k].rows[index(samples[i] * grid.a_scans + a)];
                ++sure;
                far += !(std::abs(row - courses[k].rows[index(a)]) <= far_rows) ? 1 : 0;
            }
        }
    }
    return static_cast<double>(far) <= most_far * static_cast<double>(sure);
}

std::vector<float> planned_intensity(const Volume& volume, const SearchPlan& plan) {
    if (!volume.grid.quantity.empty() || (plan.stored_as == StoredAs::intensity && plan.exponent == 1))
        return linear_intensity(volume);
    std::vector<std::int64_t> all;
    for (std::int64_t b = 0; b < volume.grid.b_scans; ++b) all.push_back(b);
    Brightness brightness = converted(volume, all, plan);
    for (std::size_t i = 0; i < brightness.linear.size(); ++i) {
        if (brightness.known[i] == 0) brightness.linear[i] = none;
    }
    return std::move(brightness.linear);
}

}  // namespace echolux
