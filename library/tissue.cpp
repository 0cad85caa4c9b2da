// Analyses of tissue: speckle filters, averaging of several looks, attenuation, layers, registration, flow through a
// vessel, and the settings of all of them.
#include <cmath>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "app/jobs/attenuation_job.h"
#include "app/jobs/filter_job.h"
#include "app/jobs/flow_job.h"
#include "app/jobs/register_job.h"
#include "app/jobs/segment_job.h"
#include "compute/indexing.h"
#include "engine/analysis/intensity.h"
#include "engine/attenuation/attenuation.h"
#include "engine/flow/cross_section.h"
#include "engine/flow/time_series.h"
#include "engine/layers/layers.h"
#include "engine/registration/registration.h"
#include "engine/speckle/speckle_filter.h"
#include "library/call.h"

using namespace echolux;
using namespace echolux::library;

// ---- Settings

namespace echolux::library {

// A copy of all settings, so that the handle may change while a call runs.
struct TissueRecipes {
    SpeckleFilter filter;
    LayerRecipe layers;
    RegistrationSettings registration;
    AttenuationRecipe attenuation;
    CrossSectionRecipe cross_section;
};

}  // namespace echolux::library

struct echolux_tissue : Handle<Kind::tissue> {
    echolux_tissue(const std::string& layers, const std::vector<std::string>& assignments);

    TissueRecipes recipes;
    echolux_settings settings;
};

namespace {

constexpr const char* default_layers = "retina";  // default of `echolux segment`

std::string layers_argument(const char* layers) {
    return layers == nullptr ? default_layers : layers;
}

void add_warnings(echolux_volume& volume, const std::vector<std::string>& warnings) {
    volume.warnings.insert(volume.warnings.end(), warnings.begin(), warnings.end());
}

// NULL gives the settings that echolux_tissue_create(NULL, NULL, 0) would have. Throws BadArgument.
TissueRecipes recipes_of(const echolux_tissue* tissue) {
    if (tissue != nullptr) return checked_handle(tissue, "tissue").recipes;
    return echolux_tissue(default_layers, {}).recipes;
}

// Throws BadArgument if there are none or one of them is NULL.
std::vector<const echolux_volume*> volumes_argument(const echolux_volume* const* volumes, std::size_t count,
                                                    const char* name) {
    if (count == 0) throw BadArgument("are none", name, "give at least one volume");
    required(volumes, name);
    std::vector<const echolux_volume*> all;
    for (std::size_t i = 0; i < count; ++i) all.push_back(&checked_handle(volumes[i], name));
    return all;
}

// Copies to an array of the caller unless it is NULL.
template <class T, class From>
void copy_to(T* to, const From& from) {
    if (to != nullptr) std::ranges::copy(from, to);
}

// Throws BadArgument if the caller's arrays have a different length.
void require_count(std::int64_t given, std::size_t wanted) {
    if (given == static_cast<std::int64_t>(wanted)) return;
    throw BadArgument("is not the length of the arrays", "count", "give it " + std::to_string(wanted));
}

}  // namespace

// The layer preset is applied first, so that assignments override it.
echolux_tissue::echolux_tissue(const std::string& layers, const std::vector<std::string>& assignments) {
    Settings& all = settings.settings;
    all.bind("filter", recipes.filter);
    all.bind("layers", recipes.layers);
    all.bind("registration", recipes.registration);
    all.bind("attenuation", recipes.attenuation);
    all.bind("cross_section", recipes.cross_section);
    // A rejected value restores all sections.
    settings.change = [this](const std::string&, const std::function<void()>& set) {
        const TissueRecipes before = recipes;
        try {
            set();
        } catch (...) {
            recipes = before;
            throw;
        }
    };
    settings.finish();
    for (const std::string& assignment : layer_preset_named(layers).assignments) all.set_assignment(assignment);
    for (const std::string& assignment : assignments) all.set_assignment(assignment);
}

// ---- Speckle and attenuation

echolux_status echolux_tissue_create(const char* layers, const char* const* assignments, size_t count,
                                     echolux_tissue** tissue, echolux_error* error) {
    return guarded(error, [&] {
        required(tissue, "tissue") = nullptr;
        *tissue = new echolux_tissue(layers_argument(layers), texts_argument(assignments, count, "assignments"));
    });
}

echolux_status echolux_tissue_free(echolux_tissue* tissue) {
    return free_handle(tissue);
}

