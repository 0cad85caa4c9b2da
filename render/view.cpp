#include "render/view.h"

#include "compute/error.h"

namespace echolux {

template <>
const std::vector<Field<View>>& describe<View>() {
    constexpr Effect view = Effect::view;
    static const std::vector<Field<View>> fields{
        choice<View>("mode", &View::mode, {"composite", "mip", "isosurface"}, view,
                     "composite: light from all depths; mip: the largest value along each ray; isosurface: where "
                     "isovalue is first reached"),
        number<View>("azimuth_deg", &View::azimuth_deg, -3600, 3600, "deg", view,
                     "the eye moves round to the right; 0: A-scans to the right, B-scans away from the eye"),
        number<View>("elevation_deg", &View::elevation_deg, -3600, 3600, "deg", view,
                     "the eye moves up; 0: depth points down, 90: the en face view"),
        number<View>("roll_deg", &View::roll_deg, -3600, 3600, "deg", view, "the picture turns clockwise"),
        number<View>("zoom", &View::zoom, 0.01, 100, "", view, "1: the whole volume fits, however it is turned"),
        choice<View>("projection", &View::projection, {"perspective", "orthographic"}, view,
                     "orthographic keeps lengths comparable"),
        number<View>("fov_deg", &View::fov_deg, 1, 120, "deg", view,
                     "angle of the shorter side of the picture at zoom 1, in perspective"),
        choice<View>("preset", &View::preset, {"automatic", "oct-gray", "tissue", "retina", "angiogram", "gray"}, view,
                     "colour and opacity; automatic: tissue for dB, gray for all else"),
        number<View>("low", &View::low, lowest_value, highest_value, "value", view,
                     "the preset begins here; -1e12: chosen by the preset (dB above the noise floor) or the volume's "
                     "1st percentile"),
        number<View>("high", &View::high, lowest_value, highest_value, "value", view,
                     "the preset ends here; 1e12: chosen by the preset (dB above the noise floor) or the volume's "
                     "99.9th percentile"),
        number<View>("opacity", &View::opacity, 0, 1000, "", view,
                     "factor on the preset's extinction, which is per length and counted over the volume's depth"),
        number<View>("isovalue", &View::isovalue, lowest_value, highest_value, "value", view,
                     "of the isosurface; 0: half way from low to high"),
        flag<View>("lighting", &View::lighting, view, "shade by the gradient, lamp at the eye"),
        number<View>("lighting_strength", &View::lighting_strength, 0, 1, "", view, "0: flat colours"),
        numbers<View>("background", &View::background, 0, 1, "", view, "red, green, blue"),
        flag<View>("transparent", &View::transparent, view, "no background: the picture gets an alpha channel"),
        flag<View>("box", &View::box, view, "lines along the edges of the volume"),
        integer<View>("width", &View::width, 1, 16384, "pixels", view, "of the picture"),
        integer<View>("height", &View::height, 1, 16384, "pixels", view, "of the picture"),
        number<View>("step", &View::step, 0.05, 10, "voxels", view,
                     "along a ray, in units of the smallest voxel edge; smaller: finer and slower"),
    };
    return fields;
}

void check_view(const View& view) {
    check(view, "view");
    if (view.low >= view.high) {
        throw Error(ErrorCode::bad_setting, "low is not below high", "view.low, view.high",
                    "exchange them, or leave one out to have it chosen");
    }
    if (view.background.size() != 3) {
        throw Error(ErrorCode::bad_setting, "a colour has three numbers", "view.background", "e.g. [0, 0, 0]");
    }
}

}  // namespace echolux
