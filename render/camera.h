// Where the eye is and which ray belongs to a pixel, in true proportions. Coordinates are lengths along (depth,
// A-scans, B-scans) from the volume's centre. At azimuth 0 and elevation 0 depth points DOWN in the picture (the
// tissue's surface is on top), A-scans go to the right, B-scans away from the eye. The eye then moves round to the
// right by the azimuth and up by the elevation; at elevation 90 one looks down on the surface, B-scans going up (an en
// face view).
#pragma once

#include <array>
#include <glm/vec2.hpp>
#include <glm/vec3.hpp>

#include "compute/types.h"
#include "render/view.h"

namespace echolux {

// Voxel edges in micrometres. What is unknown is taken as the other lateral spacing, else so that voxels are cubes;
// where nothing is known the voxel is the unit of length.
std::array<double, 3> voxel_edges(const VolumeGrid& grid);

// Lengths of the volume's edges.
glm::dvec3 volume_extent(const VolumeGrid& grid);

class Camera {
  public:
    Camera(const View& view, const glm::dvec3& extent);

    // The ray of the pixel at (x, y), counted from the picture's middle to the right and down, starts at
    // eye + x eye_x + y eye_y and runs along ray + x ray_x + y ray_y.
    struct Rays {
        glm::dvec3 eye, eye_x, eye_y, ray, ray_x, ray_y;
    };
    const Rays& rays() const { return rays_; }

    // The pixel, from the picture's middle, on which a point lands.
    glm::dvec2 project(const glm::dvec3& point) const;

    // Whether the volume's face on the side `sign` (-1, 1) of `axis` is turned towards the eye.
    bool faces(int axis, int sign) const;

  private:
    Rays rays_;
    glm::dvec3 extent_;
    glm::dvec3 right_, up_, towards_;
    double distance_ = 0;   // from the eye to the centre
    double per_pixel_ = 0;  // lengths (orthographic) or slope (perspective)
    bool perspective_ = true;
};

}  // namespace echolux
