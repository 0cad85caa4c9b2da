// A texture of a live ring and the memory that its writer fills: the texture itself, written by another API on the same
// GPU; a shared buffer, copied to the texture on the device; or host memory, uploaded by pictures.
#pragma once

#include <memory>
#include <optional>

#include "compute/sharing.h"
#include "render/slots/live_slots.h"
#include "render/slots/volume_texture.h"
#include "render/vk/memory.h"

namespace echolux {

// An exported image. Owns the handle until the receiver takes it.
struct HandedOver {
    ExportedImage facts;
    gpu::Handle handle;

    // Passes ownership of the handle to the caller.
    ExportedImage take() {
        facts.handle = handle.release();
        return facts;
    }
};

class SlotTexture {
  public:
    // Throws Error{device} if the device cannot export such memory, Error{bad_setting, out_of_memory}.
    SlotTexture(const gpu::Device& device, const VolumeGrid& grid, const ValueRange& range, SlotKind kind);

    const VolumeTexture& texture() const { return texture_; }

    std::int64_t bytes() const;  // total of device and host memory

    void set_range(const ValueRange& range) { texture_.set_range(range, range); }

    // Returns the shared texture or buffer for another API. Not for uploads.
    HandedOver exported(const gpu::Device& device) const;

    // Host memory for the voxels. Only for uploads. store() follows the writing of slices [first, end) and converts
    // them to the texture's format.
    Place place() const;
    void store(std::int64_t first, std::int64_t end) const;

    // Recorded once, before any other use.
    void record_first_use(const vk::raii::CommandBuffer& commands) const;

    // record_fetch() comes before the texture is read and copies the new slices [first, end), record_return() comes
    // after the reads.
    void record_fetch(const vk::raii::CommandBuffer& commands, std::int64_t first, std::int64_t end) const;
    void record_return(const vk::raii::CommandBuffer& commands) const;

  private:
    SlotKind kind_;
    VolumeTexture texture_;
    std::optional<gpu::ExportedBuffer> buffer_;  // SlotKind::buffer only
    std::optional<gpu::HostBuffer> staging_;     // SlotKind::upload only, in the texture's format
    std::unique_ptr<std::byte[]> codes_;         // 8-bit codes, for a texture of 16 bits
};

}  // namespace echolux
