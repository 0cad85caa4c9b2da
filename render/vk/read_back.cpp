#include "render/vk/read_back.h"

namespace echolux::gpu {

std::span<const std::byte> ReadBack::pixels(const DeviceImage& picture) {
    const vk::Extent3D extent = picture.shape().extent;
    const auto bytes = static_cast<std::size_t>(picture.bytes_per_pixel()) * extent.width * extent.height;
    if (!buffer_ || buffer_->bytes().size() < bytes) {
        buffer_.reset();
        buffer_.emplace(device_, bytes, vk::BufferUsageFlagBits::eTransferDst);
    }
    queue_.run([&](const vk::raii::CommandBuffer& commands) {
        picture.record_copy_to(commands, buffer_->handle());
        const vk::MemoryBarrier2 to_host{.srcStageMask = vk::PipelineStageFlagBits2::eCopy,
                                         .srcAccessMask = vk::AccessFlagBits2::eTransferWrite,
                                         .dstStageMask = vk::PipelineStageFlagBits2::eHost,
                                         .dstAccessMask = vk::AccessFlagBits2::eHostRead};
        commands.pipelineBarrier2({.memoryBarrierCount = 1, .pMemoryBarriers = &to_host});
    });
    bytes_read_ += static_cast<std::int64_t>(bytes);
    return buffer_->bytes().first(bytes);
}

}  // namespace echolux::gpu
