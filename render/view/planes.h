// Planes in settings: four numbers each, a normal of any length along depth, A-scans and B-scans, and an offset along
// it from the centre of the volume in um (voxels if the spacing is unknown).
#pragma once

#include <glm/vec3.hpp>
#include <glm/vec4.hpp>
#include <string>
#include <vector>

namespace echolux {

struct Plane {
    glm::dvec3 normal;  // unit length
    double offset;

    // Returns the plane in texture coordinates of a volume with these edges. dot(xyz, point) - w is the signed distance
    // of a point, positive on the side of the normal.
    glm::dvec4 in_texture(const glm::dvec3& extent) const;
};

// Converts checked numbers to planes with unit normals.
std::vector<Plane> planes_of(const std::vector<double>& numbers);

// Throws Error{bad_setting} naming `key` for an incomplete plane, more than `most` planes, or a zero normal.
void check_planes(const std::vector<double>& numbers, std::size_t most, const std::string& key);

}  // namespace echolux
