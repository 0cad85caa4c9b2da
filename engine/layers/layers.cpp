#include "engine/layers/layers.h"

#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <limits>
#include <numbers>
#include <set>
#include <sstream>
#include <type_traits>

#include "compute/error.h"
#include "compute/indexing.h"
#include "compute/parallel_for.h"
#include "compute/plan/describe.h"
#include "compute/plural.h"
#include "compute/reason.h"
#include "engine/io/output_rule.h"
#include "engine/io/volume_file.h"
#include "engine/scan/settings.h"

namespace echolux {

template <>
const std::vector<Field<LayerRecipe>>& describe<LayerRecipe>() {
    using R = LayerRecipe;
    constexpr Effect effect = Effect::view;
    constexpr double far_um = 1e5;
    static const Fields<R> fields{
        text("names", &R::names, effect,
             "names of the boundaries from top to bottom, separated by spaces; empty: 1, 2, ...")
            .in("Layers"),
        integer("count", &R::count, 1, 32, "", effect, "number of boundaries, if they have no names")
            .only_while("layers.names", {""}),
        numbers("polarity", &R::polarity, -1, 1, "", effect,
                "1: brighter below the boundary, -1: darker below, 0: either; one value for all, or one per boundary"),
        numbers("min_um", &R::min_um, 0, far_um, "um", effect, "minimum distance from the boundary above"),
        numbers("max_um", &R::max_um, 0, far_um, "um", effect, "maximum distance from the boundary above; 0: any"),
        numbers("smoothness", &R::smoothness, 0.01, 100, "", effect,
                "factor on the cost of steps between neighbouring A-scans; larger values give smoother boundaries"),
        numbers("vessel_um", &R::vessel_um, 0, 1000, "um", effect,
                "boundaries continue straight across vessels of up to this width that are as bright as the adjacent "
                "layer; 0: no vessels"),
        flag("tissue_below", &R::tissue_below, effect, "tissue continues below the last boundary and fades into noise"),
        number("row_um", &R::row_um, 0, 1000, "um", effect,
               "depth pitch, if the volume does not state it; 0: as the volume says")
            .special(0, "as the volume says"),
        choice("method", &R::method, {"auto", "likelihood", "retina", "surface", "lumen"}, effect,
               "likelihood: layers of constant brightness in single-look speckle; retina: nine retinal boundaries in "
               "real eyes; "
               "surface: top of skin and other tissue, and boundaries below; lumen: lumen in catheter frames; auto: "
               "likelihood for "
               "single-look speckle, else retina or surface if names and polarity allow it")
            .in("Method"),
        number("reach_um", &R::reach_um, 4, 200, "um", effect,
               "retina: search range on either side of the coarse boundary")
            .only_while("layers.method", {"auto", "retina"}),
        numbers("brightness", &R::brightness, -1, 2, "", effect,
                "retina: brightness of the layer above each boundary, from 0 (outer nuclear layer) to 1 (pigment "
                "epithelium); one value: built-in table")
            .only_while("layers.method", {"auto", "retina"}),
        numbers("usual_um", &R::usual_um, 0, 1000, "um", effect,
                "retina: usual distance from the boundary above; one value: built-in table")
            .only_while("layers.method", {"auto", "retina"}),
        numbers("usual_sd_um", &R::usual_sd_um, 0, 1000, "um", effect,
                "retina: standard deviation of usual_um; one value: built-in table")
            .only_while("layers.method", {"auto", "retina"}),
        numbers("contrast", &R::contrast, 0, 10, "", effect,
                "retina: min difference of ln(brightness) across a boundary for a valid position; one value: built-in "
                "table")
            .only_while("layers.method", {"auto", "retina"}),
        number("foot", &R::foot, 0.1, 100, "nepers", effect,
               "surface: threshold of the tissue edge above the noise; large values: 0.45 of the tissue level")
            .only_while("layers.method", {"auto", "surface"}),
    };
    return fields.list();
}

namespace {

// Section [about] of a preset.
struct About {
    std::string text;
};

std::vector<std::string> words_of(const std::string& text) {
    std::istringstream stream(text);
    std::vector<std::string> words;
    for (std::string word; stream >> word;) words.push_back(word);
    return words;
}

// Returns the boundaries' names, or numbers if there are none. Throws for duplicate names.
std::vector<std::string> names_of(const LayerRecipe& recipe) {
    std::vector<std::string> names = words_of(recipe.names);
    if (names.empty()) {
        for (std::int64_t i = 1; i <= recipe.count; ++i) names.push_back(std::to_string(i));
    }
    if (std::set(names.begin(), names.end()).size() < names.size()) {
        throw Error(ErrorCode::bad_setting, "a name is given twice", "layers.names", "name each boundary once");
    }
    return names;
}

// Returns the number of a boundary from a list with one number for all or one for each.
double number_of(const std::vector<double>& list, std::size_t index) {
    return list.size() == 1 ? list.front() : list.at(index);
}

void check_length(const std::vector<double>& list, std::size_t count, const char* key) {
    if (list.size() == 1 || list.size() == count) return;
    throw Error(ErrorCode::bad_setting,
                fmt::format("has {} for {}", plural(list.size(), "numbers"), plural(count, "boundaries")), key,
                "specify one for all, or one for each");
}

bool has_distances(const LayerRecipe& recipe) {
    const auto is_given = [](double um) { return um > 0; };
    return std::ranges::any_of(recipe.min_um, is_given) || std::ranges::any_of(recipe.max_um, is_given);
}

}  // namespace

template <>
const std::vector<Field<About>>& describe<About>() {
    static const std::vector<Field<About>> fields{text("text", &About::text, Effect::file, "one-line description")};
    return fields;
}

std::vector<BoundaryOptions> boundary_options(const LayerRecipe& recipe, double row_um) {
    const std::vector<std::string> names = names_of(recipe);
    check_length(recipe.polarity, names.size(), "layers.polarity");
    check_length(recipe.min_um, names.size(), "layers.min_um");
    check_length(recipe.max_um, names.size(), "layers.max_um");
    check_length(recipe.smoothness, names.size(), "layers.smoothness");
    check_length(recipe.vessel_um, names.size(), "layers.vessel_um");
    if (recipe.row_um > 0) row_um = recipe.row_um;
    if (row_um <= 0 && has_distances(recipe)) {
        throw Error(ErrorCode::bad_setting, "are in micrometres, but the depth pitch of the volume is unknown",
                    "layers.min_um, layers.max_um", "set the depth pitch by layers.row_um");
    }
    const double rows_per_um = row_um > 0 ? 1 / row_um : 0;
    std::vector<BoundaryOptions> wanted;
    for (std::size_t i = 0; i < names.size(); ++i) {
        const double min_um = number_of(recipe.min_um, i), max_um = number_of(recipe.max_um, i);
        if (max_um > 0 && min_um > max_um) {
            throw Error(ErrorCode::bad_setting,
                        fmt::format("boundary {} must be at least {:g} um and at most {:g} um below the one above",
                                    names[i], min_um, max_um),
                        "layers.min_um, layers.max_um", "put the smaller distance first");
        }
        wanted.push_back({names[i], static_cast<int>(std::lround(number_of(recipe.polarity, i))), min_um * rows_per_um,
                          max_um * rows_per_um, number_of(recipe.smoothness, i), number_of(recipe.vessel_um, i)});
    }
    return wanted;
}

const char* word_for(SearchMethod method) {
    switch (method) {
        case SearchMethod::automatic: return "auto";
        case SearchMethod::likelihood: return "likelihood";
        case SearchMethod::retina: return "retina";
        case SearchMethod::surface: return "surface";
        case SearchMethod::lumen: return "lumen";
    }
    return "";
}

LayerPreset layer_preset_of(const Asset& asset) {
    LayerPreset preset;
    About about;
    LayerRecipe recipe;
    Settings settings;
    settings.bind("about", about);
    settings.bind("layers", recipe);
    const std::vector<TomlEntry> entries = toml_entries_of(layer_files, asset);
    settings.take(entries);
    preset.text = about.text;
    for (const TomlEntry& entry : entries) {
        if (section_of(entry.name) == "layers") preset.assignments.push_back(assignment_of(entry.name, entry.value));
    }
    return preset;
}

LayerPreset layer_preset_named(std::string_view name) {
    if (name.ends_with(layer_files.ending)) {
        const std::filesystem::path file(name);
        return layer_preset_of({file.stem().string(), false, file});
    }
    const std::vector<Asset> presets = assets_of(layer_files);
    std::vector<std::string_view> names;
    std::string list;
    for (const Asset& asset : presets) {
        if (asset.name == name) return layer_preset_of(asset);
        names.push_back(asset.name);
        list += (list.empty() ? "" : ", ") + asset.name;
    }
    const std::string near = nearest_name(name, names);
    throw Error(ErrorCode::bad_setting, "there are no layers named '" + std::string(name) + "'", "preset",
                near.empty() ? "choose one of " + list : "did you mean \"" + near + "\"?");
}

double share_of(const Surfaces& surfaces, Reason reason) {
    std::int64_t count = 0;
    for (const Surface& surface : surfaces.all) count += std::ranges::count(surface.reasons, reason);
    const auto places = static_cast<double>(surfaces.lines()) * static_cast<double>(surfaces.all.size());
    return places > 0 ? static_cast<double>(count) / places : 0;
}

double share_found(const Surfaces& surfaces) {
    return share_of(surfaces, Reason::ok) + share_of(surfaces, Reason::ambiguous);
}

std::size_t index_of(const Surfaces& surfaces, const std::string& name) {
    std::vector<std::string_view> names;
    std::string list;
    for (std::size_t i = 0; i < surfaces.all.size(); ++i) {
        if (surfaces.all[i].name == name) return i;
        names.push_back(surfaces.all[i].name);
        list += (list.empty() ? "" : ", ") + surfaces.all[i].name;
    }
    const std::string near = nearest_name(name, names);
    throw Error(ErrorCode::bad_setting, "there is no surface '" + name + "'", "surface",
                near.empty() ? "choose one of " + list : "did you mean \"" + near + "\"?");
}

void sort_surfaces(Surfaces& surfaces) {
    std::vector<float> deepest(index(surfaces.lines()), std::numeric_limits<float>::quiet_NaN());
    for (Surface& surface : surfaces.all) {
        for (std::size_t i = 0; i < surface.rows.size(); ++i) {
            float& row = surface.rows[i];
            if (row < deepest[i]) {
                row = deepest[i];
                ++surfaces.moved;
            }
            if (!std::isnan(row)) deepest[i] = row;
        }
    }
}

DepthScale::DepthScale(const VolumeGrid& grid)
    : is_known_(grid.spacing_um[0] > 0), first_(is_known_ ? grid.first_depth_um : 0),
      row_(is_known_ ? grid.spacing_um[0] : 1) {}

std::vector<std::uint8_t> ambiguous_between(const Surfaces& surfaces, std::size_t upper, std::size_t lower) {
    std::vector<std::uint8_t> ambiguous(index(surfaces.lines()));
    for (const std::size_t surface : {upper, lower}) {
        const std::vector<Reason>& reasons = surfaces.all.at(surface).reasons;
        for (std::size_t i = 0; i < std::min(reasons.size(), ambiguous.size()); ++i)
            ambiguous[i] |= reasons[i] == Reason::ambiguous;
    }
    return ambiguous;
}

std::vector<float> thickness_between(const Surfaces& surfaces, std::size_t upper, std::size_t lower,
                                     const VolumeGrid& grid) {
    const DepthScale scale(grid);
    const std::vector<float>&above = surfaces.all[upper].rows, &below = surfaces.all[lower].rows;
    std::vector<float> thickness(above.size());
    for (std::size_t i = 0; i < above.size(); ++i)
        thickness[i] = static_cast<float>(scale.thickness(below[i] - above[i]));
    return thickness;
}

namespace {

// Range of rows available to a surface in an A-scan: between the nearest surfaces above and below.
struct RoomInLine {
    float low, high;
};

RoomInLine room_in(const Surfaces& surfaces, std::size_t surface, std::size_t line, std::int64_t depth) {
    RoomInLine room{0, static_cast<float>(depth - 1)};
    for (std::size_t k = 0; k < surfaces.all.size(); ++k) {
        const float row = surfaces.all[k].rows[line];
        if (k == surface || !std::isfinite(row)) continue;
        if (k < surface)
            room.low = std::max(room.low, row);
        else
            room.high = std::min(room.high, row);
    }
    return room;
}

}  // namespace

double drag_share(std::int64_t distance, std::int64_t reach) {
    const std::int64_t away = std::abs(distance);
    if (away > reach) return 0;
    return 0.5 + 0.5 * std::cos(std::numbers::pi * static_cast<double>(away) / static_cast<double>(reach + 1));
}

std::vector<SurfaceEdit> dragged(const Surfaces& surfaces, std::size_t surface, std::int64_t a_scan,
                                 std::int64_t b_scan, float row, std::int64_t depth, const DragReach& reach) {
    const bool is_inside = surface < surfaces.all.size() && a_scan >= 0 && a_scan < surfaces.a_scans && b_scan >= 0 &&
                           b_scan < surfaces.b_scans;
    if (!is_inside) throw Error(ErrorCode::bad_setting, "this position is outside the surface", "layers");
    const Surface& moved = surfaces.all[surface];
    const float before = moved.rows[index(b_scan * surfaces.a_scans + a_scan)];
    std::vector<SurfaceEdit> edits;
    if (!std::isfinite(before) || !std::isfinite(row)) return edits;
    const double by = static_cast<double>(row) - static_cast<double>(before);
    const std::int64_t first_b = std::max<std::int64_t>(0, b_scan - reach.b_scans);
    const std::int64_t last_b = std::min(surfaces.b_scans - 1, b_scan + reach.b_scans);
    const std::int64_t first_a = std::max<std::int64_t>(0, a_scan - reach.a_scans);
    const std::int64_t last_a = std::min(surfaces.a_scans - 1, a_scan + reach.a_scans);
    for (std::int64_t b = first_b; b <= last_b; ++b) {
        for (std::int64_t a = first_a; a <= last_a; ++a) {
            const auto line = index(b * surfaces.a_scans + a);
            if (!std::isfinite(moved.rows[line])) continue;
            const double share = drag_share(b - b_scan, reach.b_scans) * drag_share(a - a_scan, reach.a_scans);
            const RoomInLine room = room_in(surfaces, surface, line, depth);
            const auto wanted = static_cast<float>(static_cast<double>(moved.rows[line]) + share * by);
            const float now = std::max(room.low, std::min(room.high, wanted));
            if (now != moved.rows[line])
                edits.push_back({line, moved.rows[line], now, moved.quality[line], moved.reasons[line]});
        }
    }
    return edits;
}

void apply(Surfaces& surfaces, std::size_t surface, const std::vector<SurfaceEdit>& edits) {
    Surface& moved = surfaces.all.at(surface);
    for (const SurfaceEdit& edit : edits) {
        moved.rows[edit.line] = edit.row;
        moved.quality[edit.line] = 0;
        moved.reasons[edit.line] = Reason::ok;
    }
}

void take_back(Surfaces& surfaces, std::size_t surface, const std::vector<SurfaceEdit>& edits) {
    Surface& moved = surfaces.all.at(surface);
    for (const SurfaceEdit& edit : edits) {
        moved.rows[edit.line] = edit.row_before;
        moved.quality[edit.line] = edit.quality_before;
        moved.reasons[edit.line] = edit.reason_before;
    }
}

constexpr const char* names_key = "surfaces";
constexpr std::string_view heading = "b_scan,a_scan,surface,depth_";
constexpr float none = std::numeric_limits<float>::quiet_NaN();

std::vector<std::string> surface_names(const Volume& volume) {
    std::vector<std::string> names;
    if (const auto text = volume.provenance.find(names_key); text != volume.provenance.end()) {
        std::istringstream stream(text->second);
        for (std::string name; stream >> name;) names.push_back(name);
    }
    if (std::ssize(names) == volume.grid.b_scans) return names;
    names.clear();
    for (std::int64_t i = 1; i <= volume.grid.b_scans; ++i) names.push_back(std::to_string(i));
    return names;
}

// Returns whether depths are in rows. Throws if they are in um and the volume's spacing is unknown.
static bool is_in_rows(const VolumeGrid& maps, const DepthScale& scale, const std::string& name) {
    if (maps.unit == "um" && !scale.is_known()) {
        throw Error(ErrorCode::bad_file, "holds depths in um, but the depth pitch of the volume is unknown", name,
                    "set the spacing of the volume, or use surfaces in rows");
    }
    return maps.unit == "rows";
}

// The fastest axis in memory is the rows of a slice, which are B-scans.
Volume volume_of(const Surfaces& surfaces, const Volume& volume) {
    const VolumeGrid& grid = volume.grid;
    const DepthScale scale(grid);
    Volume maps;
    maps.provenance = volume.provenance;
    maps.grid.depth = surfaces.b_scans;
    maps.grid.a_scans = surfaces.a_scans;
    maps.grid.b_scans = std::ssize(surfaces.all);
    maps.grid.spacing_um = {grid.spacing_um[2], grid.spacing_um[1], 0};
    maps.grid.unit = scale.unit();
    maps.grid.quantity = "depth";
    maps.voxels.resize(index(maps.grid.bytes()));
    auto* depths = reinterpret_cast<float*>(maps.voxels.data());
    std::string names;
    for (const Surface& surface : surfaces.all) {
        names += (names.empty() ? "" : " ") + surface.name;
        for (std::int64_t a = 0; a < surfaces.a_scans; ++a) {
            for (std::int64_t b = 0; b < surfaces.b_scans; ++b) {
                const float row = surface.rows[index(b * surfaces.a_scans + a)];
                *depths++ = static_cast<float>(scale.depth(row));
            }
        }
    }
    maps.provenance[names_key] = names;
    return maps;
}

std::string csv_of(const Surfaces& surfaces, const VolumeGrid& grid) {
    const DepthScale scale(grid);
    std::string text(heading);
    text += scale.is_known() ? "um" : "row";
    text += ",quality,reason\n";
    for (std::int64_t b = 0; b < surfaces.b_scans; ++b) {
        for (std::int64_t a = 0; a < surfaces.a_scans; ++a) {
            const auto i = index(b * surfaces.a_scans + a);
            for (const Surface& surface : surfaces.all) {
                const float row = surface.rows[i];
                const std::string depth = std::isnan(row) ? "" : fmt::format("{:.3f}", scale.depth(row));
                fmt::format_to(std::back_inserter(text), "{},{},{},{},{:.2f},{}\n", b, a, surface.name, depth,
                               surface.quality[i], name_of(surface.reasons[i]));
            }
        }
    }
    return text;
}

bool is_own_surface_table(const std::filesystem::path& path) {
    return begins_with(path, heading);
}

Surfaces read_surfaces(const std::filesystem::path& path, const VolumeGrid& grid) {
    return surfaces_of(read_volume(path), grid, path.string());
}

Surfaces surfaces_of(const Volume& maps, const VolumeGrid& grid, const std::string& name) {
    if (maps.grid.a_scans != grid.a_scans || maps.grid.depth != grid.b_scans ||
        maps.grid.type == VoxelType::complex64) {
        throw Error(
            ErrorCode::bad_file,
            fmt::format("holds {} of {} x {}, the volume has {} x {} A-scans", plural(maps.grid.b_scans, "surfaces"),
                        maps.grid.a_scans, maps.grid.depth, grid.a_scans, grid.b_scans),
            name, "use the surfaces of this volume");
    }
    const DepthScale scale(grid);
    const bool in_rows = is_in_rows(maps.grid, scale, name);
    Surfaces surfaces{grid.a_scans, grid.b_scans, {}, 0};
    with_voxels(maps, [&](const auto* codes) {
        for (const std::string& surface_name : surface_names(maps)) {
            const auto lines = index(surfaces.lines());
            Surface surface{surface_name, std::vector<float>(lines, none), std::vector<float>(lines),
                            std::vector<Reason>(lines, Reason::no_signal)};
            for (std::int64_t a = 0; a < grid.a_scans; ++a) {
                for (std::int64_t b = 0; b < grid.b_scans; ++b) {
                    const double depth = static_cast<double>(*codes++) * maps.grid.scale + maps.grid.offset;
                    if (!std::isfinite(depth)) continue;
                    const auto i = index(b * grid.a_scans + a);
                    surface.rows[i] = static_cast<float>(in_rows ? depth : scale.row(depth));
                    surface.reasons[i] = Reason::ok;
                }
            }
            surfaces.all.push_back(std::move(surface));
        }
    });
    sort_surfaces(surfaces);
    return surfaces;
}

// Throws for complex voxels.
static void require_real(const VolumeGrid& grid) {
    if (grid.type != VoxelType::complex64) return;
    throw Error(ErrorCode::bad_setting, "complex voxels have no value to show", "recipe.quantity",
                "reconstruct db, intensity or amplitude");
}

// Projects some rows of an A-scan to one value.
template <class Code>
static float projected(const Code* codes, std::int64_t count, const VolumeGrid& grid, SlabValue shown) {
    const bool is_db = grid.quantity == "db";
    const double least = -std::numeric_limits<double>::infinity();
    std::array<double, 3> top{least, least, least};  // in descending order
    double sum = 0;
    std::size_t known = 0;
    for (std::int64_t z = 0; z < count; ++z) {
        double value = static_cast<double>(codes[z]) * grid.scale + grid.offset;
        if (std::isnan(value)) continue;
        sum += is_db ? std::pow(10.0, value / 10) : value;
        ++known;
        for (double& place : top) {
            if (value > place) std::swap(value, place);
        }
    }
    if (known == 0) return none;
    if (shown == SlabValue::max) return static_cast<float>(top[0]);
    if (shown == SlabValue::top3) {
        known = std::min(known, top.size());
        sum = 0;
        for (std::size_t i = 0; i < known; ++i) sum += is_db ? std::pow(10.0, top[i] / 10) : top[i];
    }
    const double mean = sum / static_cast<double>(known);
    return static_cast<float>(is_db ? 10 * std::log10(mean) : mean);
}

// Returns the Catmull-Rom weights of four neighbours for a position `t` between the second and the third.
static std::array<double, 4> cubic_weights(double t) {
    return {0.5 * t * (-1 + t * (2 - t)), 1 + 0.5 * t * t * (-5 + 3 * t), 0.5 * t * (1 + t * (4 - 3 * t)),
            0.5 * t * t * (t - 1)};
}

template <class Code>
static Code code_of(double value) {
    if constexpr (std::is_integral_v<Code>) {
        using Limits = std::numeric_limits<Code>;
        return static_cast<Code>(std::lround(std::clamp<double>(value, Limits::min(), Limits::max())));
    } else {
        return static_cast<Code>(value);
    }
}

// Shifts an A-scan up by `by` rows. `copy` is a buffer.
template <class Code>
static void move_up(Code* a_scan, std::int64_t depth, double by, std::vector<double>& copy) {
    copy.assign(a_scan, a_scan + depth);
    const double whole = std::floor(by);
    const std::array<double, 4> weights = cubic_weights(by - whole);
    const auto first = static_cast<std::int64_t>(whole) - 1;
    for (std::int64_t z = 0; z < depth; ++z) {
        double value = 0;
        for (std::int64_t i = 0; i < 4; ++i) {
            const std::int64_t from = std::clamp<std::int64_t>(z + first + i, 0, depth - 1);
            value += weights[index(i)] * copy[index(from)];
        }
        a_scan[z] = code_of<Code>(value);
    }
}

template <class Code>
static Code empty_code() {
    if constexpr (std::is_integral_v<Code>) return std::numeric_limits<Code>::min();
    return std::numeric_limits<Code>::quiet_NaN();
}

std::optional<RowRange> rows_between(const Surfaces& surfaces, const SlabSpec& slab, const VolumeGrid& grid,
                                     std::size_t line) {
    const double row_um = DepthScale(grid).thickness(1);
    const float upper = surfaces.all.at(slab.upper).rows[line], lower = surfaces.all.at(slab.lower).rows[line];
    if (std::isnan(upper) || std::isnan(lower)) return std::nullopt;
    const auto row = [&](float surface, double below_um) {
        const double at = std::ceil(static_cast<double>(surface) + below_um / row_um);
        return static_cast<std::int64_t>(std::clamp(at, 0.0, static_cast<double>(grid.depth)));
    };
    const RowRange rows{row(upper, slab.below_upper_um), row(lower, slab.below_lower_um)};
    return rows.begin < rows.end ? std::optional(rows) : std::nullopt;
}

std::vector<float> en_face_between(const Volume& volume, const Surfaces& surfaces, const SlabSpec& slab) {
    const VolumeGrid& grid = volume.grid;
    require_real(grid);
    std::vector<float> map(surfaces.all.at(slab.upper).rows.size(), none);
    with_voxels(volume, [&](const auto* codes) {
        parallel_for(0, std::ssize(map), [&](std::int64_t line) {
            const auto rows = rows_between(surfaces, slab, grid, index(line));
            if (!rows) return;
            map[index(line)] =
                projected(codes + line * grid.depth + rows->begin, rows->end - rows->begin, grid, slab.value);
        });
    });
    return map;
}

Volume volume_of_map(const std::vector<float>& map, const Volume& volume, const char* quantity, const char* unit) {
    const VolumeGrid& grid = volume.grid;
    Volume picture;
    picture.provenance = volume.provenance;
    picture.grid.depth = grid.b_scans;
    picture.grid.a_scans = grid.a_scans;
    picture.grid.b_scans = 1;
    picture.grid.spacing_um = {grid.spacing_um[2], grid.spacing_um[1], 0};
    picture.grid.quantity = quantity;
    picture.grid.unit = unit;
    picture.voxels.resize(index(picture.grid.bytes()));
    auto* values = reinterpret_cast<float*>(picture.voxels.data());
    for (std::int64_t a = 0; a < grid.a_scans; ++a) {
        for (std::int64_t b = 0; b < grid.b_scans; ++b) {
            *values++ = map[index(b * grid.a_scans + a)];
        }
    }
    return picture;
}

double flat_row_of(const Surface& surface) {
    double sum = 0;
    std::int64_t count = 0;
    for (const float row : surface.rows) {
        if (std::isnan(row)) continue;
        sum += static_cast<double>(row);
        ++count;
    }
    return count > 0 ? std::round(sum / static_cast<double>(count)) : 0;
}

void flatten_to(Volume& volume, const Surface& surface, bool back) {
    const VolumeGrid& grid = volume.grid;
    require_real(grid);
    const double level = flat_row_of(surface);
    with_voxels(volume, [&](const auto* voxels) {
        using Code = std::remove_cv_t<std::remove_pointer_t<decltype(voxels)>>;
        auto* codes = reinterpret_cast<Code*>(volume.voxels.data());
        parallel_for(0, grid.b_scans, [&](std::int64_t b) {
            std::vector<double> copy;
            for (std::int64_t line = b * grid.a_scans; line < (b + 1) * grid.a_scans; ++line) {
                const float row = surface.rows[index(line)];
                Code* a_scan = codes + line * grid.depth;
                if (std::isnan(row)) {
                    std::fill_n(a_scan, grid.depth, empty_code<Code>());
                    continue;
                }
                const double up = static_cast<double>(row) - level;
                move_up(a_scan, grid.depth, back ? -up : up, copy);
            }
        });
    });
}

LayerBounds bounds_of(const Surfaces& surfaces, const BoundNames& names) {
    return {names.upper.empty() ? 0 : index_of(surfaces, names.upper),
            names.lower.empty() ? surfaces.all.size() - 1 : index_of(surfaces, names.lower)};
}

void require_order(const Surfaces& surfaces, const LayerBounds& layer, bool is_shifted) {
    if (layer.first < layer.second || is_shifted) return;
    throw Error(ErrorCode::bad_setting,
                fmt::format("{} is not below {}", surfaces.all[layer.second].name, surfaces.all[layer.first].name),
                "between",
                "name the upper surface first, or one surface twice with `below_upper_um` less than `below_lower_um`");
}

std::vector<LayerBounds> layers_between(const Surfaces& surfaces, const BoundNames& names) {
    std::vector<LayerBounds> layers;
    if (!names.upper.empty() || !names.lower.empty() || surfaces.all.size() < 2) {
        layers.push_back(bounds_of(surfaces, names));
        require_order(surfaces, layers.front());
        return layers;
    }
    for (std::size_t k = 0; k + 1 < surfaces.all.size(); ++k) layers.emplace_back(k, k + 1);
    return layers;
}

std::string name_of_layer(const Surfaces& surfaces, const LayerBounds& layer) {
    return surfaces.all[layer.first].name + " to " + surfaces.all[layer.second].name;
}

Volume thickness_maps(const Volume& volume, const Surfaces& surfaces, const std::vector<LayerBounds>& layers) {
    Volume all;
    std::string names;
    for (const LayerBounds& layer : layers) {
        const std::vector<float> map = thickness_between(surfaces, layer.first, layer.second, volume.grid);
        Volume one = volume_of_map(map, volume, "thickness", DepthScale(volume.grid).unit());
        if (names.empty())
            all = std::move(one);
        else
            all.voxels.insert(all.voxels.end(), one.voxels.begin(), one.voxels.end());
        names += (names.empty() ? "" : ", ") + name_of_layer(surfaces, layer);
    }
    all.grid.b_scans = std::ssize(layers);
    all.provenance["layers_shown"] = names;
    return all;
}

Volume flattened(Volume volume, const Surfaces& surfaces, const std::string& level, bool back) {
    const Surface& surface = surfaces.all[level.empty() ? 0 : index_of(surfaces, level)];
    flatten_to(volume, surface, back);
    volume.provenance[back ? "unflattened_from" : "flattened_to"] =
        fmt::format("{}, row {:g}", surface.name, flat_row_of(surface));
    return volume;
}

}  // namespace echolux
