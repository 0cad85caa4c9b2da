// Settings of the tissue analyses, speckle filters, averaging of several looks, and attenuation.
#include "library/tissue.h"

#include "app/jobs/attenuation_job.h"
#include "app/jobs/filter_job.h"

using namespace echolux;
using namespace echolux::library;

namespace {

constexpr const char* default_layers = "retina";  // default of `echolux segment`

std::string layers_argument(const char* layers) {
    return layers == nullptr ? default_layers : layers;
}

void add_warnings(echolux_volume& volume, const std::vector<std::string>& warnings) {
    volume.warnings.insert(volume.warnings.end(), warnings.begin(), warnings.end());
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

namespace echolux::library {
// NULL gives the settings that echolux_tissue_create(NULL, NULL, 0) would have.

TissueRecipes recipes_of(const echolux_tissue* tissue) {
    if (tissue != nullptr) return live_handle(tissue, "tissue").recipes;
    return echolux_tissue(default_layers, {}).recipes;
}

std::vector<const echolux_volume*> volumes_argument(const echolux_volume* const* volumes, std::size_t count,
                                                    const char* name) {
    if (count == 0) throw BadArgument("are none", name, "give at least one volume");
    required(volumes, name);
    std::vector<const echolux_volume*> all;
    for (std::size_t i = 0; i < count; ++i) all.push_back(&live_handle(volumes[i], name));
    return all;
}

void require_count(std::int64_t given, std::size_t wanted) {
    if (given == static_cast<std::int64_t>(wanted)) return;
    throw BadArgument("is not the length of the arrays", "count", "give it " + std::to_string(wanted));
}

}  // namespace echolux::library

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
    return guarded(error, [&] { required(settings, "settings") = &live_handle(tissue, "tissue").settings; });
}

echolux_status echolux_filter(const echolux_volume* volume, const echolux_tissue* tissue, const echolux_device* device,
                              echolux_progress progress, void* user, echolux_volume** filtered, echolux_error* error) {
    return guarded(error, [&] {
        required(filtered, "filtered") = nullptr;
        const echolux_volume& from = live_handle(volume, "volume");
        CallerProgress told(progress, user);
        FilteredVolume made = filtered_volume(*from.volume, recipes_of(tissue).filter, backend_of(device), told);
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
        if (stats != nullptr) known_size(*stats, "stats");
        const echolux_volume& from = live_handle(volume, "volume");
        CallerProgress told(progress, user);
        AttenuatedVolume made = attenuated_volume(*from.volume, recipes_of(tissue).attenuation, "volume", told);
        *coefficients = derived_volume(from, std::move(made.volume));
        add_warnings(**coefficients, made.warnings);
        if (stats == nullptr) return;
        echolux_attenuation_stats out{};
        out.known = made.stats.known;
        out.no_tail = made.stats.no_tail;
        out.noise_floor_db = made.stats.noise_floor_db;
        give(stats, out, "stats");
    });
}
