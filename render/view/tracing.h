// How light is followed where a picture is traced.
#pragma once

#include <cstdint>
#include <vector>

#include "compute/plan/describe.h"

namespace echolux {

// How light becomes what a display shows: the order of shared::tone_linear and the following.
enum class Tone { linear, reinhard, filmic };

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
};

template <>
const std::vector<Field<Tracing>>& describe<Tracing>();

}  // namespace echolux
