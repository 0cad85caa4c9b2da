// What the window makes of the tissue it shows: how it is filtered, stabilised and cut into layers, and what of that is
// seen. Sections [filter], [registration] and [layers] of sessions and pictures; nothing of it touches files.
#pragma once

#include <string_view>

#include "engine/layers/layer_recipe.h"
#include "engine/live/tissue_work.h"
#include "engine/registration/registration.h"
#include "engine/scan/settings.h"
#include "engine/speckle/speckle_filter.h"

namespace echolux {

// Beside SpeckleFilter in [filter].
struct FilterDisplay {
    bool shown = false;
};

// Beside RegistrationSettings in [registration].
struct RegistrationDisplay {
    bool shown = false;
    std::int64_t reference = -1;  // below 0: the volume's own neighbouring B-scans
    bool across_volumes = true;   // of live sources
};

// Beside LayerRecipe in [layers].
struct LayerDisplay {
    bool shown = true;
    std::int64_t drag_a_scans = 16, drag_b_scans = 2;
};

struct TissueSettings {
    SpeckleFilter filter;
    FilterDisplay filter_display;
    RegistrationSettings registration;
    RegistrationDisplay registration_display;
    LayerRecipe layers;
    LayerDisplay layer_display;
};

// `tissue` must outlive the settings.
void bind(Settings& settings, TissueSettings& tissue);

// Of it, what is done to live volumes.
LiveTissue live_tissue(const TissueSettings& tissue);

bool is_tissue_section(std::string_view section);

// Every field at its default.
const Values& default_tissue_values();

// What of a session's values is of these sections. Throws Error{bad_setting}.
TissueSettings tissue_of(const Values& values);

}  // namespace echolux
