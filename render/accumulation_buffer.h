// What passes of jittered rays are collected on: the mean of all passes so far, in floats. And which of them one is.
#pragma once

#include <cstdint>

#include "render/vk/image.h"

namespace echolux {

// Premultiplied colour and opacity of one ray each.
struct AccumulationBuffer {
    // Throws Error{out_of_memory}.
    AccumulationBuffer(const gpu::Device& device, std::int64_t columns, std::int64_t rows);

    std::int64_t columns() const { return mean.shape().extent.width; }
    std::int64_t rows() const { return mean.shape().extent.height; }

    gpu::DeviceImage mean;
    bool is_fresh = true;  // has not been used yet
};

struct Pass {
    AccumulationBuffer* accumulation = nullptr;  // nothing: the picture is made in one pass, without
    std::int64_t number = 0;  // the first goes through the middles of pixels and steps, the others beside them
    double pitch = 1;         // pixels from ray to ray
};

// Rows of work groups, in the order in which they are worked through, which is not that of the picture.
struct GroupRows {
    std::int64_t first = 0;
    std::int64_t end = INT64_MAX;  // or fewer, where there are no more
};

}  // namespace echolux
