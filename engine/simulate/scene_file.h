// Scenes as files, shipped in assets/scenes or written by a user: texts, and numbers for each boundary, layer and tube.
// A list has one number per item, or one number for all; `depth` sets the number of items. Lengths are relative to the
// depth range or the field, as describe() states for each, so that a scene fits every instrument.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "assets/assets.h"
#include "compute/plan/described.h"

namespace echolux {

// Texts and defaults of a scene, section [scene].
struct SceneWords {
    std::string title, text;
    double refractive_index = 1.38;
    double spacing_a_um = 8;
    bool relief = false;
    bool pulsating = false;
    bool mirrors = false;
    std::string live;
};

// Section [boundaries]; depths as a fraction of the depth range.
struct BoundaryLists {
    std::vector<double> depth{}, tilt{0.0}, bow{0.0}, wave{0.0}, pit{0.0}, pit_radius{1.0};
};

// Section [layers], from the top.
struct LayerLists {
    std::vector<double> brightness{}, attenuation_per_mm{0.0};
};

// Section [tubes].
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

// Parses a scene. Throws Error{bad_file, bad_setting} that names file and key.
SceneFile scene_of(const Asset& asset);

// Returns the user's scene of that name, or the shipped one. Throws as scene_of() does, and Error{bad_setting} if the
// name is unknown.
SceneFile scene_named(std::string_view name);

// Entry of a list of scenes.
struct ShownScene {
    std::string name;  // as in sim:NAME
    std::string title, text;
};

// Returns all readable scenes. `echolux info --presets` reports the errors of the others.
std::vector<ShownScene> shown_scenes();

// Returns the value of item `i`; a list of one number applies to all.
inline double of_each(const std::vector<double>& list, std::size_t i) {
    return list.size() == 1 ? list.front() : list.at(i);
}

}  // namespace echolux
