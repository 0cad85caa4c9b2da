// The lights that have a size: of a preset, or listed; and where each is held on the sphere of directions about the
// volume, as handles in a window show it.
#pragma once

#include <array>
#include <glm/vec2.hpp>
#include <map>
#include <string>
#include <vector>

#include "render/camera.h"
#include "render/view/view.h"

namespace echolux {

// As in view.area_lights.
struct AreaLight {
    double azimuth_deg, elevation_deg;
    double distance, width, height;
    std::array<double, 3> colour;
};

// None where the lamp is far away.
std::vector<AreaLight> area_lights(const View& view);

std::vector<double> numbers_of(const std::vector<AreaLight>& lights);

// Towards it from the volume, with an eye that is turned so.
glm::dvec3 direction_of(const AreaLight& light, const Orientation& eye);

// What is dragged: a light, or the free lamp.
struct LightHandle {
    glm::dvec2 at{0};        // from the middle of the sphere seen by the eye, 1 its radius: right and down
    bool is_behind = false;  // the volume
    std::array<double, 3> colour{1, 1, 1};
};

// Of all lights of the view whose directions are its own; of the free lamp where it is lit by that.
std::vector<LightHandle> light_handles(const View& view);

// The settings that a drag of a handle leaves: to `at`, beyond the rim round to the other side, which is that of the
// eye at first unless the light `was_behind`; `farther`: a factor on its distance. Presets become lights of the view's
// own.
std::map<std::string, Value> with_light_at(const View& view, std::size_t handle, const glm::dvec2& at, bool was_behind,
                                           double farther = 1);

}  // namespace echolux
