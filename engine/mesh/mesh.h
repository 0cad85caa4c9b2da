// Triangle meshes of volumes for printing, CAD and 3-D programs. Coordinates are millimetres along the axes of the
// volume: x along the A-scans, y across the B-scans, z along the depth (rows if a spacing is unknown).
//
// An isosurface separates voxels above a level from the others. The cubes between voxels are divided into six
// tetrahedra along their diagonal, in the same way in all cubes (H. W. Kuhn, IBM J. Res. Dev. 4, 518, 1960), so that
// neighbouring faces fit. In each tetrahedron, one or two triangles cut the edges where the linearly interpolated value
// is the level (A. Gueziec, R. Hummel, IEEE Trans. Vis. Comput. Graph. 1(4), 328, 1995). Unlike marching cubes, this
// has no ambiguous case: the mesh is closed and manifold, because outside the volume everything is below the level.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "engine/io/volume_file.h"
#include "engine/layers/layers.h"
#include "engine/progress.h"

namespace echolux {

struct Mesh {
    std::string name;
    std::array<std::uint8_t, 3> colour{204, 204, 204};
    std::vector<std::array<float, 3>> points{};
    std::vector<std::array<std::uint32_t, 3>> triangles{};  // counter-clockwise seen from outside

    double area() const;    // mm2
    double volume() const;  // mm3 enclosed, if the mesh is closed
};

// Voxels without a value count as below the level. Throws Error{bad_setting} if no voxel or all voxels are above it, or
// if the mesh would exceed 2^32 - 1 points.
Mesh isosurface(const Volume& volume, double level, Progress& progress);

// One open sheet per surface, two triangles between four neighbouring positions; none where one of them is missing.
std::vector<Mesh> sheets_of(const Surfaces& surfaces, const VolumeGrid& grid);

// Endings of mesh files: .stl (binary; all meshes in one, no colours), .ply (binary, colours per vertex) and .glb
// (glTF 2.0, one node per mesh, metres as that format requires).
const std::vector<std::string>& mesh_endings();

// Text in our STL and PLY files.
inline constexpr std::string_view mesh_mark = "Echolux, millimetres";

// The bytes of a file with this ending. Throws Error{bad_setting} for another one.
std::string mesh_bytes(const std::vector<Mesh>& meshes, std::string_view ending);

}  // namespace echolux
