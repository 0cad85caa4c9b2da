// A sky picture (equirectangular) as light source: its radiance, and the distribution for sampling it. Both are the
// same piecewise constant function, so that both strategies of multiple importance sampling cover the same light (M.
// Pharr et al., "Physically based rendering", 12.5).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "shaders/shared/studio.h"

namespace echolux {

inline constexpr std::int64_t max_sky_columns = 1024;  // larger pictures are averaged

struct SkyPicture {
    std::int64_t columns = 0, rows = 0;
    std::vector<shared::SkyTexel> texels;  // row by row from the zenith
    double mean = 0;                       // mean luminance over all directions
};

// Converts a picture of sRGB codes (IEC 61966-2-1). `channels` of 8 bits each: 1 gray, 3 RGB, 4 RGBA with ignored
// alpha. Throws Error{bad_setting} for a picture without pixels.
SkyPicture sky_picture(std::int64_t columns, std::int64_t rows, int channels, std::span<const std::uint8_t> codes);

}  // namespace echolux
