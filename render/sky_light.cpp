#include "render/sky_light.h"

#include <cstring>

#include "shaders/shared/raycast.h"

namespace echolux {

void SkyLight::bind(gpu::Bindings& bindings, const std::shared_ptr<const SkyPicture>& sky) {
    if (sky != shown_) {
        const std::span<const std::byte> bytes = std::as_bytes(std::span(sky->texels));
        const gpu::HostBuffer staging(device_, bytes.size(), vk::BufferUsageFlagBits::eTransferSrc);
        std::memcpy(staging.bytes().data(), bytes.data(), bytes.size());
        queue_.wait_for_all();  // pending pictures use the old sky
        shown_.reset();
        texels_.emplace(device_, bytes.size(), vk::BufferUsageFlagBits::eStorageBuffer);
        queue_.run([&](const vk::raii::CommandBuffer& commands) {
            texels_->record_copy_from(commands, staging.handle(), 0);
            gpu::record_order(commands);
        });
        shown_ = sky;
    }
    bindings.set_buffer(shared::binding_sky, texels_->handle());
}

}  // namespace echolux
