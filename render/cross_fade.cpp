#include "render/cross_fade.h"

#include <algorithm>

namespace echolux {
namespace {

gpu::DeviceImage kept_picture(const gpu::Device& device, vk::Extent3D pixels) {
    return {device,
            {.extent = pixels, .usage = vk::ImageUsageFlagBits::eSampled | vk::ImageUsageFlagBits::eTransferDst},
            "pictures that replace each other"};
}

void record_copy(const vk::raii::CommandBuffer& commands, const gpu::DeviceImage& from, const gpu::DeviceImage& to) {
    constexpr auto general = vk::ImageLayout::eGeneral;
    constexpr vk::ImageSubresourceLayers whole{vk::ImageAspectFlagBits::eColor, 0, 0, 1};
    commands.copyImage(from.handle(), general, to.handle(), general,
                       vk::ImageCopy{.srcSubresource = whole, .dstSubresource = whole, .extent = from.shape().extent});
}

}  // namespace

CrossFade::Images::Images(const gpu::Device& device, vk::Extent3D pixels)
    : from(kept_picture(device, pixels)), to(kept_picture(device, pixels)) {}

void CrossFade::begin(const gpu::DeviceImage& from, const gpu::DeviceImage& to, double now_s) {
    end();
    const vk::Extent3D pixels = from.shape().extent;
    // The images are reused until the size changes.
    if (!images_ || images_->from.shape().extent != pixels) {
        queue_.wait_for_all();  // pending work may read the old pictures
        images_.reset();
        images_.emplace(device_, pixels);
    }
    queue_.submit([&](const vk::raii::CommandBuffer& commands) {
        if (images_->are_fresh) {
            images_->from.record_first_use(commands);
            images_->to.record_first_use(commands);
        }
        record_copy(commands, from, images_->from);
        record_copy(commands, to, images_->to);
    });
    images_->are_fresh = false;
    begun_s_ = now_s;
}

double CrossFade::share(double now_s, double seconds) const {
    return seconds > 0 ? std::clamp((now_s - *begun_s_) / seconds, 0.0, 1.0) : 1;
}

}  // namespace echolux
