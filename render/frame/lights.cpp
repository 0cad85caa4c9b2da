// Uniforms of the area lights for the path tracer: geometry, radiance and sampling probabilities.
//
// An area light's brightness is given as the radiosity of a white surface at the volume's centre that faces the light.
// Dividing it by the form factor of the light gives its radiance.
#include <algorithm>
#include <cmath>
#include <glm/geometric.hpp>
#include <glm/trigonometric.hpp>
#include <numbers>
#include <vector>

#include "render/area_lights.h"
#include "render/camera.h"
#include "render/frame/parts.h"

namespace echolux {
namespace {

// Returns the form factor of a light for a facing surface at the volume's centre: the share of the hemisphere's light,
// weighted by the cosine, for a disc or rectangle of radiance 1.
double share_of_light(const AreaLight& light) {
    const double a = 0.5 * light.width / light.distance;
    if (light.height == 0) return a * a / (1 + a * a);
    const double b = 0.5 * light.height / light.distance;
    const double beside_a = std::sqrt(1 + a * a), beside_b = std::sqrt(1 + b * b);
    return 2 / std::numbers::pi * (a / beside_a * std::atan(b / beside_a) + b / beside_b * std::atan(a / beside_b));
}

// ITU-R BT.709, linear.
double luminance(const AreaLight& light) {
    const auto [red, green, blue] = light.colour;
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

}  // namespace

void set_lights(shared::TraceFrame& frame, const View& view, const glm::dvec3& extent) {
    const std::vector<AreaLight> lights = area_lights(view);
    const auto packed = [](const glm::dvec3& v, double w) { return glm::vec4(glm::dvec4(v, w)); };
    const Orientation eye = orientation_of(view);
    // Lengths of area lights are in halves of the volume's diagonal.
    const double unit = 0.5 * glm::length(extent);
    double all = 0;
    for (const AreaLight& light : lights) all += luminance(light);
    double chosen = 0;
    for (std::size_t i = 0; i < std::size_t{shared::max_lights}; ++i) {
        shared::AreaLightFrame& to = frame.lights[i];
        to = {packed({0, 0, 0}, 1), {}, {0, 0, 0, 1}, {}, {}};
        if (i >= lights.size()) continue;
        const AreaLight& light = lights[i];
        // Lights are sampled in proportion to their luminance; `chosen` is the cumulative probability.
        const double chance = all > 0 ? luminance(light) / all : 0;
        chosen = i + 1 == lights.size() ? 1 : chosen + chance;
        const double looks = chance * share_of_lamps(view);
        const glm::dvec3 towards = direction_of(light, eye);
        const glm::dvec3 beside = glm::cross(eye.up, towards);
        const glm::dvec3 across = glm::length(beside) > 1e-6 ? glm::normalize(beside) : eye.right;
        const glm::dvec3 along = glm::cross(towards, across);
        const bool is_disc = light.height == 0;
        const double half_width = 0.5 * light.width * unit;
        const double half_height = is_disc ? half_width : 0.5 * light.height * unit;
        const double area = (is_disc ? std::numbers::pi : 4.0) * half_width * half_height;
        const double radiance = view.lamp_brightness / share_of_light(light);
        to = {packed(light.distance * unit * towards, chosen), packed(half_width * across, is_disc ? 1 : 0),
              packed(half_height * along, area), packed(-towards, looks),
              packed(radiance * glm::dvec3(light.colour[0], light.colour[1], light.colour[2]), 0)};
    }
}

}  // namespace echolux