echolux_status echolux_tissue_settings(echolux_tissue* tissue, echolux_settings** settings, echolux_error* error) {
    return guarded(error, [&] { required(settings, "settings") = &checked_handle(tissue, "tissue").settings; });
}

echolux_status echolux_filter(const echolux_volume* volume, const echolux_tissue* tissue, const echolux_device* device,
                              echolux_progress progress, void* user, echolux_volume** filtered, echolux_error* error) {
    return guarded(error, [&] {
        required(filtered, "filtered") = nullptr;
        const echolux_volume& from = checked_handle(volume, "volume");
        CallerProgress progress_shown(progress, user);
        FilteredVolume made =
            filtered_volume(*from.volume, recipes_of(tissue).filter, backend_of(device), progress_shown);
        *filtered = derived_volume(from, std::move(made.volume));
        add_warnings(**filtered, made.warnings);
    });
}

echolux_status echolux_average(const echolux_volume* const* volumes, size_t count, const echolux_tissue* tissue,
                               echolux_volume** mean, double* independent, echolux_error* error) {
    return guarded(error, [&] {
        required(mean, "mean") = nullptr;
        const SpeckleFilter filter = recipes_of(tissue).filter;
        check_filter(filter);
        const auto all = volumes_argument(volumes, count, "volumes");
        Compound looks;
        for (const echolux_volume* one : all) looks.add(*one->volume, filter.stored_as);
        *mean = derived_volume(*all.front(), mean_of(looks, filter));
        if (independent != nullptr) *independent = looks.effective_looks(filter.looks);
    });
}

echolux_status echolux_attenuation(const echolux_volume* volume, const echolux_tissue* tissue,
                                   echolux_progress progress, void* user, echolux_volume** coefficients,
                                   echolux_attenuation_stats* stats, echolux_error* error) {
    return guarded(error, [&] {
        required(coefficients, "coefficients") = nullptr;
        if (stats != nullptr) require_size(*stats, "stats");
        const echolux_volume& from = checked_handle(volume, "volume");
        CallerProgress progress_shown(progress, user);
        AttenuatedVolume made =
            attenuated_volume(*from.volume, recipes_of(tissue).attenuation, "volume", progress_shown);
        *coefficients = derived_volume(from, std::move(made.volume));
        add_warnings(**coefficients, made.warnings);
        if (stats == nullptr) return;
        echolux_attenuation_stats out{};
        out.known = made.stats.known;
        out.no_tail = made.stats.no_tail;
        out.noise_floor_db = made.stats.noise_floor_db;
        copy_out(stats, out, "stats");
    });
}

// ---- Surfaces between layers, and volumes derived from them.

// A handle of surfaces, with what is needed to write and convert them later.
struct echolux_surfaces : Handle<Kind::surfaces> {
    Surfaces surfaces;
    SurfaceOrigin origin;
    Volume about;  // the segmented volume, without its voxels
    std::vector<std::string> warnings;

    std::size_t places() const { return surfaces.all.size() * index(surfaces.lines()); }
    Volume with_provenance(Volume made) const { return with_origin(std::move(made), origin); }
};

namespace {

// Returns empty surfaces with the grid and provenance of `volume`.
std::unique_ptr<echolux_surfaces> lying_in(const Volume& volume) {
    auto made = std::make_unique<echolux_surfaces>();
    made->about.grid = volume.grid;
    made->about.provenance = volume.provenance;
    return made;
}

std::string optional_text(const char* text) {
    return text == nullptr ? "" : text;
}

// The volume must have the size and depths of the segmented one.
const echolux_volume& volume_of_size(const echolux_volume* volume, const echolux_surfaces& surfaces) {
    const echolux_volume& one = checked_handle(volume, "volume");
    const VolumeGrid &theirs = one.volume->grid, &ours = surfaces.about.grid;
    if (theirs.depth == ours.depth && theirs.a_scans == ours.a_scans && theirs.b_scans == ours.b_scans &&
        theirs.spacing_um[0] == ours.spacing_um[0] && theirs.first_depth_um == ours.first_depth_um) {
        return one;
    }
    throw BadArgument("differs in size or depths from the one in which the surfaces lie", "volume",
                      "give a volume of the same reconstruction");
}

SlabNames slab_of(const echolux_slab& given) {
    if (given.value < ECHOLUX_SLAB_MEAN || given.value > ECHOLUX_SLAB_TOP3)
        throw BadArgument("is not a value of a slab", "value", "ECHOLUX_SLAB_MEAN, _MAX or _TOP3");
    for (const double um : {given.below_upper_um, given.below_lower_um}) {
        if (!std::isfinite(um)) throw BadArgument("is not a length", "below_upper_um, below_lower_um");
    }
    return {optional_text(given.upper), optional_text(given.lower), given.below_upper_um, given.below_lower_um,
            static_cast<SlabValue>(given.value)};
}

// Writes the arrays `of(surface)` of all surfaces one after another.
template <class T, class Of>
void copy_positions_out(T* to, const Surfaces& surfaces, const Of& of) {
    for (const Surface& surface : surfaces.all) {
        copy_to(to, of(surface));
        if (to != nullptr) to += surfaces.lines();
    }
}

std::vector<float> depths_of(const Surface& surface, const DepthScale& scale) {
    std::vector<float> depths;
    for (const float row : surface.rows) depths.push_back(static_cast<float>(scale.depth(row)));
    return depths;
}

}  // namespace

