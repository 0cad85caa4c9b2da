#include "render/slots/slot_texture.h"

#include "render/slots/upload.h"

namespace echolux {

SlotTexture::SlotTexture(const gpu::Device& device, const VolumeGrid& grid, const ValueRange& range, SlotKind kind)
    : kind_(kind),
      texture_(device, grid, range, kind == SlotKind::surface ? gpu::Sharing::exported : gpu::Sharing::none) {
    if (kind == SlotKind::buffer) buffer_.emplace(device, static_cast<std::size_t>(grid.bytes()));
    if (kind != SlotKind::upload) return;
    staging_.emplace(device, static_cast<std::size_t>(grid.voxels() * texture_.image().bytes_per_pixel()),
                     vk::BufferUsageFlagBits::eTransferSrc);
    if (is_widened(texture_)) codes_ = std::make_unique<std::byte[]>(static_cast<std::size_t>(grid.bytes()));
}

// Counts the texture, and the shared buffer, codes and staging buffer if present.
std::int64_t SlotTexture::bytes() const {
    const VolumeGrid& grid = texture_.grid();
    const std::int64_t stored = grid.voxels() * texture_.image().bytes_per_pixel();
    return stored + (buffer_ || codes_ ? grid.bytes() : 0) + (staging_ ? stored : 0);
}

HandedOver SlotTexture::exported(const gpu::Device& device) const {
    const VolumeGrid& grid = texture_.grid();
    return {.facts = {.device = device.id(),
                      .bytes = buffer_ ? buffer_->memory_bytes() : texture_.image().memory_bytes(),
                      .type = grid.type,
                      .depth = grid.depth,
                      .a_scans = grid.a_scans,
                      .b_scans = grid.b_scans,
                      .linear = kind_ == SlotKind::buffer},
            .handle = buffer_ ? buffer_->exported() : texture_.image().exported()};
}

Place SlotTexture::place() const {
    const VolumeGrid& grid = texture_.grid();
    const std::int64_t a_scan = grid.depth * bytes_of(grid.type);
    return {.kind = PlaceKind::host_linear,
            .data = codes_ ? codes_.get() : staging_->bytes().data(),
            .a_scan_bytes = a_scan,
            .b_scan_bytes = a_scan * grid.a_scans};
}

void SlotTexture::store(std::int64_t first, std::int64_t end) const {
    if (!codes_) return;
    const std::int64_t slice = texture_.grid().depth * texture_.grid().a_scans;
    widen(staging_->bytes().subspan(static_cast<std::size_t>(2 * first * slice),
                                    static_cast<std::size_t>(2 * (end - first) * slice)),
          codes_.get() + first * slice);
}

// Clears the texture, because filtering reads beyond the filled slices.
void SlotTexture::record_first_use(const vk::raii::CommandBuffer& commands) const {
    texture_.record_first_use(commands);
    texture_.record_clear(commands);
}

// Vulkan transfers ownership of whole images only, but rolling publishing shares an image: while a picture owns it for
// the filled slices, the other API writes later slices that no picture reads. The specification does not guarantee that
// these writes are kept. They are kept where both APIs use the same layout, as with the general layout: acquire and
// release then move no voxels. Publishing whole volumes does not depend on this.
void SlotTexture::record_fetch(const vk::raii::CommandBuffer& commands, std::int64_t first, std::int64_t end) const {
    if (kind_ == SlotKind::surface) return texture_.image().record_acquire(commands);
    if (buffer_) buffer_->record_acquire(commands);
    if (first < end)
        texture_.record_slices_from(commands, buffer_ ? buffer_->handle() : staging_->handle(), first, end);
}

void SlotTexture::record_return(const vk::raii::CommandBuffer& commands) const {
    if (kind_ == SlotKind::surface) texture_.image().record_release(commands);
    if (buffer_) buffer_->record_release(commands);
}

}  // namespace echolux
