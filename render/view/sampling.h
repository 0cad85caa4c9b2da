// How finely rays are sampled.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "compute/plan/describe.h"

namespace echolux {

struct Sampling {
    double step = 1;
    bool skip_empty = true;
    bool end_early = true;
    bool adaptive = true;
    std::int64_t samples = 1;
    std::int64_t rest_samples = 32;
    double frame_ms = 33;
};

template <>
const std::vector<Field<Sampling>>& describe<Sampling>();

// What its fields' ranges do not say. Throws Error{bad_setting} naming the key.
void check_part(const Sampling& sampling);

}  // namespace echolux
