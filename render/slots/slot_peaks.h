// The peaks of a slot's voxels (Places::peaks), which whoever writes the voxels stores too: bricks are made of them,
// and no picture reads a volume to find out where it is empty. A buffer on the device in any case: another API writes
// it, or it is filled from host memory, which shaders are never given.
#pragma once

#include <optional>

#include "compute/place.h"
#include "render/bricks.h"
#include "render/slots/slot_texture.h"
#include "render/vk/memory.h"

namespace echolux {

class SlotPeaks {
  public:
    // Of a slot's voxels; the bricks live longer. Throws Error{device} where the device cannot export such memory,
    // Error{out_of_memory}.
    SlotPeaks(const gpu::Device& device, const VolumeGrid& grid, const Bricks& bricks, SlotKind kind);

    // Of a buffer that is shared: to whom it is handed.
    HandedOver exported(const gpu::Device& device) const;

    // In host memory: where they are written.
    Peaks peaks() const;
    std::int64_t depths() const { return depths_; }
    std::int64_t bytes() const { return grid_.bytes() * (staging_ ? 2 : 1); }

    const BrickPeaks& for_bricks() const { return *for_bricks_; }

    // Before bricks are made of them: slices [first, end) are new. And after that.
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
