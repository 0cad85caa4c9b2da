// A picture all around that gives light, equirectangular: its light, and how looks for it are drawn. Both are the same
// piecewise constant function, so that neither way to find its light misses what the other one sees (M. Pharr et al.,
// "Physically based rendering", 12.5).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "shaders/shared/studio.h"

namespace echolux {

inline constexpr std::int64_t max_sky_columns = 1024;  // a larger picture's texels are averaged

struct SkyPicture {
    std::int64_t columns = 0, rows = 0;
    std::vector<shared::SkyTexel> texels;  // row by row from the zenith
    double mean = 0;                       // luminance, over all directions
};

// Of codes of a display (IEC 61966-2-1), `channels` (1 gray, 3 RGB, 4 RGBA, of which alpha counts nothing) of 8 bits.
// Throws Error{bad_setting} for a picture without pixels.
SkyPicture sky_picture(std::int64_t columns, std::int64_t rows, int channels, std::span<const std::uint8_t> codes);

}  // namespace echolux
