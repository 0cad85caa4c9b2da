// A texture of a live ring and what is written in its place: the texture itself, by another API on the same GPU; a
// buffer that this API writes and pictures copy on the device; or host memory that pictures upload.
#pragma once

#include <memory>
#include <optional>

#include "compute/sharing.h"
#include "render/slots/live_slots.h"
#include "render/slots/volume_texture.h"
#include "render/vk/memory.h"

namespace echolux {

// An image that is handed over. The handle travels beside the facts until somebody takes it.
struct HandedOver {
    ExportedImage facts;
    gpu::Handle handle;

    // The caller owns the handle.
    ExportedImage take() {
        facts.handle = handle.release();
        return facts;
    }
};

class SlotTexture {
  public:
    // Throws Error{device} where the device cannot export such memory, Error{bad_setting, out_of_memory}.
    SlotTexture(const gpu::Device& device, const VolumeGrid& grid, const ValueRange& range, SlotKind kind);

    const VolumeTexture& texture() const { return texture_; }

    std::int64_t bytes() const;  // of memory, of the device or the host

    void set_range(const ValueRange& range) { texture_.set_range(range, range); }

    // Of a texture or a buffer: to whom it is handed.
    HandedOver exported(const gpu::Device& device) const;

    // Of host memory: where voxels are written, and that slices [first, end) have been.
    Place place() const;
    void store(std::int64_t first, std::int64_t end) const;

    // Recorded once, before anything else.
    void record_first_use(const vk::raii::CommandBuffer& commands) const;

    // Before the texture is read: slices [first, end) are new to it. And after it was read.
    void record_fetch(const vk::raii::CommandBuffer& commands, std::int64_t first, std::int64_t end) const;
    void record_return(const vk::raii::CommandBuffer& commands) const;

  private:
    SlotKind kind_;
    VolumeTexture texture_;
    std::optional<gpu::ExportedBuffer> buffer_;  // of a buffer
    std::optional<gpu::HostBuffer> staging_;     // of host memory, as the texture stores voxels
    std::unique_ptr<std::byte[]> codes_;         // the 8-bit codes, where the texture stores them in 16 bits
};

}  // namespace echolux
