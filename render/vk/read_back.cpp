#include "render/vk/read_back.h"

namespace echolux::gpu {

std::span<const std::byte> ReadBack::pixels(const DeviceImage& image, const Chain& chain) {
    const vk::Extent3D extent = image.shape().extent;
    const auto bytes = static_cast<std::size_t>(image.bytes_per_pixel()) * extent.width * extent.height * extent.depth;
    if (!buffer_ || buffer_->bytes().size() < bytes) {
        buffer_.reset();
        buffer_.emplace(device_, bytes, vk::BufferUsageFlagBits::eTransferDst);
    }
    const auto copy = [&](const vk::raii::CommandBuffer& commands) {
        image.record_copy_to(commands, buffer_->handle());
        const vk::MemoryBarrier2 to_host{.srcStageMask = vk::PipelineStageFlagBits2::eCopy,
                                         .srcAccessMask = vk::AccessFlagBits2::eTransferWrite,
                                         .dstStageMask = vk::PipelineStageFlagBits2::eHost,
                                         .dstAccessMask = vk::AccessFlagBits2::eHostRead};
        commands.pipelineBarrier2({.memoryBarrierCount = 1, .pMemoryBarriers = &to_host});
    };
    queue_.wait(queue_.submit(copy, chain));
    bytes_read_ += static_cast<std::int64_t>(bytes);
    return buffer_->bytes().first(bytes);
}

}  // namespace echolux::gpu
