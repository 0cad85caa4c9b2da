#include "render/flow_colours.h"

#include <array>
#include <cmath>
#include <cstring>

#include "render/colour_maps.h"
#include "render/vk/memory.h"
#include "shaders/shared/flow.h"

namespace echolux {

gpu::DeviceImage flow_colours(const gpu::Device& device, gpu::Queue& queue, const std::string& name) {
    const ColourMap map = colour_map(name);
    constexpr std::size_t entries = shared::flow_colour_entries;
    std::array<std::array<std::uint8_t, 4>, entries> colours{};
    for (std::size_t i = 0; i < entries; ++i) {
        const glm::dvec3 colour = colour_at(map, static_cast<double>(i) / (entries - 1));
        for (int channel = 0; channel < 3; ++channel) {
            colours[i][static_cast<std::size_t>(channel)] =
                static_cast<std::uint8_t>(std::lround(255 * colour[channel]));
        }
    }
    gpu::DeviceImage image(device,
                           {.type = vk::ImageType::e1D,
                            .format = vk::Format::eR8G8B8A8Unorm,
                            .extent = {static_cast<std::uint32_t>(entries), 1, 1},
                            .usage = vk::ImageUsageFlagBits::eSampled | vk::ImageUsageFlagBits::eTransferDst},
                           "colours of flow");
    const gpu::HostBuffer staging(device, sizeof colours, vk::BufferUsageFlagBits::eTransferSrc);
    std::memcpy(staging.bytes().data(), colours.data(), sizeof colours);
    queue.run([&](const vk::raii::CommandBuffer& commands) {
        image.record_first_use(commands);
        image.record_copy_from(commands, staging.handle(), 0);
    });
    return image;
}

}  // namespace echolux