echolux_status echolux_segment(const echolux_volume* volume, const echolux_tissue* tissue, const echolux_device* device,
                               echolux_progress progress, void* user, echolux_surfaces** surfaces,
                               echolux_error* error) {
    return guarded(error, [&] {
        required(surfaces, "surfaces") = nullptr;
        const Volume& from = *checked_handle(volume, "volume").volume;
        auto made = lying_in(from);
        made->origin.recipe = recipes_of(tissue).layers;
        CallerProgress progress_shown(progress, user);
        SurfaceResult found = surfaces_in(from, made->origin.recipe, backend_of(device), "volume", progress_shown);
        made->surfaces = std::move(found.surfaces);
        made->warnings = std::move(found.warnings);
        for (const std::string& warning : warnings_of(made->surfaces)) made->warnings.push_back(warning);
        *surfaces = made.release();
    });
}

echolux_status echolux_surfaces_open(const char* path, const echolux_volume* volume, echolux_surfaces** surfaces,
                                     echolux_error* error) {
    return guarded(error, [&] {
        required(surfaces, "surfaces") = nullptr;
        const std::filesystem::path file = text_argument(path, "path");
        // The file must have been made for a volume of this size.
        auto made = lying_in(*checked_handle(volume, "volume").volume);
        made->surfaces = read_surfaces(file, made->about.grid);
        made->origin.file = file.filename().string();
        *surfaces = made.release();
    });
}

echolux_status echolux_surfaces_free(echolux_surfaces* surfaces) {
    return free_handle(surfaces);
}

echolux_status echolux_surfaces_describe(const echolux_surfaces* surfaces, echolux_surfaces_facts* facts,
                                         echolux_error* error) {
    return guarded(error, [&] {
        const echolux_surfaces& one = checked_handle(surfaces, "surfaces");
        echolux_surfaces_facts out{};
        out.count = std::ssize(one.surfaces.all);
        out.b_scans = one.surfaces.b_scans;
        out.a_scans = one.surfaces.a_scans;
        out.moved = one.surfaces.moved;
        out.ambiguous = share_of(one.surfaces, Reason::ambiguous);
        out.weak = share_of(one.surfaces, Reason::weak_match);
        // Ambiguous positions have a depth; all others that are not ok lack one.
        out.missing = std::max(0.0, 1 - share_found(one.surfaces));
        out.is_in_um = DepthScale(one.about.grid).is_known() ? 1 : 0;
        out.was_on_gpu = one.surfaces.searched_on.backend == Backend::cuda ? 1 : 0;
        copy_out(facts, out, "facts");
    });
}

echolux_status echolux_surfaces_name(const echolux_surfaces* surfaces, size_t index, char* buffer, size_t size,
                                     size_t* needed, echolux_error* error) {
    return guarded(error, [&] {
        const Surfaces& all = checked_handle(surfaces, "surfaces").surfaces;
        if (index >= all.all.size()) throw BadArgument("there are fewer surfaces", "index");
        copy_text_out(all.all[index].name, buffer, size, needed);
    });
}

