// Area lights: those of a preset or of the view, and their handles in the window on the sphere of directions around the
// volume.
#pragma once

#include <array>
#include <glm/vec2.hpp>
#include <map>
#include <string>
#include <vector>

#include "render/camera.h"
#include "render/view/view.h"

namespace echolux {

// Units as in view.area_lights.
struct AreaLight {
    double azimuth_deg, elevation_deg;
    double distance, width, height;
    std::array<double, 3> colour;
};

// Returns the area lights of a view; empty if it has a distant lamp.
std::vector<AreaLight> area_lights(const View& view);

// Converts lights to the format of view.area_lights.
std::vector<double> numbers_of(const std::vector<AreaLight>& lights);

// Returns the unit vector from the volume towards a light, for an eye with this orientation.
glm::dvec3 direction_of(const AreaLight& light, const Orientation& eye);

// The draggable handle of an area light or the free lamp.
struct LightHandle {
    glm::dvec2 at{0};        // right and down from the centre of the sphere as seen by the eye; its radius is 1
    bool is_behind = false;  // on the far side of the volume
    std::array<double, 3> colour{1, 1, 1};
};

// Returns the handles of all lights of the view with adjustable directions, including the free lamp if it is in use.
std::vector<LightHandle> light_handles(const View& view);

// Returns the settings after dragging a handle to `at`. Positions beyond the rim wrap to the opposite side of the
// sphere. The initial side is that of the eye unless `was_behind`. `farther` is a factor on the distance. Presets
// become lights of the view.
std::map<std::string, Value> with_light_at(const View& view, std::size_t handle, const glm::dvec2& at, bool was_behind,
                                           double farther = 1);

}  // namespace echolux
