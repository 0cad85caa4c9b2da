#include "render/area_lights.h"
#include "compute/plan/describe.h"

#include <algorithm>
#include <cmath>
#include <glm/geometric.hpp>
#include <glm/trigonometric.hpp>
#include <span>

namespace echolux {
namespace {

// The presets, as azimuth, elevation, distance, width, height, colour.
constexpr std::array about_the_eye{AreaLight{0, 0, 4, 0.8, 0, {1, 1, 1}}};
constexpr std::array key_fill_back{AreaLight{40, 35, 3, 1.2, 1.2, {1, 0.96, 0.9}},
                                   AreaLight{-50, 10, 3, 2.5, 2.5, {0.25, 0.27, 0.3}},
                                   AreaLight{160, 45, 3, 1.2, 1.2, {0.8, 0.8, 0.8}}};
constexpr std::array goosenecks_and_disc{AreaLight{60, 50, 2.5, 0.4, 0, {0.8, 0.77, 0.7}},
                                         AreaLight{-60, 50, 2.5, 0.4, 0, {0.8, 0.77, 0.7}},
                                         AreaLight{0, 0, 4, 0.6, 0, {0.25, 0.25, 0.25}}};

constexpr double min_distance = 1.05, max_distance = 100;  // limits of dragging

std::vector<AreaLight> listed_lights(const std::vector<double>& numbers) {
    std::vector<AreaLight> lights;
    for (std::size_t i = 0; i + area_light_numbers <= numbers.size(); i += area_light_numbers) {
        const auto of = std::span(numbers).subspan(i, area_light_numbers);
        lights.push_back({of[0], of[1], of[2], of[3], of[4], {of[5], of[6], of[7]}});
    }
    return lights;
}

// Returns the unit vector (right, down, towards the eye).
glm::dvec3 seen_direction(double azimuth_deg, double elevation_deg) {
    const double azimuth = glm::radians(azimuth_deg), elevation = glm::radians(elevation_deg);
    return {std::cos(elevation) * std::sin(azimuth), -std::sin(elevation), std::cos(elevation) * std::cos(azimuth)};
}

LightHandle handle_at(double azimuth_deg, double elevation_deg, const std::array<double, 3>& colour) {
    const glm::dvec3 seen = seen_direction(azimuth_deg, elevation_deg);
    return {glm::dvec2(seen), seen.z < 0, colour};
}

bool is_lit_by_lamp(const View& view) {
    return view.lamp == Lamp::free && view.lighting && (view.mode != ViewMode::traced || view.lights == Lights::lamp);
}

// Direction relative to the eye.
struct LightDirection {
    double azimuth_deg, elevation_deg;
};

LightDirection turned_to(glm::dvec2 at, bool is_behind) {
    const double out = glm::length(at);
    if (out > 1) {  // beyond the rim: wraps to the other side by the same distance
        is_behind = !is_behind;
        at *= std::max(2 - out, 0.0) / out;
    }
    const double depth = std::sqrt(std::max(0.0, 1 - glm::dot(at, at))) * (is_behind ? -1 : 1);
    return {glm::degrees(std::atan2(at.x, depth)), glm::degrees(std::asin(std::clamp(-at.y, -1.0, 1.0)))};
}

}  // namespace

std::vector<AreaLight> area_lights(const View& view) {
    const auto all = [](const auto& lights) { return std::vector<AreaLight>(lights.begin(), lights.end()); };
    switch (view.lights) {
        case Lights::headlight: return all(about_the_eye);
        case Lights::three_point: return all(key_fill_back);
        case Lights::dissection_microscope: return all(goosenecks_and_disc);
        case Lights::own: return listed_lights(view.area_lights);
        default: return {};
    }
}

std::vector<double> numbers_of(const std::vector<AreaLight>& lights) {
    std::vector<double> numbers;
    for (const AreaLight& light : lights) {
        numbers.insert(numbers.end(), {light.azimuth_deg, light.elevation_deg, light.distance, light.width,
                                       light.height, light.colour[0], light.colour[1], light.colour[2]});
    }
    return numbers;
}

glm::dvec3 direction_of(const AreaLight& light, const Orientation& eye) {
    const double azimuth = glm::radians(light.azimuth_deg), elevation = glm::radians(light.elevation_deg);
    const glm::dvec3 level = std::sin(azimuth) * eye.right + std::cos(azimuth) * eye.towards;
    return std::cos(elevation) * level + std::sin(elevation) * eye.up;
}

std::vector<LightHandle> light_handles(const View& view) {
    std::vector<LightHandle> handles;
    if (is_lit_by_lamp(view)) handles.push_back(handle_at(view.lamp_azimuth_deg, view.lamp_elevation_deg, {1, 1, 1}));
    if (view.mode != ViewMode::traced) return handles;
    for (const AreaLight& light : area_lights(view))
        handles.push_back(handle_at(light.azimuth_deg, light.elevation_deg, light.colour));
    return handles;
}

std::map<std::string, Value> with_light_at(const View& view, std::size_t handle, const glm::dvec2& at, bool was_behind,
                                           double farther) {
    const auto [azimuth_deg, elevation_deg] = turned_to(at, was_behind);
    if (is_lit_by_lamp(view))
        return {{"view.lamp_azimuth_deg", azimuth_deg}, {"view.lamp_elevation_deg", elevation_deg}};
    std::vector<AreaLight> lights = area_lights(view);
    if (handle >= lights.size()) return {};
    AreaLight& light = lights[handle];
    light.azimuth_deg = azimuth_deg;
    light.elevation_deg = elevation_deg;
    light.distance = std::clamp(light.distance * farther, std::min(min_distance, light.distance),
                                std::max(max_distance, light.distance));
    return {{"view.lights", std::string("own")}, {"view.area_lights", numbers_of(lights)}};
}

}  // namespace echolux