echolux_status echolux_surfaces_read(const echolux_surfaces* surfaces, const echolux_surface_places* places,
                                     echolux_error* error) {
    return guarded(error, [&] {
        const echolux_surfaces& one = checked_handle(surfaces, "surfaces");
        const echolux_surface_places to = copy_in(places, "places");
        require_count(to.count, one.places());
        const DepthScale scale(one.about.grid);
        copy_positions_out(to.depths, one.surfaces, [&](const Surface& surface) { return depths_of(surface, scale); });
        copy_positions_out(to.rows, one.surfaces, [](const Surface& surface) { return surface.rows; });
        copy_positions_out(to.quality, one.surfaces, [](const Surface& surface) { return surface.quality; });
        copy_positions_out(to.reasons, one.surfaces, [](const Surface& surface) {
            std::vector<std::uint8_t> codes;
            for (const Reason reason : surface.reasons) codes.push_back(static_cast<std::uint8_t>(reason));
            return codes;
        });
    });
}

const char* echolux_surface_reason(int32_t reason) {
    if (reason < 0 || reason > static_cast<int32_t>(Reason::too_few)) return nullptr;
    return name_of(static_cast<Reason>(reason));
}

echolux_status echolux_surfaces_warnings(const echolux_surfaces* surfaces, char* buffer, size_t size, size_t* needed,
                                         echolux_error* error) {
    return guarded(
        error, [&] { copy_text_out(lines_of(checked_handle(surfaces, "surfaces").warnings), buffer, size, needed); });
}

echolux_status echolux_surfaces_table(const echolux_surfaces* surfaces, char* buffer, size_t size, size_t* needed,
                                      echolux_error* error) {
    return guarded(error, [&] {
        const echolux_surfaces& one = checked_handle(surfaces, "surfaces");
        copy_text_out(csv_of(one.surfaces, one.about.grid), buffer, size, needed);
    });
}

echolux_status echolux_surfaces_volume(const echolux_surfaces* surfaces, echolux_volume** volume,
                                       echolux_error* error) {
    return guarded(error, [&] {
        required(volume, "volume") = nullptr;
        const echolux_surfaces& one = checked_handle(surfaces, "surfaces");
        *volume = new_volume(one.with_provenance(volume_of(one.surfaces, one.about)));
    });
}

echolux_status echolux_surfaces_thickness(const echolux_surfaces* surfaces, const char* upper, const char* lower,
                                          echolux_volume** maps, echolux_error* error) {
    return guarded(error, [&] {
        required(maps, "maps") = nullptr;
        const echolux_surfaces& one = checked_handle(surfaces, "surfaces");
        const auto layers = layers_between(one.surfaces, optional_text(upper), optional_text(lower));
        *maps = new_volume(one.with_provenance(thickness_maps(one.about, one.surfaces, layers)));
    });
}

echolux_status echolux_surfaces_en_face(const echolux_surfaces* surfaces, const echolux_volume* volume,
                                        const echolux_slab* slab, echolux_volume** map, echolux_error* error) {
    return guarded(error, [&] {
        required(map, "map") = nullptr;
        const echolux_surfaces& one = checked_handle(surfaces, "surfaces");
        const Volume& from = *volume_of_size(volume, one).volume;
        const SlabSpec spec = slab_named(one.surfaces, slab_of(copy_in_or_default(slab, "slab")));
        *map = new_volume(one.with_provenance(en_face_map(from, one.surfaces, spec)));
    });
}

echolux_status echolux_surfaces_flatten(const echolux_surfaces* surfaces, const echolux_volume* volume,
                                        const char* level, int32_t back, echolux_volume** flat, echolux_error* error) {
    return guarded(error, [&] {
        required(flat, "flat") = nullptr;
        const echolux_surfaces& one = checked_handle(surfaces, "surfaces");
        const echolux_volume& from = volume_of_size(volume, one);
        Volume made = flattened(*from.volume, one.surfaces, optional_text(level), back != 0);
        *flat = derived_volume(from, one.with_provenance(std::move(made)));
    });
}

// ---- Registered volumes: the position of each B-scan, the mean of all volumes, and each volume at its registered
// position.

struct echolux_registration : Handle<Kind::registration> {
    RegisteredSeries made;
    RegistrationSettings settings;
    std::vector<std::shared_ptr<const Volume>> volumes;

    // B-scans that run across the others have zero shift and are not part of a volume.
    std::vector<RowShift> rows() const {
        std::vector<RowShift> all;
        for (const auto& of_volume : made.rows) {
            all.insert(all.end(), index(made.summary.crosses), RowShift{.quality = 1});
            all.insert(all.end(), of_volume.begin(), of_volume.end());
        }
        return all;
    }
};

