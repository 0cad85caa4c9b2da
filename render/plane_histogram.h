// Counts on the device how often places of the plane of a transfer function over two axes occur in a volume, by
// shaders/plane_histogram.comp, beside the pictures and without anybody waiting: 64 KiB come back, counted with the
// statistics.
#pragma once

#include <optional>
#include <vector>

#include "render/frame/parts.h"
#include "render/histogram_counter.h"

namespace echolux {

class PlaneHistogramCounter {
  public:
    PlaneHistogramCounter(const gpu::Device& device, gpu::Queue& queue, gpu::ReadBack& read_back);

    // The newest count that is finished, of whatever was counted.
    const std::optional<PlaneHistogram>& newest();

    // Whether such a scene is to be counted now: nothing is under way, and something is new, of the scene or of the
    // second axis.
    bool is_due(const Shot& shot, const TransferFunction& function, const SceneSerials& serials) const;

    // Begins to count the voxels of a scene, one A-scan in counted_stride(), as part of `chain`. Only where is_due().
    // `function` has two axes; scenes are whole.
    void count(const Shot& shot, const TransferFunction& function, const SceneSerials& serials,
               const gpu::Chain& chain);

  private:
    struct UnderWay {
        PlaneHistogram histogram;
        std::uint64_t value;
    };

    shared::PlanePart part_of(const Shot& shot, const TransferPlane& plane) const;
    void submit(const Shot& shot, const shared::PlanePart& part, const gpu::Chain& chain);

    const gpu::Device& device_;
    gpu::Queue& queue_;
    gpu::ReadBack& read_back_;
    gpu::DeviceBuffer counts_;
    gpu::HostBuffer counted_;
    gpu::Bindings bindings_;
    vk::raii::Pipeline pipeline_;
    vk::raii::Sampler sampler_;
    gpu::DeviceImage no_heights_;
    std::vector<std::byte> made_of_;
    std::uint64_t counts_made_ = 0;
    std::optional<UnderWay> under_way_;
    std::optional<PlaneHistogram> newest_;
};

}  // namespace echolux
