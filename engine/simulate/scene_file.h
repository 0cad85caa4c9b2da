// Scenes as files (assets/scenes, or a user's own): words, and numbers for each boundary, layer and tube. A list has
// one number for each of them, or one for all; `depth` says how many there are. Lengths are parts of the depth range or
// of the field, so that a scene fits every instrument; which of them is said in describe().
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "assets/assets.h"
#include "compute/plan/describe.h"

namespace echolux {

struct SceneWords {
    std::string title, text;
    double refractive_index = 1.38;
    double spacing_a_um = 8;
    bool relief = false;
    bool pulsating = false;
    bool mirrors = false;
    std::string live;
};

struct BoundaryLists {
    std::vector<double> depth{}, tilt{0.0}, bow{0.0}, wave{0.0}, pit{0.0}, pit_radius{1.0};
};

struct LayerLists {
    std::vector<double> brightness{}, attenuation_per_mm{0.0};
};

struct TubeLists {
    std::vector<double> depth{}, x{0.0}, swing{0.0}, period{1.0}, phase_rad{0.0}, descent{0.0}, bow{0.0};
    bool tilted = false;
    std::vector<double> radius{0.0}, radius_of_width{0.0}, radius_um{0.0}, wall_um{0.0};
    std::vector<double> brightness{0.0}, wall_brightness{0.0}, attenuation_per_mm{0.0}, speed{0.0}, flow{0.0};
};

struct SceneFile {
    SceneWords scene;
    BoundaryLists boundaries;
    LayerLists layers;
    TubeLists tubes;
};

// Throws Error{bad_file, bad_setting} naming file and key.
SceneFile scene_of(const Asset& asset);

// The user's own scene of that name, else the shipped one. Throws as scene_of(), Error{bad_setting} where there is
// none.
SceneFile scene_named(std::string_view name);

// As a list of scenes shows one.
struct ShownScene {
    std::string name;  // as sim:NAME
    std::string title, text;
};

// Without those that cannot be read: `echolux info --presets` tells what is wrong with them.
std::vector<ShownScene> shown_scenes();

// That of element `i`: lists of one number hold for all.
inline double of_each(const std::vector<double>& list, std::size_t i) {
    return list.size() == 1 ? list.front() : list.at(i);
}

}  // namespace echolux
