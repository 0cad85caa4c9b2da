// Processing of the displayed tissue in the window: filtering, stabilisation, layers, and which of these are shown.
// Sections [filter], [registration] and [layers] of sessions and pictures. They never change files.
#pragma once

#include <string_view>

#include "engine/layers/layers.h"
#include "engine/live/tissue_work.h"
#include "engine/registration/registration.h"
#include "engine/scan/settings.h"
#include "engine/speckle/speckle_filter.h"

namespace echolux {

// Additional settings in [filter], beside SpeckleFilter.
struct FilterDisplay {
    bool shown = false;
};

// Additional settings in [registration], beside RegistrationSettings.
struct RegistrationDisplay {
    bool shown = false;
    std::int64_t reference = -1;  // negative: the volume's own neighbouring B-scans
    bool across_volumes = true;   // of live sources
};

// Additional settings in [layers], beside LayerRecipe.
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

// Returns the part that applies to live volumes.
LiveTissue live_tissue(const TissueSettings& tissue);

bool is_tissue_section(std::string_view section);

// Returns the defaults of all fields.
const Values& default_tissue_values();

// Returns the values of a session that belong to these sections. Throws Error{bad_setting}.
TissueSettings tissue_of(const Values& values);

}  // namespace echolux
