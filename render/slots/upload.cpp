#include "render/slots/upload.h"

#include <algorithm>
#include <vector>

#include "render/vk/memory.h"

namespace echolux {
namespace {

// Max size of the staging buffer.
constexpr std::int64_t staging_bytes = 64 << 20;
}  // namespace

bool is_widened(const VolumeTexture& texture) {
    return texture.image().bytes_per_pixel() > bytes_of(texture.grid().type);
}

StoredCodes stored_codes(const VolumeTexture& texture) {
    return {texture.grid(), is_widened(texture), texture.range()};
}

void upload(const gpu::Device& device, gpu::Queue& queue, BrickBuilder& builder, const VolumeTexture& texture,
            const VoxelSource& source) {
    const VolumeGrid& grid = texture.grid();
    const StoredCodes storage = stored_codes(texture);
    const std::int64_t slice = grid.depth * grid.a_scans;
    const std::int64_t slice_bytes = slice * texture.image().bytes_per_pixel();
    const std::int64_t max_slices = std::clamp<std::int64_t>(staging_bytes / slice_bytes, 1, grid.b_scans);
    const gpu::HostBuffer staging(device, static_cast<std::size_t>(max_slices * slice_bytes),
                                  vk::BufferUsageFlagBits::eTransferSrc);
    std::vector<std::byte> codes(static_cast<std::size_t>(max_slices * slice * bytes_of(grid.type)));
    queue.run([&](const vk::raii::CommandBuffer& commands) { texture.record_first_use(commands); });
    for (std::int64_t b_scan = 0; b_scan < grid.b_scans; b_scan += max_slices) {
        const std::int64_t slices = std::min(max_slices, grid.b_scans - b_scan);
        source.read({{0, 0, b_scan}, {grid.depth, grid.a_scans, slices}}, codes.data());
        storage.store(codes.data(), slices * slice, staging.bytes().data());
        queue.run([&](const vk::raii::CommandBuffer& commands) {
            texture.image().record_copy_from(commands, staging.handle(), 0, static_cast<std::uint32_t>(b_scan),
                                             static_cast<std::uint32_t>(slices));
        });
    }
    queue.run([&](const vk::raii::CommandBuffer& commands) {
        builder.record(commands, texture.bricks(), {0, grid.b_scans}, BrickEnds::both);
    });
}

}  // namespace echolux