namespace {

VolumesToRegister to_register(const echolux_registration& one, const Volume* reference, std::int64_t number,
                              const BackendChoice& backend) {
    VolumesToRegister all;
    all.count = std::ssize(one.volumes);
    all.read = [&one](std::int64_t i) { return power_of(*one.volumes.at(index(i))); };
    all.crosses = [&one](std::int64_t i) { return crosses_of(one.volumes.at(index(i))->provenance); };
    if (reference != nullptr) all.reference = [reference] { return raster_of(*reference); };
    all.reference_volume = number;
    all.reference_name = "another volume";
    all.backend = backend;
    all.provenance = one.volumes.front()->provenance;
    return all;
}

// NaN for B-scans without a position.
void copy_shifts_out(double* to, const std::vector<RowShift>& rows, double RowShift::*part) {
    if (to == nullptr) return;
    for (const RowShift& row : rows) *to++ = row.is_valid() ? row.*part : std::numeric_limits<double>::quiet_NaN();
}

}  // namespace

echolux_status echolux_register(const echolux_volume* const* volumes, size_t count, const echolux_volume* reference,
                                int64_t reference_volume, const echolux_tissue* tissue, const echolux_device* device,
                                echolux_progress progress, void* user, echolux_registration** registration,
                                echolux_error* error) {
    return guarded(error, [&] {
        required(registration, "registration") = nullptr;
        auto one = std::make_unique<echolux_registration>();
        one->settings = recipes_of(tissue).registration;
        // The handle shares the volumes: results are computed from them on request.
        for (const echolux_volume* volume : volumes_argument(volumes, count, "volumes"))
            one->volumes.push_back(volume->volume);
        const Volume* to = reference == nullptr ? nullptr : checked_handle(reference, "reference").volume.get();
        CallerProgress progress_shown(progress, user);
        one->made =
            registered(to_register(*one, to, reference_volume, backend_of(device)), one->settings, progress_shown);
        *registration = one.release();
    });
}

echolux_status echolux_registration_free(echolux_registration* registration) {
    return free_handle(registration);
}

echolux_status echolux_registration_shifts(const echolux_registration* registration, const echolux_shifts* shifts,
                                           echolux_error* error) {
    return guarded(error, [&] {
        const std::vector<RowShift> rows = checked_handle(registration, "registration").rows();
        const echolux_shifts to = copy_in(shifts, "shifts");
        require_count(to.count, rows.size());
        copy_shifts_out(to.z, rows, &RowShift::z);
        copy_shifts_out(to.x, rows, &RowShift::x);
        copy_shifts_out(to.y, rows, &RowShift::y);
        for (std::size_t i = 0; i < rows.size(); ++i) {
            if (to.quality != nullptr) to.quality[i] = rows[i].quality;
            if (to.reasons != nullptr) to.reasons[i] = static_cast<std::uint8_t>(rows[i].reason);
            if (to.saccades != nullptr) to.saccades[i] = rows[i].is_saccade ? 1 : 0;
        }
    });
}

const char* echolux_shift_reason(int32_t reason) {
    if (reason < 0 || reason > static_cast<int32_t>(RowReason::out_of_range)) return nullptr;
    return name_of(static_cast<RowReason>(reason)).data();  // string literal, so it ends with 0
}

echolux_status echolux_registration_table(const echolux_registration* registration, char* buffer, size_t size,
                                          size_t* needed, echolux_error* error) {
    return guarded(error, [&] {
        const RegisteredSeries& made = checked_handle(registration, "registration").made;
        copy_text_out(csv_of(made.rows, made.grid), buffer, size, needed);
    });
}

echolux_status echolux_registration_mean(const echolux_registration* registration, echolux_volume** mean,
                                         echolux_error* error) {
    return guarded(error, [&] {
        required(mean, "mean") = nullptr;
        *mean = new_volume(*checked_handle(registration, "registration").made.mean);
    });
}

