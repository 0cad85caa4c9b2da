#include "render/view/studio.h"

#include "compute/error.h"
#include "compute/plan/describe.h"

namespace echolux {
namespace {

// Colours are lists of three numbers; some may be empty for "none".
void check_colour(const std::vector<double>& colour, bool may_be_empty, const char* key) {
    if (colour.size() == 3 || (may_be_empty && colour.empty())) return;
    throw Error(ErrorCode::bad_setting, "a colour has three numbers", key,
                may_be_empty ? "e.g. [0, 0, 0], or [] for none" : "e.g. [0, 0, 0]");
}

}  // namespace

template <>
const std::vector<Field<Studio>>& describe<Studio>() {
    using S = Studio;
    constexpr Effect view = Effect::view;
    static const std::vector<Field<S>> fields{
        text<S>(
            "sky_picture", &S::sky_picture, view,
            "PNG file of a picture all around (equirectangular) that is the sky of a traced picture, view.sky times "
            "as bright; in its middle is what one sees from the volume along the B-scans")
            .file({".png"}),
        number<S>("sky_turn_deg", &S::sky_turn_deg, -3600, 3600, "deg", view,
                  "how far the picture of the sky is turned to the right about the volume")
            .soft(-180, 180),
        numbers<S>("background_lower_colour", &S::background_lower_colour, 0, 1, "", view,
                   "colour of the background at the lower edge, from view.background above; []: the same"),
        number<S>("ground_shadow", &S::ground_shadow, 0, 1, "", view,
                  "darkness of the shadow that the volume throws on the ground below it; 0: there is no ground"),
        number<S>("ground_gap_um", &S::ground_gap_um, 0, 1e9, "um", view,
                  "distance of the ground below the volume, or below what clip_high leaves of its depth")
            .soft(0, 1000),
        choice<S>("caps", &S::caps, {"off", "gray", "curve"}, view,
                  "what is shown of cut faces; off: the volume behind them; gray, curve: a section in gray or in the "
                  "colours of the curve"),
        number<S>(
            "outline", &S::outline, 0, 1, "", view,
            "strength of outlines where surfaces turn away from the eye; they need view.lighting, and are not traced"),
        number<S>("outline_sharpness", &S::outline_sharpness, 0.5, 64, "", view, "thinness of the outlines")
            .soft(1, 16),
        numbers<S>("outline_colour", &S::outline_colour, 0, 1, "", view, "colour of the outlines: red, green, blue"),
        text<S>("title", &S::title, view, "title above the picture, or in its frame (UTF-8)"),
        number<S>("picture_frame", &S::picture_frame, 0, 0.2, "", view,
                  "width of a frame around the picture, in the colour of text, as a fraction of its shorter side; 0: "
                  "none"),
        number<S>(
            "shutter", &S::shutter, 0, 1, "", view,
            "part of the time between two pictures of a movie during which each is exposed, so that what moves is "
            "blurred; 0.5 is usual, 0: nothing is"),
        integer<S>("shutter_pictures", &S::shutter_pictures, 2, 256, "", view,
                   "pictures that are drawn while the shutter is open; traced ones share the paths of one")
            .soft(4, 64),
    };
    return fields;
}

void check_part(const Studio& studio) {
    check_colour(studio.background_lower_colour, true, "view.background_lower_colour");
    check_colour(studio.outline_colour, false, "view.outline_colour");
    if (!studio.sky_picture.empty() && !studio.sky_read) {
        throw Error(ErrorCode::bad_setting, "the file has not been read", "view.sky_picture",
                    "read it with load_transfer");
    }
}

}  // namespace echolux
