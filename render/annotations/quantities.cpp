#include "render/annotations/quantities.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <glm/geometric.hpp>
#include <glm/trigonometric.hpp>

namespace echolux {

// The tolerances absorb rounding errors of limits that are round numbers.
double round_below(double limit) {
    const double decade = std::pow(10.0, std::floor(std::log10(limit) + 1e-12));
    for (const double digit : {5.0, 2.0}) {
        if (digit * decade <= limit * (1 + 1e-12)) return digit * decade;
    }
    return decade;
}

std::vector<Tick> ticks_between(double low, double high, int max_ticks, double finest) {
    // The tolerances of 1e-9 and 1e-12 absorb rounding errors of limits that are round numbers.
    double step = round_below(std::max((high - low) / max_ticks, finest));
    const auto first = [&] { return std::ceil(low / step - 1e-9); };
    const auto last = [&] { return std::floor(high / step + 1e-9); };
    while (step < finest || last() - first() + 1 > max_ticks) step = round_below(2.6 * step);
    const int decimals = std::max(0, -static_cast<int>(std::floor(std::log10(step) + 1e-9)));
    std::vector<Tick> ticks;
    for (double i = first(); i <= last(); i += 1) {
        ticks.push_back({i * step, fmt::format("{:.{}f}", i * step + 0.0, decimals)});
    }
    return ticks;
}

LengthUnit unit_for(double length_um) {
    for (const LengthUnit unit : {LengthUnit{1e4, "cm"}, LengthUnit{1e3, "mm"}, LengthUnit{1, "µm"}}) {
        if (length_um >= unit.um * (1 - 1e-9)) return unit;
    }
    return {1e-3, "nm"};
}

std::string length_text(double length, bool is_um) {
    if (!is_um) return fmt::format("{:.6g} voxels", length);
    const auto [um, name] = length == 0 ? LengthUnit{1, "µm"} : unit_for(length);
    return fmt::format("{:.4g} {}", length / um, name);
}

double distance_um(const glm::dvec3& from, const glm::dvec3& to) {
    return glm::length(to - from);
}

double angle_deg(const glm::dvec3& leg, const glm::dvec3& vertex, const glm::dvec3& other_leg) {
    const glm::dvec3 a = leg - vertex;
    const glm::dvec3 b = other_leg - vertex;
    // precise near 0 and 180 degrees, unlike acos
    return glm::degrees(std::atan2(glm::length(glm::cross(a, b)), glm::dot(a, b)));
}

}  // namespace echolux
