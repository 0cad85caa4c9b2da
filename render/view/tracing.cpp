#include "render/view/tracing.h"

#include <algorithm>
#include <span>

#include "compute/error.h"
#include "compute/plan/describe.h"

namespace echolux {

template <>
const std::vector<Field<Tracing>>& describe<Tracing>() {
    constexpr Effect view = Effect::view;
    static const std::vector<Field<Tracing>> fields{
        integer<Tracing>("paths", &Tracing::paths, 1, 1'000'000, "paths", view,
                         "paths of light per pixel of a traced picture at most; four times as many halve its noise")
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
        flag<Tracing>("denoise", &Tracing::denoise, view,
                      "smooth noise away in traced pictures of fewer than 1024 paths, but no edges"),
        number<Tracing>(
            "noise_target", &Tracing::noise_target, 0, 255, "", view,
            "noise at which a traced picture is finished before all its paths, in steps of 8 bits; 0: never")
            .soft(0.5, 8),
        number<Tracing>("aperture_um", &Tracing::aperture_um, 0, 1e9, "um", view,
                        "diameter of the lens through which a traced picture is seen; larger ones blur what is out of "
                        "focus; 0: all is sharp")
            .soft(0, 2000),
        number<Tracing>("focus_um", &Tracing::focus_um, -1e9, 1e9, "um", view,
                        "how far behind the target the lens of a traced picture is focused; negative: before it")
            .soft(-2000, 2000),
        flag<Tracing>(
            "isosurface", &Tracing::isosurface, view,
            "in a traced picture, what reaches view.isovalue is a solid that no light passes, in the body that "
            "the curve shows; view.opacity = 0: without the body"),
        choice<Tracing>("lights", &Tracing::lights,
                        {"lamp", "headlight", "three-point", "dissection-microscope", "own"}, view,
                        "what lights a traced picture beside the sky: lamp: as view.lamp says; headlight: a disc about "
                        "the eye; three-point: key, fill and back light; dissection-microscope: two goosenecks and a "
                        "disc about the eye; own: view.area_lights, if any. All but lamp turn with the eye"),
        numbers<Tracing>(
            "area_lights", &Tracing::area_lights, -1e6, 1e6, "", view,
            "up to six lights of a traced picture, eight numbers each: degrees to the right of the eye and "
            "above it; distance from the middle of the volume, width and height in halves of the volume's diagonal "
            "(height 0: a disc); red, green, blue: as bright as a white surface in the middle that faces "
            "it, times view.lamp_brightness"),
    };
    return fields;
}

// Lights outside the volume only, with a minimal size: sampling them requires a finite distance and area.
void check_part(const Tracing& tracing) {
    constexpr const char* key = "view.area_lights";
    constexpr double max_distance = 1e6, min_size = 0.001;
    const std::vector<double>& numbers = tracing.area_lights;
    if (numbers.size() % area_light_numbers != 0 || numbers.size() > max_area_lights * area_light_numbers) {
        throw Error(ErrorCode::bad_setting, "up to six lights have eight numbers each", key,
                    "give direction (2), distance, width, height, and red, green, blue");
    }
    for (std::size_t i = 0; i < numbers.size(); i += area_light_numbers) {
        const double distance = numbers[i + 2], width = numbers[i + 3], height = numbers[i + 4];
        if (!(distance > 1 && distance <= max_distance)) {
            throw Error(ErrorCode::bad_setting, "a light stands inside the volume, or too far away", key,
                        "set its distance above 1, half of the volume's diagonal, and at most to 1e6");
        }
        if (!(width >= min_size) || (height != 0 && !(height >= min_size))) {
            throw Error(ErrorCode::bad_setting, "a light has no size", key,
                        "set its width, and a height other than 0, to 0.001 or more");
        }
        const auto colour = std::span(numbers).subspan(i + 5, 3);
        if (std::ranges::any_of(colour, [](double part) { return part < 0; })) {
            throw Error(ErrorCode::bad_setting, "a light takes light away", key, "set its colours to 0 or more");
        }
    }
}

}  // namespace echolux
