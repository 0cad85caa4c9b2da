// Accumulation of jittered passes: the running mean of all passes as floats, and the description of a pass.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "render/vk/image.h"

namespace echolux {

struct FilteredLight;

// Features of light paths for the denoiser, as means over the paths of each pixel.
struct PathFeatures {
    // Throws Error{out_of_memory}.
    PathFeatures(const gpu::Device& device, vk::Extent3D rays);

    gpu::DeviceImage albedo;   // of the first scattering; alpha: its depth
    gpu::DeviceImage normals;  // at the first scattering, weighted by trust; alpha: sum of squares of all features
    gpu::DeviceImage squares;  // R: squared luminance, G: luminance with alternating sign
    gpu::DeviceImage drawn;    // lines and slices: premultiplied linear display colours
};

// Premultiplied colour and opacity, one element per ray.
struct AccumulationBuffer {
    // Throws Error{out_of_memory}.
    AccumulationBuffer(const gpu::Device& device, std::int64_t columns, std::int64_t rows);
    ~AccumulationBuffer();

    std::int64_t columns() const { return mean.shape().extent.width; }
    std::int64_t rows() const { return mean.shape().extent.height; }

    // Allocates the features. Must precede the first path. Throws Error{out_of_memory}.
    void prepare_features(const gpu::Device& device);

    void record_first_use(const vk::raii::CommandBuffer& commands) const;

    gpu::DeviceImage mean;
    std::optional<PathFeatures> features;     // only with traced passes
    std::unique_ptr<FilteredLight> filtered;  // only if denoised
    bool is_fresh = true;                     // not used by the device yet
};

struct Pass {
    AccumulationBuffer* accumulation = nullptr;  // null: single pass directly to a picture
    std::int64_t number = 0;                     // pass 0 is centred in pixels and steps, the others are jittered
    double pitch = 1;                            // in pixels, between rays
};

// A range of workgroup rows in order of execution, which differs from the order in the picture.
struct GroupRows {
    std::int64_t first = 0;
    std::int64_t end = INT64_MAX;  // clamped to the number of rows
};

}  // namespace echolux
