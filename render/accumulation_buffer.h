// What passes of jittered rays are collected on: the mean of all passes so far, in floats. And which of them one is.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "render/vk/image.h"

namespace echolux {

struct FilteredLight;

// What paths of light tell beside their light, the mean of a pixel's too.
struct PathFeatures {
    // Throws Error{out_of_memory}.
    PathFeatures(const gpu::Device& device, vk::Extent3D rays);

    gpu::DeviceImage albedo;   // where a path is scattered first; and how deep that is
    gpu::DeviceImage normals;  // there, as long as it is trusted; and the square of all these, and of having been there
    gpu::DeviceImage squares;  // of the luminance; and the luminance, taken off for every other path
    gpu::DeviceImage drawn;    // lines and slices: premultiplied colours of the display, without its gamma
};

// Premultiplied colour and opacity of one ray each.
struct AccumulationBuffer {
    // Throws Error{out_of_memory}.
    AccumulationBuffer(const gpu::Device& device, std::int64_t columns, std::int64_t rows);
    ~AccumulationBuffer();

    std::int64_t columns() const { return mean.shape().extent.width; }
    std::int64_t rows() const { return mean.shape().extent.height; }

    // Before paths are collected. Throws Error{out_of_memory}.
    void prepare_features(const gpu::Device& device);

    void record_first_use(const vk::raii::CommandBuffer& commands) const;

    gpu::DeviceImage mean;
    std::optional<PathFeatures> features;     // where paths were collected
    std::unique_ptr<FilteredLight> filtered;  // where the denoiser was asked
    bool is_fresh = true;                     // has not been used yet
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
