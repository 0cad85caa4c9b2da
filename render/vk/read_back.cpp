#include "render/vk/read_back.h"

#include <algorithm>
#include <cstring>
#include <exception>
#include <utility>

#include "compute/indexing.h"

namespace echolux::gpu {

// Keeps the host buffer until the copy is complete and its last reader is gone, even if the pixels are never read.
struct PendingPixels::Transfer {
    Transfer(Queue& of, std::unique_ptr<HostBuffer> memory, std::shared_ptr<ReadBack::Spare> back_to)
        : queue(of), buffer(std::move(memory)), spare(std::move(back_to)) {}
    ~Transfer() {
        try {
            queue.wait(value);
        } catch (const std::exception&) {  // a lost device no longer writes
        }
        const std::scoped_lock lock(spare->mutex);
        spare->buffers.push_back(std::move(buffer));
    }
    Transfer(const Transfer&) = delete;
    Transfer& operator=(const Transfer&) = delete;

    Queue& queue;
    std::unique_ptr<HostBuffer> buffer;
    std::shared_ptr<ReadBack::Spare> spare;
    std::size_t bytes = 0;
    std::uint64_t value = 0;  // of the queue's timeline, when the copy is complete
};

std::span<const std::byte> PendingPixels::wait() const {
    transfer_->queue.wait(transfer_->value);
    return transfer_->buffer->bytes().first(transfer_->bytes);
}

// Returns the smallest spare buffer that is large enough. If all are too small, frees the smallest one and allocates.
std::unique_ptr<HostBuffer> ReadBack::buffer_of(std::size_t bytes) {
    const auto size = [](const std::unique_ptr<HostBuffer>& buffer) { return buffer->bytes().size(); };
    {
        const std::scoped_lock lock(spare_->mutex);
        std::vector<std::unique_ptr<HostBuffer>>& buffers = spare_->buffers;
        std::ranges::sort(buffers, {}, size);
        const auto fitting = std::ranges::lower_bound(buffers, bytes, {}, size);
        const auto taken = fitting != buffers.end() ? fitting : buffers.begin();
        if (taken != buffers.end()) {
            std::unique_ptr<HostBuffer> buffer = std::move(*taken);
            buffers.erase(taken);
            if (size(buffer) >= bytes) return buffer;
        }
    }
    return std::make_unique<HostBuffer>(device_, bytes, vk::BufferUsageFlagBits::eTransferDst);
}

PendingPixels ReadBack::begin(const DeviceImage& image, const Chain& chain) {
    const vk::Extent3D extent = image.shape().extent;
    const auto bytes = index(image.bytes_per_pixel()) * extent.width * extent.height * extent.depth;
    const auto transfer = std::make_shared<PendingPixels::Transfer>(queue_, buffer_of(bytes), spare_);
    const auto copy = [&](const vk::raii::CommandBuffer& commands) {
        image.record_copy_to(commands, transfer->buffer->handle());
        record_for_host(commands);
    };
    transfer->bytes = bytes;
    transfer->value = queue_.submit(copy, chain);
    bytes_read_ += static_cast<std::int64_t>(bytes);
    PendingPixels coming;
    coming.transfer_ = transfer;
    return coming;
}

std::span<const std::byte> ReadBack::pixels(const DeviceImage& image, const Chain& chain) {
    last_ = {};  // releases its buffer for reuse
    last_ = begin(image, chain);
    return last_.wait();
}

std::span<const std::byte> ReadBack::statistics(const HostBuffer& buffer) {
    statistics_read_ += std::ssize(buffer.bytes());
    return buffer.bytes();
}

Image image_of(ReadBack& read_back, const DeviceImage& picture) {
    const std::span<const std::byte> pixels = read_back.pixels(picture);
    const vk::Extent3D extent = picture.shape().extent;
    Image image{extent.width, extent.height, std::vector<std::uint8_t>(pixels.size())};
    std::memcpy(image.pixels.data(), pixels.data(), pixels.size());
    return image;
}

}  // namespace echolux::gpu
