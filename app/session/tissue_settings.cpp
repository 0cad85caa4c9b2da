#include "app/session/tissue_settings.h"
#include "compute/plan/describe.h"

namespace echolux {

template <>
const std::vector<Field<FilterDisplay>>& describe<FilterDisplay>() {
    static const std::vector<Field<FilterDisplay>> fields{
        flag("shown", &FilterDisplay::shown, Effect::view,
             "pictures show the filtered volume in place of the raw one; files and recordings stay as they are"),
    };
    return fields;
}

template <>
const std::vector<Field<RegistrationDisplay>>& describe<RegistrationDisplay>() {
    using S = RegistrationDisplay;
    constexpr std::int64_t latest = 1 << 20;
    static const std::vector<Field<S>> fields{
        flag("shown", &S::shown, Effect::view,
             "pictures show the stabilised volume in place of the raw one; files and recordings stay as they are"),
        integer("reference", &S::reference, -1, latest, "", Effect::view,
                "of the window: time point that B-scans are registered to; -1: to their neighbours in the same volume")
            .special(-1, "neighbours"),
        flag(
            "across_volumes", &S::across_volumes, Effect::view,
            "live: B-scans are registered to the last good volume that others still fit, not only to their neighbours"),
    };
    return fields;
}

template <>
const std::vector<Field<LayerDisplay>>& describe<LayerDisplay>() {
    using S = LayerDisplay;
    constexpr std::int64_t farthest = 512;
    static const std::vector<Field<S>> fields{
        flag("shown", &S::shown, Effect::view, "the window draws surfaces as lines over its sections"),
        integer("drag_a_scans", &S::drag_a_scans, 0, farthest, "A-scans", Effect::view,
                "how far along a B-scan a surface follows where one of its points is dragged"),
        integer("drag_b_scans", &S::drag_b_scans, 0, farthest, "B-scans", Effect::view,
                "how far across B-scans a surface follows where one of its points is dragged"),
    };
    return fields;
}

void bind(Settings& settings, TissueSettings& tissue) {
    settings.bind("layers", tissue.layers);
    settings.bind("layers", tissue.layer_display);
    settings.bind("filter", tissue.filter);
    settings.bind("filter", tissue.filter_display);
    settings.bind("registration", tissue.registration);
    settings.bind("registration", tissue.registration_display);
}

LiveTissue live_tissue(const TissueSettings& tissue) {
    return {.stabilises = tissue.registration_display.shown,
            .across_volumes = tissue.registration_display.across_volumes,
            .registration = tissue.registration,
            .filters = tissue.filter_display.shown,
            .filter = tissue.filter};
}

bool is_tissue_section(std::string_view section) {
    return section == "filter" || section == "registration" || section == "layers";
}

const Values& default_tissue_values() {
    static const Values defaults = [] {
        TissueSettings tissue;
        Settings settings;
        bind(settings, tissue);
        Values values;
        for (const BoundField& field : settings.fields()) values[field.key()] = field.default_value;
        return values;
    }();
    return defaults;
}

TissueSettings tissue_of(const Values& values) {
    TissueSettings tissue;
    Settings settings;
    bind(settings, tissue);
    std::vector<TomlEntry> entries;
    for (const auto& [key, value] : values) {
        if (is_tissue_section(section_of(key))) entries.push_back({key, value, "session"});
    }
    settings.take(entries);
    return tissue;
}

}  // namespace echolux
