// Description of layered tissue: boundaries from the top with name, polarity and distance to the next. Presets are
// files with sections [about] and [layers], shipped in assets/layers or written by a user.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "assets/assets.h"
#include "compute/plan/described.h"

namespace echolux {

// Section [layers] of the settings; described in layer_recipe.cpp. Lists have one number per boundary, or one for all.
struct LayerRecipe {
    std::string names;                  // separated by spaces; empty: 1, 2, ...
    std::int64_t count = 3;             // number of boundaries, if they have no names
    std::vector<double> polarity{0};    // 1: brighter below, -1: darker below, 0: either
    std::vector<double> min_um{0};      // distance from the boundary above
    std::vector<double> max_um{0};      // from the boundary above; 0: no limit
    std::vector<double> smoothness{1};  // factor of the cost of a step between neighbouring A-scans
    std::vector<double> vessel_um{0};   // width of vessels that hide the boundary; 0: no vessels
    bool tissue_below = false;          // tissue continues below the last boundary and ends somewhere
    double row_um = 0;                  // depth of a row; 0: from the volume
};

// A boundary with distances in rows of the volume.
struct WantedBoundary {
    std::string name;
    int polarity = 0;
    double min_rows = 0, max_rows = 0;  // distance from the boundary above; 0: no limit
    double smoothness = 1;
    double vessel_um = 0;  // width in um, because spacings differ between volumes; see bridge_vessels()
};

// Converts the recipe to boundaries. `row_um` is the depth of the volume's rows, 0 if unknown. Throws
// Error{bad_setting} for lists of another length, duplicate names, min distances above the max, and distances in um
// with unknown rows.
std::vector<WantedBoundary> wanted_boundaries(const LayerRecipe& recipe, double row_um);

// A preset: its purpose, and its settings as assignments ("layers.count=5").
struct LayerPreset {
    std::string text;
    std::vector<std::string> assignments;
};

// Reads a preset. Throws Error{bad_file, bad_setting} that names file and key.
LayerPreset layer_preset_of(const Asset& asset);

// Reads a preset by name, or by a path that ends in .toml. Also throws for an unknown name and suggests the nearest
// one.
LayerPreset layer_preset_named(std::string_view name);

}  // namespace echolux
