// Settings of path tracing.
#pragma once

#include <cstdint>
#include <vector>

#include "compute/plan/described.h"

namespace echolux {

// Tone curves, in the order of shared::tone_linear and the following constants.
enum class Tone { linear, reinhard, filmic };

// Light sources besides the sky: view.lamp, or area lights around the volume that turn with the eye.
enum class Lights { lamp, headlight, three_point, dissection_microscope, own };

// Numbers per light: azimuth, elevation, distance, width, height, red, green, blue.
inline constexpr std::size_t area_light_numbers = 8;
inline constexpr std::size_t max_area_lights = 6;

struct Tracing {
    std::int64_t paths = 256;   // max per pixel
    std::int64_t bounces = 64;  // max per path; 0: unlimited
    double scattering = 0.95;   // albedo of white tissue
    double anisotropy = 0;      // mean cosine of the scattering angle
    double roughness = 0.5;
    double sky = 1;
    double lamp_brightness = 4;
    double lamp_size_deg = 8;
    double exposure_ev = 0;
    Tone tone = Tone::reinhard;
    double white_point = 4;  // luminance that the tone curve maps to white
    std::int64_t seed = 0;
    bool denoise = true;
    double noise_target = 1;  // in steps of 8 bits; ends early once reached, 0: never
    double aperture_um = 0;   // lens diameter
    double focus_um = 0;      // behind the target
    bool isosurface = false;
    Lights lights = Lights::lamp;
    std::vector<double> area_lights;  // area_light_numbers per light

    // Number of the movie's frame, which selects its random numbers. Set by the movie writer.
    std::uint32_t frame = 0;

    // Duration of the cross-fade from the previous picture at rest. Set by the window; saved pictures never fade.
    double cross_fade_s = 0;

    // Stratifies the first random decisions of the paths of a pixel. Off to compare the noise with that of independent
    // paths.
    bool spreads_paths = true;

    // Also distributes them as blue noise over the pixels. Off to compare pixels that must be independent.
    bool spreads_pixels = true;
};

template <>
const std::vector<Field<Tracing>>& describe<Tracing>();

// Checks what the ranges of the fields do not cover. Throws Error{bad_setting} that names the key.
void check_part(const Tracing& tracing);

}  // namespace echolux
