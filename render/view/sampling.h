// Settings of the sampling along rays and of the number of rays.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "compute/plan/described.h"

namespace echolux {

struct Sampling {
    double step = 1;                 // in units of the smallest voxel edge
    bool skip_empty = true;          // skip empty regions
    bool end_early = true;           // stop rays once they are opaque
    bool adaptive = true;            // longer steps where little is visible
    std::int64_t samples = 1;        // rays per pixel of a saved picture
    std::int64_t rest_samples = 32;  // rays per pixel at rest in a window
    double frame_ms = 33;            // time limit of a picture in motion
};

template <>
const std::vector<Field<Sampling>>& describe<Sampling>();

// Checks what the ranges of the fields do not cover. Throws Error{bad_setting} that names the key.
void check_part(const Sampling& sampling);

}  // namespace echolux