echolux_status echolux_registration_volume(const echolux_registration* registration, int64_t number,
                                           echolux_volume** volume, echolux_error* error) {
    return guarded(error, [&] {
        required(volume, "volume") = nullptr;
        const echolux_registration& one = checked_handle(registration, "registration");
        if (number < 0 || number >= std::ssize(one.volumes)) throw BadArgument("there is no such volume", "number");
        const auto i = index(number);
        *volume = new_volume(placed_volume(without_crosses(power_of(*one.volumes[i]), one.made.summary.crosses),
                                           one.made.rows[i], one.made.grid, one.settings, one.volumes[i]->provenance)
                                 .volume);
    });
}

echolux_status echolux_registration_warnings(const echolux_registration* registration, char* buffer, size_t size,
                                             size_t* needed, echolux_error* error) {
    return guarded(error, [&] {
        copy_text_out(lines_of(checked_handle(registration, "registration").made.summary.warnings), buffer, size,
                      needed);
    });
}

// ---- Flow through a section of a vessel over time.

struct echolux_vessel_flow : Handle<Kind::vessel_flow> {
    explicit echolux_vessel_flow(MeasuredFlow found) : measured(std::move(found)) {}
    const MeasuredFlow measured;
};

namespace {

constexpr double none = std::numeric_limits<double>::quiet_NaN();

// Converts [3] A-scan, B-scan, row; NULL means not given.
std::optional<VoxelPosition> place_argument(const double* place, const char* name) {
    if (place == nullptr) return std::nullopt;
    const std::span<const double> numbers = numbers_argument(place, 3, name);
    return VoxelPosition{numbers[0], numbers[1], numbers[2]};
}

FlowSpec spec_of(const echolux_flow_spec& given, const echolux_tissue* tissue) {
    FlowSpec spec;
    spec.through = place_argument(given.through, "through");
    spec.towards = place_argument(given.towards, "towards");
    if (spec.towards && !spec.through)
        throw BadArgument("needs a point that it leads from", "towards", "give `through` as well");
    spec.each = given.each_b_scan != 0 ? FlowEach::b_scan : FlowEach::volume;
    spec.recipe = recipes_of(tissue).cross_section;
    return spec;
}

// Start times of the volumes; empty if they do not increase.
std::vector<double> times_of(const std::vector<const echolux_volume*>& volumes) {
    std::vector<double> times;
    for (const echolux_volume* volume : volumes) {
        if (!times.empty() && volume->time_s <= times.back()) return {};
        times.push_back(volume->time_s);
    }
    return times.size() > 1 ? times : std::vector<double>();
}

// An explicit `step_s` takes precedence over the times of the volumes.
VelocityVolumes series_of(const std::vector<const echolux_volume*>& volumes, double step_s) {
    if (!std::isfinite(step_s) || step_s < 0) throw BadArgument("is not a time", "step_s", "0: unknown");
    VelocityVolumes series;
    series.grid = volumes.front()->volume->grid;
    series.count = std::ssize(volumes);
    for (const echolux_volume* volume : volumes) {
        require_velocities(volume->volume->grid);
        require_alike(series.grid, volume->volume->grid, "velocities");
    }
    series.read = [volumes](std::int64_t i) { return axial_velocities(*volumes.at(index(i))->volume); };
    series.step_s = step_s;
    if (step_s > 0) return series;
    series.times_s = times_of(volumes);
    if (!series.times_s.empty())
        // The mean interval, in addition to the individual times.
        series.step_s = (series.times_s.back() - series.times_s.front()) / static_cast<double>(series.count - 1);
    return series;
}

// Structure is read as linear intensity only when it is needed.
void add_structures(VelocityVolumes& series, const std::vector<const echolux_volume*>& volumes) {
    for (const echolux_volume* volume : volumes)
        require_structure_of(series, volume->volume->grid, std::ssize(volumes), "structures");
    series.structure = volumes.front()->volume->grid;
    series.power = [volumes](std::int64_t i) { return linear_intensity(*volumes.at(index(i))->volume); };
}

// Writes one value per row of the result. NULL arrays are skipped.
template <class T, class Of>
void copy_values_out(T* to, const std::vector<FlowRow>& rows, const Of& of) {
    if (to == nullptr) return;
    for (const FlowRow& row : rows) *to++ = static_cast<T>(of(row));
}

}  // namespace

