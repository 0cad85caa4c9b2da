// How light is followed where a picture is traced.
#pragma once

#include <cstdint>
#include <vector>

#include "compute/plan/describe.h"

namespace echolux {

// How light becomes what a display shows: the order of shared::tone_linear and the following.
enum class Tone { linear, reinhard, filmic };

// What gives light beside the sky: view.lamp, or lights of a size of their own that stand around the volume and turn
// with the eye.
enum class Lights { lamp, headlight, three_point, dissection_microscope, own };

inline constexpr std::size_t area_light_numbers = 8;
inline constexpr std::size_t max_area_lights = 6;

struct Tracing {
    std::int64_t paths = 256;
    std::int64_t bounces = 64;
    double scattering = 0.95;
    double anisotropy = 0;
    double roughness = 0.5;
    double sky = 1;
    double lamp_brightness = 4;
    double lamp_size_deg = 8;
    double exposure_ev = 0;
    Tone tone = Tone::reinhard;
    double white_point = 4;
    std::int64_t seed = 0;
    bool denoise = true;
    double noise_target = 1;
    double aperture_um = 0;
    double focus_um = 0;
    bool isosurface = false;
    Lights lights = Lights::lamp;
    std::vector<double> area_lights;

    // Of a movie: each has noise of its own. Whoever makes the movie says it.
    std::uint32_t frame = 0;

    // Of a window: how long a picture takes the place of the one before at rest. Whoever shows it says it; what is
    // saved never fades.
    double cross_fade_s = 0;

    // What paths of a pixel decide first is spread evenly. Not where their noise is compared with that of independent
    // ones.
    bool spreads_paths = true;

    // And as blue noise from pixel to pixel: not where pixels are compared as if each were by itself.
    bool spreads_pixels = true;
};

template <>
const std::vector<Field<Tracing>>& describe<Tracing>();

// What its fields' ranges do not say. Throws Error{bad_setting} naming the key.
void check_part(const Tracing& tracing);

}  // namespace echolux
