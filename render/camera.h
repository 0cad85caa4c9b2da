// Where the eye is and which ray belongs to a pixel, in true proportions. Coordinates are lengths along (depth,
// A-scans, B-scans) from the volume's centre. At azimuth 0 and elevation 0 depth points DOWN in the picture (the
// tissue's surface is on top), A-scans go to the right, B-scans away from the eye. The eye then moves round to the
// right by the azimuth and up by the elevation; at elevation 90 one looks down on the surface, B-scans going up (an en
// face view).
#pragma once

#include <array>
#include <glm/vec2.hpp>
#include <glm/vec3.hpp>
#include <optional>

#include "compute/types.h"
#include "render/view/view.h"

namespace echolux {

// Voxel edges in micrometres. What is unknown is taken as the other lateral spacing, else so that voxels are cubes;
// where nothing is known the voxel is the unit of length.
std::array<double, 3> voxel_edges(const VolumeGrid& grid);

// Lengths of the volume's edges.
glm::dvec3 volume_extent(const VolumeGrid& grid);

// How the eye is turned: three directions of length one at right angles.
struct Orientation {
    glm::dvec3 right, up, towards;  // the last from the target to the eye
};

Orientation orientation_of(const Pose& pose);

// The angles of an orientation: exact, with an elevation from -90 to 90. Straight above and below, where the azimuth
// and the roll are one turn, the azimuth is `azimuth_deg`.
Angles angles_of(const Orientation& orientation, double azimuth_deg);

class Camera {
  public:
    Camera(const View& view, const glm::dvec3& extent);

    // The ray of the pixel at (x, y), counted from the picture's middle to the right and down, starts at
    // eye + x eye_x + y eye_y and runs along ray + x ray_x + y ray_y.
    // Of a panorama x and y are angles, of which a pixel is as many as ray_x and ray_y are long: see ray_at().
    struct Rays {
        glm::dvec3 eye, eye_x, eye_y, ray, ray_x, ray_y;
    };
    const Rays& rays() const { return rays_; }

    // Of any projection: where the ray of a pixel starts, and its direction of length one.
    struct Ray {
        glm::dvec3 start, unit;
    };
    Ray ray_at(const glm::dvec2& from_middle) const;

    // The pixel, from the picture's middle, on which a point before the eye lands: see depth_of().
    glm::dvec2 project(const glm::dvec3& point) const;

    // How far before the eye a point lies, along the direction of view; negative: behind it.
    double depth_of(const glm::dvec3& point) const;

    // The ends, in pixels, of the part of a line that lies before the eye by more than the view's near distance. None
    // in a panorama, where lines are curves.
    struct Line {
        glm::dvec2 from, to;
    };
    std::optional<Line> project_line(const glm::dvec3& from, const glm::dvec3& to) const;

    // Whether the volume's face on the side `sign` (-1, 1) of `axis` is turned towards the eye; none is when the eye is
    // inside.
    bool faces(int axis, int sign) const;

    // The length that a pixel is wide at the target.
    double length_per_pixel() const { return per_pixel_ * (perspective_ ? distance_ : 1); }

    const Orientation& orientation() const { return orientation_; }
    glm::dvec3 eye() const { return target_ + distance_ * orientation_.towards + aside_ * orientation_.right; }

  private:
    void fit(double half_width, double half_height);
    glm::dvec2 project_around(const glm::dvec3& from_eye) const;

    Orientation orientation_;
    Rays rays_;
    glm::dvec3 extent_;
    glm::dvec3 target_;
    double distance_ = 0;   // from the eye to the target
    double aside_ = 0;      // of the eye, to the right
    double per_pixel_ = 0;  // lengths (orthographic), slope (perspective) or angle (panorama)
    double near_ = 0;
    bool perspective_ = true;  // all rays begin at the eye
    bool around_ = false;      // it is a panorama
};

}  // namespace echolux
