// Takes noise out of traced light, and says how much is left: an edge-avoiding filter that knows from the spread of the
// paths what of a difference between pixels is chance. Shaders: path_variance.comp, denoise.comp, restore.comp,
// noise.comp.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "render/accumulation_buffer.h"
#include "render/view/view.h"
#include "render/vk/image.h"
#include "render/vk/memory.h"
#include "render/vk/pipeline.h"
#include "render/vk/queue.h"
#include "render/vk/read_back.h"
#include "shaders/shared/denoise.h"

namespace echolux {

// How far the filter looks: a rim of so many pixels around a part of a picture makes it as it is in the whole one.
inline constexpr int filter_levels = 2;
inline constexpr std::int64_t filter_reach = 2 * ((1 << filter_levels) - 1) + 1 + shared::restored_over;

// Few paths say nothing of their spread, and of so many the mean is shown as it is.
bool is_filtered(const View& view, std::int64_t paths);

// Whether so many paths are worth asking how noisy they are.
bool is_time_to_judge(const View& view, std::int64_t paths);

// Whether pixels that stand out by chance are taken out before: of fewer paths one cannot tell.
bool hides_fireflies(const View& view, std::int64_t paths);

// What the filter works on, as large as the accumulation buffer that owns it.
struct FilteredLight {
    FilteredLight(const gpu::Device& device, const AccumulationBuffer& accumulation);

    std::array<gpu::DeviceImage, 3> light;  // not filtered, and what is filtered, by turns
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
        const gpu::DeviceImage* image = nullptr;  // premultiplied; until the next call for the same accumulation buffer
        std::uint64_t value = 0;                  // of the queue, when it is there
    };

    // Of the mean of so many paths, as the view wants it shown: filtered or as it is, with its noise. Throws
    // Error{out_of_memory}.
    Light light(AccumulationBuffer& accumulation, const View& view, std::int64_t paths);

    // Of what light() was asked for last and is finished: where it is noisiest, the root of the mean square in steps of
    // 8 bits. Between pictures of different seeds differences are so large.
    double noise(const AccumulationBuffer& accumulation);

    // Of the same: how many pixels were taken out.
    std::int64_t fireflies(const AccumulationBuffer& accumulation);

  private:
    shared::DenoiseFound found(const AccumulationBuffer& accumulation);
    std::uint64_t submit(const gpu::Bindings& bindings, const vk::raii::Pipeline& pipeline,
                         const shared::DenoisePart& part, vk::Extent3D size, int group);

    const gpu::Device& device_;
    gpu::Queue& queue_;
    gpu::ReadBack& read_back_;
    gpu::Bindings layout_;
    vk::raii::Pipeline variance_, level_, restoring_, noise_;
};

}  // namespace echolux
