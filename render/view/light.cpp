#include "render/view/light.h"

#include "compute/error.h"

namespace echolux {

template <>
const std::vector<Field<Light>>& describe<Light>() {
    constexpr Effect view = Effect::view;
    static const std::vector<Field<Light>> fields{
        flag<Light>("lighting", &Light::lighting, view, "shade by the gradient"),
        number<Light>("lighting_strength", &Light::lighting_strength, 0, 1, "", view, "0: flat colours"),
        choice<Light>("lamp", &Light::lamp, {"headlight", "free"}, view,
                      "headlight: at the eye; free: far away, where the next two say"),
        number<Light>("lamp_azimuth_deg", &Light::lamp_azimuth_deg, -3600, 3600, "deg", view,
                      "the free lamp moves round from the eye to the right")
            .soft(-180, 180),
        number<Light>("lamp_elevation_deg", &Light::lamp_elevation_deg, -3600, 3600, "deg", view,
                      "the free lamp moves up")
            .soft(-90, 90),
        number<Light>("gradient_radius", &Light::gradient_radius, 0.25, 16, "voxels", view,
                      "how far to either side values are compared for the gradient; more: smoother, finer detail lost"),
        number<Light>("ambient_occlusion", &Light::ambient_occlusion, 0, 1, "", view,
                      "how much pits and gaps, which light from around does not get into, are darkened"),
        number<Light>("shadows", &Light::shadows, 0, 1, "", view,
                      "how dark the soft shadows of the free lamp are; a headlight's cannot be seen"),
    };
    return fields;
}

void check_part(const Light& light) {
    if (light.shadows == 0 || light.lamp == Lamp::free) return;
    throw Error(ErrorCode::bad_setting, "a headlight's shadows lie behind what throws them and cannot be seen",
                "view.shadows", "set view.lamp = \"free\", or leave the shadows out");
}

}  // namespace echolux
