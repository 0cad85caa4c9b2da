#include "render/view/pose.h"

#include "compute/error.h"

namespace echolux {

template <>
const std::vector<Field<Pose>>& describe<Pose>() {
    constexpr Effect view = Effect::view;
    static const std::vector<Field<Pose>> fields{
        number<Pose>("azimuth_deg", &Pose::azimuth_deg, -3600, 3600, "deg", view,
                     "the eye moves round to the right; 0: A-scans to the right, B-scans away from the eye"),
        number<Pose>("elevation_deg", &Pose::elevation_deg, -3600, 3600, "deg", view,
                     "the eye moves up; 0: depth points down, 90: the en face view"),
        number<Pose>("roll_deg", &Pose::roll_deg, -3600, 3600, "deg", view, "the picture turns clockwise"),
        number<Pose>("zoom", &Pose::zoom, 0.01, 100, "", view, "1: the whole volume fits, however it is turned"),
        number<Pose>(
            "distance", &Pose::distance, 0, 100, "", view,
            "of the eye from the target, in perspective; 1: the whole volume fits, 0: the eye is at the target"),
        numbers<Pose>("target_um", &Pose::target_um, -1e9, 1e9, "um", view,
                      "what the eye is aimed at: depth, A-scans, B-scans from the middle of the volume"),
        choice<Pose>("projection", &Pose::projection, {"perspective", "orthographic"}, view,
                     "orthographic keeps lengths comparable"),
        number<Pose>("fov_deg", &Pose::fov_deg, 1, 120, "deg", view,
                     "angle of the shorter side of the picture at zoom 1, in perspective"),
        number<Pose>("near_um", &Pose::near_um, 0, 1e9, "um", view,
                     "nothing nearer to the eye is seen, e.g. from inside the volume"),
    };
    return fields;
}

void check_part(const Pose& pose) {
    if (pose.target_um.size() != 3) {
        throw Error(ErrorCode::bad_setting, "a place has three numbers", "view.target_um", "e.g. [0, 0, 0]");
    }
}

}  // namespace echolux
