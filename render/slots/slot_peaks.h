// Peaks of a slot's voxels (Places::peaks): maxima of a few successive voxels along depth, stored by the writer of the
// voxels. Bricks are computed from them, so no picture reads a whole volume to find empty regions.
//
// The peaks are always in a device buffer, written by another API or filled from host memory, because shaders never
// read host memory.
#pragma once

#include <optional>

#include "compute/place.h"
#include "render/bricks.h"
#include "render/slots/slot_texture.h"
#include "render/vk/memory.h"

namespace echolux {

class SlotPeaks {
  public:
    // Peaks for a slot's voxels. `bricks` must outlive this object. Throws Error{device} if the device cannot export
    // such memory, Error{out_of_memory}.
    SlotPeaks(const gpu::Device& device, const VolumeGrid& grid, const Bricks& bricks, SlotKind kind);

    // Returns the shared buffer for another API. Not for uploads.
    HandedOver exported(const gpu::Device& device) const;

    // Returns the host memory that the writer fills. Only for uploads.
    Peaks peaks() const;
    std::int64_t depths() const { return depths_; }
    // Size of device and host memory.
    std::int64_t bytes() const { return grid_.bytes() * (staging_ ? 2 : 1); }

    const BrickPeaks& for_bricks() const { return *for_bricks_; }

    // record_fetch() comes before the bricks are built from the new slices [first, end), record_return() after it.
    void record_fetch(const vk::raii::CommandBuffer& commands, std::int64_t first, std::int64_t end) const;
    void record_return(const vk::raii::CommandBuffer& commands) const;

  private:
    vk::Buffer buffer() const { return shared_ ? shared_->handle() : own_->handle(); }

    VolumeGrid grid_;  // of the peaks
    std::int64_t depths_;
    std::optional<gpu::ExportedBuffer> shared_;
    std::optional<gpu::HostBuffer> staging_;
    std::optional<gpu::DeviceBuffer> own_;
    std::optional<BrickPeaks> for_bricks_;
};

}  // namespace echolux
