// Camera: position of the eye and the rays of pixels, in physical proportions.
//
// Coordinates are lengths along (depth, A-scans, B-scans) from the volume's centre. At azimuth 0 and elevation 0, depth
// points DOWN in the picture (the tissue's surface is at the top), A-scans point right, B-scans away from the eye. The
// azimuth moves the eye to the right around the volume, the elevation moves it up. At elevation 90 the view is from
// above, with B-scans pointing up (en face).
#pragma once

#include <array>
#include <glm/vec2.hpp>
#include <glm/vec3.hpp>
#include <optional>

#include "compute/types.h"
#include "render/view/view.h"

namespace echolux {

// Returns the voxel edges in um. An unknown edge is replaced by the other lateral spacing, else by the one that makes
// voxels cubic. If nothing is known, the voxel is the unit of length.
std::array<double, 3> voxel_edges(const VolumeGrid& grid);

// Returns the edge lengths of the volume.
glm::dvec3 volume_extent(const VolumeGrid& grid);

// Orientation of the eye as orthogonal unit vectors.
struct Orientation {
    glm::dvec3 right, up, towards;  // `towards` points from the target to the eye
};

// Returns the orientation of a pose.
Orientation orientation_of(const Pose& pose);

// Returns the exact angles of an orientation, with an elevation in [-90, 90]. At the poles, azimuth and roll are the
// same rotation; the azimuth is then `azimuth_deg`.
Angles angles_of(const Orientation& orientation, double azimuth_deg);

class Camera {
  public:
    Camera(const View& view, const glm::dvec3& extent);

    // The ray of the pixel at (x, y), relative to the picture's centre (right, down), starts at eye + x eye_x + y eye_y
    // and has the direction ray + x ray_x + y ray_y. In a panorama, x and y are angles, and the lengths of ray_x and
    // ray_y are the angle per pixel: see ray_at().
    struct Rays {
        glm::dvec3 eye, eye_x, eye_y, ray, ray_x, ray_y;
    };
    const Rays& rays() const { return rays_; }

    // Returns start and unit direction of a pixel's ray, for any projection.
    struct Ray {
        glm::dvec3 start, unit;
    };
    Ray ray_at(const glm::dvec2& from_middle) const;

    // Returns the pixel of a point in front of the eye (see depth_of()), relative to the picture's centre.
    glm::dvec2 project(const glm::dvec3& point) const;

    // Returns the distance of a point along the viewing direction; negative behind the eye.
    double depth_of(const glm::dvec3& point) const;

    // Returns the projected ends of the part of a line that is further from the eye than the near distance, in pixels.
    // Empty for panoramas, where lines are curves.
    struct Line {
        glm::dvec2 from, to;
    };
    std::optional<Line> project_line(const glm::dvec3& from, const glm::dvec3& to) const;

    // Returns true if the volume's face on side `sign` (-1, 1) of `axis` faces the eye. False for all faces if the eye
    // is inside.
    bool faces(int axis, int sign) const;

    // Returns the width of a pixel at the target.
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
    double distance_ = 0;   // between eye and target
    double aside_ = 0;      // offset of the eye to the right, for stereo
    double per_pixel_ = 0;  // length (orthographic), slope (perspective) or angle (panorama)
    double near_ = 0;
    bool perspective_ = true;  // all rays start at the eye
    bool around_ = false;      // panorama
};

}  // namespace echolux
