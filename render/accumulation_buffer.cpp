#include "render/accumulation_buffer.h"

#include <fmt/format.h>

namespace echolux {

AccumulationBuffer::AccumulationBuffer(const gpu::Device& device, std::int64_t columns, std::int64_t rows)
    : mean(device,
           {.type = vk::ImageType::e2D,
            .format = vk::Format::eR32G32B32A32Sfloat,
            .extent = {static_cast<std::uint32_t>(columns), static_cast<std::uint32_t>(rows), 1},
            .usage = vk::ImageUsageFlagBits::eStorage | vk::ImageUsageFlagBits::eSampled |
                     vk::ImageUsageFlagBits::eTransferSrc},
           fmt::format("passes of a picture of {} x {} rays", columns, rows)) {}

}  // namespace echolux
