// Lists of named data, shipped or the user's own: transfer functions, colour maps, scenes, layers.
#pragma once

#include <string>
#include <vector>

namespace echolux {

struct ListedPreset {
    std::string name;
    std::string origin;   // "shipped", or the user's file
    std::string problem;  // one line with file, key and remedy; empty if usable
};

struct PresetList {
    std::string title;
    std::vector<ListedPreset> presets;
};

// Reads every file; an invalid one does not affect the others. Without a renderer, lists only scenes and layers.
std::vector<PresetList> preset_lists();

}  // namespace echolux
