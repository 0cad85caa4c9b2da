// Two-dimensional histograms for transfer functions over two axes, computed on the device by
// shaders/plane_histogram.comp in parallel with pictures. The host does not wait; it reads back 64 KiB, counted as
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

    // Returns the latest finished histogram. Empty before the first.
    const std::optional<PlaneHistogram>& newest();

    // Returns true if the scene should be counted now: nothing is in flight, and the scene or the second axis has
    // changed.
    bool is_due(const Shot& shot, const TransferFunction& function, const SceneSerials& serials) const;

    // Starts counting the voxels of every counted_stride()-th A-scan as part of `chain`. Requires is_due(), a function
    // with two axes, and a complete scene.
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
    std::vector<std::byte> made_of_;  // print of the input of the last count
    std::uint64_t counts_made_ = 0;
    std::optional<UnderWay> under_way_;
    std::optional<PlaneHistogram> newest_;
};

}  // namespace echolux
