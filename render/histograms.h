// Histograms of volumes over one axis, and over two for transfer functions. Computed on the device in parallel with
// pictures. The host does not wait; it reads back 1 KiB or 64 KiB per histogram, counted as statistics.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "render/picture.h"
#include "render/progressive.h"
#include "render/raycast_frame.h"
#include "render/slots/volume_texture.h"
#include "render/vk/memory.h"
#include "render/vk/pipeline.h"
#include "render/vk/queue.h"
#include "render/vk/read_back.h"
#include "shaders/shared/histogram.h"

namespace echolux {

// Returns n such that every n-th A-scan is counted in a volume of `voxels` voxels. At most 4 Mi voxels are counted,
// which takes a GPU far less than 2 ms, or 256 Ki on software Vulkan. The stride is coprime to `a_scans`, so that the
// counted columns differ between B-scans.
std::int64_t counted_stride(std::int64_t voxels, std::int64_t a_scans, bool on_processor);

// Returns the bins for a volume: 256, one per code for 8-bit voxels, else over the volume's range. Values outside are
// counted in the first or last bin. NaN is not counted, unless it was stored as one of the ends.
Histogram empty_histogram(const VolumeTexture& volume);

// Counts that a shader adds up on the device, at most one in flight. Result: Histogram or PlaneHistogram.
template <class Result>
class DeviceCounts {
  public:
    // Returns the latest finished histogram. Empty before the first.
    const std::optional<Result>& newest();

  protected:
    using Words = std::span<const std::uint32_t>;

    struct CountInFlight {
        Result histogram;
        std::uint64_t value;
    };

    // `binding`: of the counts in the shader.
    DeviceCounts(const gpu::Device& device, gpu::Queue& queue, gpu::ReadBack& read_back, std::size_t bins,
                 std::span<const vk::DescriptorType> types, std::uint32_t push_bytes, Words spirv,
                 std::uint32_t binding);

    // Clears the counts, dispatches one pass per part, and copies the counts to the host.
    template <class Part>
    void submit(Result histogram, std::span<const Part> parts, const gpu::Chain& chain);

    const gpu::Device& device_;
    gpu::Queue& queue_;
    gpu::ReadBack& read_back_;
    gpu::DeviceBuffer counts_;
    gpu::HostBuffer counted_;
    gpu::Bindings bindings_;
    vk::raii::Pipeline pipeline_;
    std::uint64_t counts_made_ = 0;
    std::optional<CountInFlight> in_flight_;
    std::optional<Result> newest_;
};

class HistogramCounter : public DeviceCounts<Histogram> {
  public:
    HistogramCounter(const gpu::Device& device, gpu::Queue& queue, gpu::ReadBack& read_back);

    // Returns true if a volume with these serials should be counted now: nothing is in flight and it was not the last
    // one.
    bool is_due(const SceneSerials& serials) const { return !in_flight_ && serials != serials_; }

    // Starts counting boxes of the texture as part of `chain`. Requires is_due().
    void count(const VolumeTexture& volume, std::span<const VoxelBox> boxes, const SceneSerials& serials,
               const gpu::Chain& chain = {});

    // Starts counting the absolute speeds of flow. For phasors: absolute phases in radians.
    void count_speeds(const VolumeTexture& flow, std::span<const VoxelBox> boxes, const SceneSerials& serials,
                      const gpu::Chain& chain = {});

    // Discards the histogram in flight, because the next one is of another kind.
    void forget() { in_flight_.reset(); }

    bool is_running() const { return in_flight_.has_value(); }

  private:
    SceneSerials serials_{};
};

// ---- Two-dimensional histograms for transfer functions over two axes, computed by shaders/plane_histogram.comp.

class PlaneHistogramCounter : public DeviceCounts<PlaneHistogram> {
  public:
    PlaneHistogramCounter(const gpu::Device& device, gpu::Queue& queue, gpu::ReadBack& read_back);

    // Returns true if the scene should be counted now: nothing is in flight, and the scene or the second axis has
    // changed.
    bool is_due(const Shot& shot, const TransferFunction& function, const SceneSerials& serials) const;

    // Starts counting the voxels of every counted_stride()-th A-scan as part of `chain`. Requires is_due(), a function
    // with two axes, and a complete scene.
    void count(const Shot& shot, const TransferFunction& function, const SceneSerials& serials,
               const gpu::Chain& chain);

  private:
    shared::PlanePart part_of(const Shot& shot, const TransferPlane& plane) const;

    vk::raii::Sampler sampler_;
    gpu::DeviceImage no_heights_;
    std::vector<std::byte> made_of_;  // print of the input of the last count
};

}  // namespace echolux
