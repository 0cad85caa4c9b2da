#include "render/view/light.h"

#include "compute/error.h"
#include "compute/plan/describe.h"

namespace echolux {

template <>
const std::vector<Field<Light>>& describe<Light>() {
    constexpr Effect view = Effect::view;
    static const std::vector<Field<Light>> fields{
        flag<Light>("lighting", &Light::lighting, view, "shading by the gradient"),
        number<Light>("lighting_strength", &Light::lighting_strength, 0, 1, "", view,
                      "strength of the shading; 0: flat colours"),
        choice<Light>(
            "lamp", &Light::lamp, {"headlight", "free"}, view,
            "headlight: at the eye; free: far away, in the direction of lamp_azimuth_deg and lamp_elevation_deg"),
        number<Light>("lamp_azimuth_deg", &Light::lamp_azimuth_deg, -3600, 3600, "deg", view,
                      "direction of the free lamp, to the right of the eye")
            .soft(-180, 180),
        number<Light>("lamp_elevation_deg", &Light::lamp_elevation_deg, -3600, 3600, "deg", view,
                      "direction of the free lamp, above the eye")
            .soft(-90, 90),
        number<Light>(
            "gradient_radius", &Light::gradient_radius, 0.25, 16, "voxels", view,
            "distance to either side over which the gradient is taken; larger is smoother and loses fine detail"),
        number<Light>("ambient_occlusion", &Light::ambient_occlusion, 0, 1, "", view,
                      "ambient occlusion: how strongly pits and gaps are darkened"),
        number<Light>("shadows", &Light::shadows, 0, 1, "", view,
                      "darkness of the free lamp's soft shadows; those of a headlight are never visible"),
    };
    return fields;
}

// Shadows of a headlight are never visible from the eye.
void check_part(const Light& light) {
    if (light.shadows == 0 || light.lamp == Lamp::free) return;
    throw Error(ErrorCode::bad_setting, "the shadows of a headlight are hidden behind what casts them", "view.shadows",
                "set view.lamp = \"free\", or leave the shadows out");
}

}  // namespace echolux