echolux_status echolux_flow(const echolux_volume* const* velocities, const echolux_volume* const* structures,
                            size_t count, const echolux_flow_spec* spec, const echolux_tissue* tissue,
                            echolux_progress progress, void* user, echolux_vessel_flow** flow, echolux_error* error) {
    return guarded(error, [&] {
        required(flow, "flow") = nullptr;
        const echolux_flow_spec given = copy_in_or_default(spec, "spec");
        const FlowSpec wanted = spec_of(given, tissue);
        VelocityVolumes series = series_of(volumes_argument(velocities, count, "velocities"), given.step_s);
        if (structures != nullptr) add_structures(series, volumes_argument(structures, count, "structures"));
        CallerProgress progress_shown(progress, user);
        *flow = new echolux_vessel_flow(measured_flow(series, wanted, progress_shown));
    });
}

echolux_status echolux_vessel_flow_free(echolux_vessel_flow* flow) {
    return free_handle(flow);
}

echolux_status echolux_vessel_flow_describe(const echolux_vessel_flow* flow, echolux_flow_facts* facts,
                                            echolux_error* error) {
    return guarded(error, [&] {
        const MeasuredFlow& found = checked_handle(flow, "flow").measured;
        const auto [depth, along, across] = found.course.direction;
        const bool beats = found.heart.is_found();
        echolux_flow_facts out{};
        out.values = std::ssize(found.rows);
        out.flow_ul_s = found.flow_ul_s;
        out.error_ul_s = found.error_ul_s;
        out.en_face_ul_s = found.en_face_ul_s;
        std::ranges::copy(std::array{found.place.a_scan, found.place.b_scan, found.place.row}, out.place);
        std::ranges::copy(std::array{along, across, depth}, out.direction);
        out.angle_deg = 90 - found.course.tilt_deg;
        out.angle_error = found.angle_error;
        out.snr_db = found.snr_db;
        out.heart_hz = beats ? found.heart.hz : none;
        out.heart_error_hz = beats ? found.heart.error_hz : none;
        out.pulsatility = beats ? found.heart.pulsatility : none;
        copy_out(facts, out, "facts");
    });
}

echolux_status echolux_vessel_flow_read(const echolux_vessel_flow* flow, const echolux_flow_values* values,
                                        echolux_error* error) {
    return guarded(error, [&] {
        const std::vector<FlowRow>& rows = checked_handle(flow, "flow").measured.rows;
        const echolux_flow_values to = copy_in(values, "values");
        require_count(to.count, rows.size());
        copy_values_out(to.volume, rows, [](const FlowRow& row) { return row.volume; });
        copy_values_out(to.b_scan, rows, [](const FlowRow& row) { return row.value.plane; });
        copy_values_out(to.time_s, rows, [](const FlowRow& row) { return row.time_s; });
        copy_values_out(to.flow_ul_s, rows, [](const FlowRow& row) { return row.value.flow_ul_s; });
        copy_values_out(to.error_ul_s, rows, [](const FlowRow& row) { return row.value.error_ul_s; });
        copy_values_out(to.mean_mm_s, rows, [](const FlowRow& row) { return row.value.mean_mm_s; });
        copy_values_out(to.area_mm2, rows, [](const FlowRow& row) { return row.value.area_mm2; });
        copy_values_out(to.wrapped, rows, [](const FlowRow& row) { return row.value.wrapped; });
        copy_values_out(to.reasons, rows, [](const FlowRow& row) { return row.value.reason; });
    });
}

const char* echolux_flow_reason(int32_t reason) {
    if (reason < 0 || reason > static_cast<int32_t>(FlowReason::too_few)) return nullptr;
    return name_of(static_cast<FlowReason>(reason));
}

echolux_status echolux_vessel_flow_table(const echolux_vessel_flow* flow, char* buffer, size_t size, size_t* needed,
                                         echolux_error* error) {
    return guarded(error,
                   [&] { copy_text_out(table_of(checked_handle(flow, "flow").measured), buffer, size, needed); });
}

echolux_status echolux_vessel_flow_heart_problem(const echolux_vessel_flow* flow, char* buffer, size_t size,
                                                 size_t* needed, echolux_error* error) {
    return guarded(error,
                   [&] { copy_text_out(checked_handle(flow, "flow").measured.heart.problem, buffer, size, needed); });
}

echolux_status echolux_vessel_flow_warnings(const echolux_vessel_flow* flow, char* buffer, size_t size, size_t* needed,
                                            echolux_error* error) {
    return guarded(
        error, [&] { copy_text_out(lines_of(checked_handle(flow, "flow").measured.warnings), buffer, size, needed); });
}
