#include "render/view/planes.h"

#include <fmt/format.h>

#include <glm/geometric.hpp>

#include "compute/counted.h"
#include "compute/error.h"

namespace echolux {
namespace {

constexpr std::size_t numbers_each = 4;

}  // namespace

glm::dvec4 Plane::in_texture(const glm::dvec3& extent) const {
    return {normal * extent, offset + 0.5 * glm::dot(normal, extent)};
}

std::vector<Plane> planes_of(const std::vector<double>& numbers) {
    std::vector<Plane> planes;
    for (std::size_t i = 0; i + numbers_each <= numbers.size(); i += numbers_each) {
        const glm::dvec3 normal(numbers[i], numbers[i + 1], numbers[i + 2]);
        planes.push_back({glm::normalize(normal), numbers[i + 3]});
    }
    return planes;
}

void check_planes(const std::vector<double>& numbers, std::size_t most, const std::string& key) {
    if (numbers.size() % numbers_each != 0) {
        throw Error(ErrorCode::bad_setting,
                    fmt::format("a plane has four numbers, got {}, not a multiple of four", numbers.size()), key,
                    "give a normal (depth, A-scans, B-scans) and an offset in um, e.g. [0, 0, 1, 200]");
    }
    if (numbers.size() > most * numbers_each) {
        throw Error(ErrorCode::bad_setting,
                    fmt::format("{} are too many, at most {} are possible",
                                counted(numbers.size() / numbers_each, "planes"), most),
                    key, "leave some out");
    }
    for (std::size_t i = 0; i < numbers.size(); i += numbers_each) {
        if (glm::length(glm::dvec3(numbers[i], numbers[i + 1], numbers[i + 2])) > 0) continue;
        throw Error(ErrorCode::bad_setting, "a plane's normal cannot be zero", key,
                    "e.g. [1, 0, 0, 0] for a plane across the depth");
    }
}

}  // namespace echolux
