#include "render/view/tracing.h"

namespace echolux {

template <>
const std::vector<Field<Tracing>>& describe<Tracing>() {
    constexpr Effect view = Effect::view;
    static const std::vector<Field<Tracing>> fields{
        integer<Tracing>("paths", &Tracing::paths, 1, 1'000'000, "paths", view,
                         "paths of light per pixel of a traced picture; four times as many halve its noise")
            .soft(16, 4096),
        integer<Tracing>("bounces", &Tracing::bounces, 0, 65536, "", view,
                         "how often light is scattered in a traced picture at most; fewer are faster and darker; 0: "
                         "without a limit")
            .soft(1, 64),
        number<Tracing>("scattering", &Tracing::scattering, 0, 1, "", view,
                        "share of the light that white tissue scatters instead of absorbing it, in a traced picture"),
        number<Tracing>("anisotropy", &Tracing::anisotropy, -0.99, 0.99, "", view,
                        "mean cosine of the angle of scattering in a traced picture; 0: to all sides, towards 1: "
                        "forwards"),
        number<Tracing>("roughness", &Tracing::roughness, 0.05, 1, "", view,
                        "roughness of surfaces in a traced picture; 0.05: polished, 1: dull"),
        number<Tracing>("sky", &Tracing::sky, 0, 1000, "", view,
                        "brightness of the light from all sides in a traced picture; a white surface under a sky of 1 "
                        "is white")
            .soft(0, 4),
        number<Tracing>("lamp_brightness", &Tracing::lamp_brightness, 0, 1000, "", view,
                        "brightness of the lamp in a traced picture: that of a white surface which faces it")
            .soft(0, 10),
        number<Tracing>("lamp_size_deg", &Tracing::lamp_size_deg, 0, 90, "deg", view,
                        "half of the angle that the lamp of a traced picture fills; larger lamps cast softer shadows")
            .soft(0, 45),
        number<Tracing>("exposure_ev", &Tracing::exposure_ev, -20, 20, "EV", view,
                        "exposure of a traced picture; one more doubles the light")
            .soft(-4, 4),
        choice<Tracing>("tone", &Tracing::tone, {"linear", "reinhard", "filmic"}, view,
                        "tone curve of a traced picture; linear: light above white is cut off; reinhard, filmic: it is "
                        "compressed up to the white point"),
        number<Tracing>("white_point", &Tracing::white_point, 1, 1000, "", view,
                        "light that the tone curve shows as white")
            .soft(1, 16),
        integer<Tracing>("seed", &Tracing::seed, 0, 4294967295, "", view,
                         "seed of the random paths of a traced picture; the same seed gives the same picture"),
    };
    return fields;
}

}  // namespace echolux
