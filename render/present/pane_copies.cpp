#include "render/present/pane_copies.h"

#include <algorithm>
#include <array>

namespace echolux {
namespace {

constexpr vk::ImageSubresourceLayers whole_image{vk::ImageAspectFlagBits::eColor, 0, 0, 1};

// Source and destination range along one axis.
struct Part {
    std::int64_t from, from_length, to, to_length;
};

// Clips `length` pixels at `begin` to [0, size), along one axis. `pixels` is the size of the source.
std::optional<Part> part_of(std::int64_t begin, std::int64_t length, std::int64_t pixels, std::int64_t size) {
    const std::int64_t first = std::max<std::int64_t>(begin, 0);
    const std::int64_t end = std::min(begin + length, size);
    if (length < 1 || first >= end) return {};
    const std::int64_t from = (first - begin) * pixels / length;
    const std::int64_t from_end = ((end - begin) * pixels + length - 1) / length;
    return Part{from, from_end - from, first, end - first};
}

// Top left and bottom right corner, in the format of blits.
std::array<vk::Offset3D, 2> corners(const Region& region) {
    const auto at = [](std::int64_t x, std::int64_t y, std::int32_t z) {
        return vk::Offset3D{static_cast<std::int32_t>(x), static_cast<std::int32_t>(y), z};
    };
    return {at(region.left, region.top, 0), at(region.left + region.width, region.top + region.height, 1)};
}

}  // namespace

std::optional<PaneCopy> pane_copy(const Region& place, vk::Extent3D picture, vk::Extent3D screen) {
    const auto across = part_of(place.left, place.width, picture.width, screen.width);
    const auto down = part_of(place.top, place.height, picture.height, screen.height);
    if (!across || !down) return {};
    return PaneCopy{{across->from, down->from, across->from_length, down->from_length},
                    {across->to, down->to, across->to_length, down->to_length}};
}

void record_pane(const vk::raii::CommandBuffer& commands, const gpu::DeviceImage& picture, const Region& place,
                 const gpu::DeviceImage& screen) {
    constexpr auto general = vk::ImageLayout::eGeneral;
    const auto copy = pane_copy(place, picture.shape().extent, screen.shape().extent);
    if (!copy) return;
    const auto from = corners(copy->from), to = corners(copy->to);
    if (copy->is_scaled()) {
        commands.blitImage(
            picture.handle(), general, screen.handle(), general,
            vk::ImageBlit{
                .srcSubresource = whole_image, .srcOffsets = from, .dstSubresource = whole_image, .dstOffsets = to},
            vk::Filter::eLinear);
        return;
    }
    commands.copyImage(picture.handle(), general, screen.handle(), general,
                       vk::ImageCopy{.srcSubresource = whole_image,
                                     .srcOffset = from[0],
                                     .dstSubresource = whole_image,
                                     .dstOffset = to[0],
                                     .extent = {static_cast<std::uint32_t>(copy->to.width),
                                                static_cast<std::uint32_t>(copy->to.height), 1}});
}

}  // namespace echolux
