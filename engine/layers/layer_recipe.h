// What is looked for in layered tissue: boundaries from above with name, polarity and distance from one to the next.
// Files that came with the program (assets/layers) and a user's own: [about], then [layers].
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "assets/assets.h"
#include "compute/plan/describe.h"

namespace echolux {

// Section [layers] of the settings; described in layer_recipe.cpp. Lists have one number for all boundaries, or one
// for each.
struct LayerRecipe {
    std::string names;                  // with spaces between; empty: 1, 2, ...
    std::int64_t count = 3;             // of boundaries, where they have no names
    std::vector<double> polarity{0};    // 1: brighter below, -1: darker below, 0: either
    std::vector<double> min_um{0};      // from the boundary above
    std::vector<double> max_um{0};      // from the boundary above; 0: any
    std::vector<double> smoothness{1};  // factor of what a step between neighbouring A-scans costs
    std::vector<double> vessel_um{0};   // width of vessels that hide the boundary; 0: none do
    bool tissue_below = false;          // tissue goes on below the last boundary, and ends somewhere
    double row_um = 0;                  // depth of a row; 0: as the volume says
};

// In rows of a volume.
struct WantedBoundary {
    std::string name;
    int polarity = 0;
    double min_rows = 0, max_rows = 0;  // from the one above; 0: any
    double smoothness = 1;
    double vessel_um = 0;  // across A-scans, which differ from volume to volume: see bridge_vessels
};

// `row_um`: of the volume, 0 where it is unknown. Throws Error{bad_setting}: lists of another length, names given
// twice, least distances above the greatest, micrometres where the row is unknown.
std::vector<WantedBoundary> wanted_boundaries(const LayerRecipe& recipe, double row_um);

// A preset: what it is for, and its settings as assignments ("layers.count=5").
struct LayerPreset {
    std::string text;
    std::vector<std::string> assignments;
};

// Throws Error{bad_file, bad_setting} naming file and key.
LayerPreset layer_preset_of(const Asset& asset);

// By name, or by a path that ends in .toml. Throws also for an unknown name, with the nearest one.
LayerPreset layer_preset_named(std::string_view name);

}  // namespace echolux
