// What a name may stand for, shipped or a user's own: transfer functions, colour maps, scenes, layers.
#pragma once

#include <string>
#include <vector>

namespace echolux {

struct ListedPreset {
    std::string name;
    std::string origin;   // "shipped", or the user's file
    std::string problem;  // in a line, naming file, key and remedy; empty: it can be used
};

struct PresetList {
    std::string title;
    std::vector<ListedPreset> presets;
};

// Each file is read: one that cannot be keeps none of the others back. Without a renderer in the build: scenes and
// layers alone.
std::vector<PresetList> preset_lists();

}  // namespace echolux
