// Denoises traced light and estimates the remaining noise. The filter is edge-avoiding and uses the variance of the
// paths to separate noise from real differences between pixels. Shaders: path_variance.comp, denoise.comp,
// restore.comp, noise.comp.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "render/raycaster.h"
#include "render/view/view.h"
#include "render/vk/image.h"
#include "render/vk/memory.h"
#include "render/vk/pipeline.h"
#include "render/vk/queue.h"
#include "render/vk/read_back.h"
#include "shaders/shared/denoise.h"

namespace echolux {

// Radius of the filter in pixels. Parts of a picture need a margin of this width to match the whole.
inline constexpr int filter_levels = 2;
inline constexpr std::int64_t filter_reach = 2 * ((1 << filter_levels) - 1) + 1 + shared::restored_over;

// Returns true if the mean of `paths` paths is filtered. Too few paths have no variance estimate, and many need no
// filter.
bool is_filtered(const View& view, std::int64_t paths);

// Returns true if the noise is to be estimated after this number of paths.
bool is_time_to_judge(const View& view, std::int64_t paths);

// Returns true if fireflies are removed before filtering. Few paths cannot distinguish them.
bool hides_fireflies(const View& view, std::int64_t paths);

// Images and buffers of the filter, in the size of the accumulation buffer that owns them.
struct FilteredLight {
    FilteredLight(const gpu::Device& device, const AccumulationBuffer& accumulation);

    std::array<gpu::DeviceImage, 3> light;  // [0] unfiltered; [1], [2] filter levels in turn
    std::array<gpu::DeviceImage, 3> variances;
    gpu::DeviceBuffer found;
    gpu::HostBuffer read;
    gpu::Bindings of_variance, of_restoring, of_noise, of_raw_noise;
    std::vector<gpu::Bindings> of_levels;
    bool is_fresh = true;
};

class Denoiser {
  public:
    Denoiser(const gpu::Device& device, gpu::Queue& queue, gpu::ReadBack& read_back);

    struct Light {
        // Premultiplied. Valid until the next call for the same accumulation buffer.
        const gpu::DeviceImage* image = nullptr;
        std::uint64_t value = 0;  // queue value of its completion
    };

    // Returns the light for display after `paths` paths, filtered or not depending on the view, and estimates its
    // noise. Throws Error{out_of_memory}.
    Light light(AccumulationBuffer& accumulation, const View& view, std::int64_t paths);

    // Returns the noise of the last result of light(), which must have finished: root mean square of the noisiest tile
    // in steps of 8 bits. Pictures with different seeds differ by this amount.
    double noise(const AccumulationBuffer& accumulation);

    // Returns the number of fireflies that were removed from that result.
    std::int64_t fireflies(const AccumulationBuffer& accumulation);

  private:
    shared::DenoiseResult found(const AccumulationBuffer& accumulation);
    std::uint64_t submit(const gpu::Bindings& bindings, const vk::raii::Pipeline& pipeline,
                         const shared::DenoisePart& part, vk::Extent3D size, std::uint32_t group);

    const gpu::Device& device_;
    gpu::Queue& queue_;
    gpu::ReadBack& read_back_;
    gpu::Bindings layout_;
    vk::raii::Pipeline variance_, level_, restoring_, noise_;
};

}  // namespace echolux
