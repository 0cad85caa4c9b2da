#include "render/view/slices.h"

#include "compute/error.h"
#include "compute/plan/describe.h"
#include "render/view/planes.h"

namespace echolux {
namespace {

constexpr std::size_t max_slices = 4;

}  // namespace

template <>
const std::vector<Field<Slices>>& describe<Slices>() {
    constexpr Effect view = Effect::view;
    constexpr double far = 1e9;
    static const std::vector<Field<Slices>> fields{
        numbers<Slices>("slices", &Slices::slices, -far, far, "", view,
                        "up to four opaque planes inside the volume, four numbers each: a normal along depth, A-scans, "
                        "B-scans, and an offset along it in um from the middle of the volume"),
        flag<Slices>("slices_cut", &Slices::slices_cut, view,
                     "slices are clipped as the volume is; false: they extend through all of it"),
        number<Slices>("planes_opacity", &Slices::planes_opacity, 0, 1, "", view,
                       "opacity of B-scans shown as planes in space (protocols cross and four_slices)"),
        choice<Slices>("slice_colours", &Slices::slice_colours, {"gray", "curve"}, view,
                       "colours of slices, planes and sections: gray from low to high, or those of the volume"),
        choice<Slices>(
            "show", &Slices::show, {"volume", "slice", "en-face"}, view,
            "volume: all of it in space; slice: a section, or a slab of it; en-face: from above, between top "
            "and bottom. Sections show the mean where mode is composite"),
        choice<Slices>("plane", &Slices::plane, {"b-scan", "en-face", "side", "oblique"}, view,
                       "plane of the section: across the B-scans, the depth, the A-scans, or along plane_normal"),
        numbers<Slices>("plane_normal", &Slices::plane_normal, -far, far, "", view,
                        "normal of an oblique section along depth, A-scans, B-scans, pointing away from the eye"),
        number<Slices>("plane_offset_um", &Slices::plane_offset_um, -far, far, "um", view,
                       "position of the section along its normal, from the middle of the volume"),
        number<Slices>("slab_um", &Slices::slab_um, 0, far, "um", view, "thickness of the section; 0: one sample")
            .special(0, "one sample"),
    };
    return fields;
}

void check_part(const Slices& slices) {
    check_planes(slices.slices, max_slices, "view.slices");
    if (slices.plane_normal.size() != 3) {
        throw Error(ErrorCode::bad_setting, "a normal has three numbers", "view.plane_normal", "e.g. [0, 1, 1]");
    }
    std::vector<double> plane = slices.plane_normal;
    plane.push_back(slices.plane_offset_um);
    check_planes(plane, 1, "view.plane_normal");
}

}  // namespace echolux
