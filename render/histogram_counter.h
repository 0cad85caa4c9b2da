// Counts on the device how often each value of a volume occurs, by shaders/histogram.comp, beside the pictures and
// without anybody waiting: what comes back is 1 KiB, counted with the statistics.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "render/progressive.h"
#include "render/slots/volume_texture.h"
#include "render/stats.h"
#include "render/vk/memory.h"
#include "render/vk/pipeline.h"
#include "render/vk/queue.h"
#include "render/vk/read_back.h"
#include "shaders/shared/histogram.h"

namespace echolux {

// One A-scan in how many is counted, for volumes of `voxels` voxels: as few as it takes for at most 4 Mi voxels to be
// counted (256 Ki on a processor), which takes a GPU far less than 2 ms; then so many more that they do not all lie in
// the same columns of B-scans that have `a_scans` each.
std::int64_t counted_stride(std::int64_t voxels, std::int64_t a_scans, bool on_processor);

// 256 bins: 8-bit voxels have one for each code, others as many over the range of values that was chosen for the
// volume. What lies outside is counted in the end bins; what is no number not at all, where it was not stored as one of
// the ends.
Histogram empty_histogram(const VolumeTexture& volume);

class HistogramCounter {
  public:
    HistogramCounter(const gpu::Device& device, gpu::Queue& queue, gpu::ReadBack& read_back);

    // The newest count that is finished, of whatever was counted.
    const std::optional<Histogram>& newest();

    // Whether a volume with such serials is to be counted now: nothing is under way, and it was not the last one.
    bool is_due(const SceneSerials& serials) const { return !under_way_ && serials != serials_; }

    // Begins to count boxes of the texture, together as part of `chain`. Only where is_due().
    void count(const VolumeTexture& volume, std::span<const VoxelBox> boxes, const SceneSerials& serials,
               const gpu::Chain& chain = {});

    // The same of flow: how often each speed occurs, either way; of phasors each phase, in radians, from 0.
    void count_speeds(const VolumeTexture& flow, std::span<const VoxelBox> boxes, const SceneSerials& serials,
                      const gpu::Chain& chain = {});

    // What is under way is of something else than what follows.
    void forget() { under_way_.reset(); }

    bool is_under_way() const { return under_way_.has_value(); }

  private:
    struct UnderWay {
        Histogram histogram;
        std::uint64_t value;
    };

    void submit(Histogram histogram, const VolumeTexture& volume, const std::vector<shared::HistogramPart>& parts,
                const SceneSerials& serials, const gpu::Chain& chain);

    const gpu::Device& device_;
    gpu::Queue& queue_;
    gpu::ReadBack& read_back_;
    gpu::DeviceBuffer counts_;
    gpu::HostBuffer counted_;
    gpu::Bindings bindings_;
    vk::raii::Pipeline pipeline_;
    SceneSerials serials_{};
    std::uint64_t counts_made_ = 0;
    std::optional<UnderWay> under_way_;
    std::optional<Histogram> newest_;
};

}  // namespace echolux
