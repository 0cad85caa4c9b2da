#include "render/view/pose.h"

#include "compute/error.h"
#include "compute/plan/describe.h"

namespace echolux {

template <>
const std::vector<Field<Pose>>& describe<Pose>() {
    constexpr Effect view = Effect::view;
    static const std::vector<Field<Pose>> fields{
        choice<Pose>("look", &Pose::look, {"free", "front", "back", "left", "right", "top", "bottom", "oblique"}, view,
                     "named direction that replaces the angles; front: A-scans to the right, depth down; top: en face; "
                     "free: from the angles"),
        number<Pose>("azimuth_deg", &Pose::azimuth_deg, -3600, 3600, "deg", view,
                     "azimuth of the eye, to the right; 0: A-scans to the right, B-scans away from the eye")
            .soft(-180, 180),
        number<Pose>("elevation_deg", &Pose::elevation_deg, -3600, 3600, "deg", view,
                     "elevation of the eye; 0: depth points down, 90: en face")
            .soft(-90, 90),
        number<Pose>("roll_deg", &Pose::roll_deg, -3600, 3600, "deg", view, "clockwise rotation of the picture")
            .soft(-180, 180),
        flag<Pose>("fit", &Pose::fit, view,
                   "zoom 1 fits the volume in its present orientation, instead of in every orientation"),
        number<Pose>("zoom", &Pose::zoom, 0.01, 100, "", view,
                     "magnification; 1: the whole volume fits in every orientation (see fit)")
            .soft(0.1, 20),
        number<Pose>("distance", &Pose::distance, 0, 100, "", view,
                     "distance of the eye from the target; 1: the whole volume is in sight, 0: the eye is at the "
                     "target; no magnification in orthographic views")
            .soft(0, 3),
        numbers<Pose>("target_um", &Pose::target_um, -1e9, 1e9, "um", view,
                      "point that the eye looks at: depth, A-scans, B-scans from the middle of the volume"),
        choice<Pose>("projection", &Pose::projection, {"perspective", "orthographic", "panorama"}, view,
                     "perspective; orthographic, which keeps lengths comparable; panorama: all around the eye, 360 by "
                     "180 degrees (equirectangular), e.g. of twice its height from distance 0"),
        number<Pose>("fov_deg", &Pose::fov_deg, 1, 120, "deg", view,
                     "field of view along the shorter side of the picture at zoom 1, in perspective"),
        number<Pose>("near_um", &Pose::near_um, 0, 1e9, "um", view,
                     "distance from the eye within which nothing is shown, e.g. inside the volume"),
        number<Pose>(
            "eyes_apart", &Pose::eyes_apart, 0, 1, "", view,
            "how far the eyes of a stereo picture are apart, as a part of their distance from the target: 1/30 "
            "is easy to look at; what lies at the target is seen in the plane of the picture")
            .soft(0, 0.1),
    };
    return fields;
}

void check_part(const Pose& pose) {
    if (pose.target_um.size() != 3) {
        throw Error(ErrorCode::bad_setting, "a place has three numbers", "view.target_um", "e.g. [0, 0, 0]");
    }
}

// Azimuth, elevation, roll in degrees.
Angles angles_of(const Pose& pose) {
    switch (pose.look) {
        case Look::free: break;
        case Look::front: return {0, 0, 0};
        case Look::back: return {180, 0, 0};
        case Look::left: return {-90, 0, 0};
        case Look::right: return {90, 0, 0};
        case Look::top: return {0, 90, 0};
        case Look::bottom: return {0, -90, 0};
        case Look::oblique: return {35, 25, 0};
    }
    return {pose.azimuth_deg, pose.elevation_deg, pose.roll_deg};
}

}  // namespace echolux
