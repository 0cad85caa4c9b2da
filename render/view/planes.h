// Planes as a setting spells them: four numbers each, a normal of any length along depth, A-scans and B-scans, and an
// offset in micrometres (voxels where the spacing is unknown) along it from the middle of the volume.
#pragma once

#include <glm/vec3.hpp>
#include <glm/vec4.hpp>
#include <string>
#include <vector>

namespace echolux {

struct Plane {
    glm::dvec3 normal;  // of length one
    double offset;

    // In texture coordinates of a volume with these edges: dot(xyz, at) - w is the length from the plane to `at`,
    // positive where the normal points.
    glm::dvec4 in_texture(const glm::dvec3& extent) const;
};

std::vector<Plane> planes_of(const std::vector<double>& numbers);

// Throws Error{bad_setting} naming `key` for a number that is missing, more than `most` planes, or a normal of zeros.
void check_planes(const std::vector<double>& numbers, std::size_t most, const std::string& key);

}  // namespace echolux
