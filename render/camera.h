// Camera: position of the eye and the rays of pixels, in physical proportions; and the views derived by moving it, by
// facing a section, and for each eye of a stereo picture.
//
// Coordinates are lengths along (depth, A-scans, B-scans) from the volume's centre. At azimuth 0 and elevation 0, depth
// points DOWN in the picture (the tissue's surface is at the top), A-scans point right, B-scans away from the eye. The
// azimuth moves the eye to the right around the volume, the elevation moves it up. At elevation 90 the view is from
// above, with B-scans pointing up (en face).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <glm/vec2.hpp>
#include <glm/vec3.hpp>
#include <optional>
#include <span>
#include <vector>

#include "compute/types.h"
#include "render/picture.h"
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

// ---- Interactive camera motion: pure functions from a view to the next one, for any front end. Motions are in pixels
// right and down, positions are relative to the picture's centre. A named direction becomes angles, and all functions
// but orbited() end `fit` at the current size. `extent` is the result of volume_extent().

// Trackball: the volume follows the pointer as if it were inside a ball that fits into the picture. There are no poles,
// and moving back by (-x, -y) restores the view.
View orbited(View view, const glm::dvec2& pixels);

// Points at the target's depth follow the pointer.
View panned(View view, const glm::dvec2& pixels, const glm::dvec3& extent);

// Moves closer (perspective) or enlarges (orthographic) by a factor. The point under the pointer at the target's depth
// stays in place. Limited to the ranges of `distance` and `zoom`.
View dollied(View view, double factor, const glm::dvec2& at, const glm::dvec3& extent);

// Fly mode: the eye stays in place and turns to the right and up.
View looked(View view, double right_deg, double up_deg, const glm::dvec3& extent);

// Fly mode: the eye moves by lengths to the right, up and forward, with the same orientation.
View moved(View view, const glm::dvec3& right_up_forward, const glm::dvec3& extent);

// Centres the whole volume and fits it into the picture, from the current direction.
View fitted(View view, const glm::dvec3& extent);

// ---- Sections and en face projections as views of the ray caster: an orthographic camera that faces the plane, and
// clipping to a slab.

// Returns the view that implements view.show; unchanged for the volume. Call it once when a view arrives: everything
// from pages to annotations must use its result. The section fills the picture at zoom 1; target_um moves within its
// plane and roll_deg rotates it.
View section_view(const View& view, const VolumeGrid& grid);

// ---- Stereo pictures: the views of both eyes, and their combination. The eyes have parallel axes and off-centre
// projections, so that both pictures coincide at the target's depth without keystone distortion (L. Hodges, D.
// McAllister, "Stereo computer graphics", IEEE Computer Graphics and Applications 1985).

// Returns the views of the eyes, left first; only the view itself if the picture is not in stereo.
std::vector<View> eyes_of(const View& view);

// Combines the same rows of each eye's picture, RGBA with straight alpha. Anaglyphs use the left eye's luminance for
// red and the right eye's green and blue, with the larger opacity of the two.
std::vector<std::byte> joined(const View& view, PictureBits bits, std::vector<std::vector<std::byte>> eyes);

}  // namespace echolux
