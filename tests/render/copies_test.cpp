// Only finished pictures are copied from the device. A layer between the renderer and its driver sees every Vulkan copy
// into host-mapped memory, and its count is compared with that of the only read-back function.
#include <gtest/gtest.h>

#include "app/live/live_pipeline.h"
#include "bench/spectra.h"
#include "render/vk/image.h"
#include "render/vk/memory.h"
#include "render/vk/queue.h"
#include "rendering.h"
#include "tests/vulkan_copies/vulkan_copies.h"

namespace echolux::test {
namespace {

const BenchSize size{256, 24, 12, 4};

View small_view() {
    return sized_view(64, 48);
}

const BackendChoice on_cpu{.backend = Backend::cpu};

std::int64_t feed_and_draw(LivePipeline& path, const BenchSpectra& spectra, std::int64_t volumes) {
    std::int64_t drawn = 0;
    for (std::int64_t volume = 0; volume < volumes; ++volume) {
        for (Block block : spectra.blocks()) {
            block.volume = volume;
            EXPECT_TRUE(path.feeder.feed(block));
        }
        const auto picture = path.display.picture(small_view());
        if (!picture) continue;
        path.display.wait(*picture);
        ++drawn;
    }
    return drawn;
}

TEST(Copies, DisplayCopiesNoDataToHost) {
    const VulkanCopyLayer layer;
    LivePipeline path(chain_spec(size), on_cpu, {});
    const BenchSpectra spectra(size, SampleFormat::u16, MemoryKind::host);
    ASSERT_EQ(feed_and_draw(path, spectra, 20), 20);
    EXPECT_EQ(layer.counted().bytes, 0);
    EXPECT_EQ(layer.counted().copies, 0);
    EXPECT_EQ(layer.counted().shader_targets, 0);
    EXPECT_EQ(path.display.bytes_read_back(), 0);
}

TEST(Copies, ReadBackUsesOneFunction) {
    const VulkanCopyLayer layer;
    LivePipeline path(chain_spec(size), on_cpu, {});
    const BenchSpectra spectra(size, SampleFormat::u16, MemoryKind::host);
    feed_and_draw(path, spectra, 1);
    const auto picture = path.display.picture(small_view());
    ASSERT_TRUE(picture);
    path.display.read(*picture);
    EXPECT_EQ(path.display.bytes_read_back(), 64 * 48 * 4);
    EXPECT_EQ(layer.counted().bytes, path.display.bytes_read_back());
    path.display.read_volume();
    EXPECT_GT(path.display.bytes_read_back(), 64 * 48 * 4 + path.feeder.grid().voxels());
    EXPECT_EQ(layer.counted().bytes, path.display.bytes_read_back());
}

TEST(Copies, PagingCopiesNoDataToHost) {
    const VulkanCopyLayer layer;
    GpuDevice choice;
    choice.volume_limits = {.edge = 32, .pool_bytes = 40 * 18 * 18 * 18 * 2, .page_edge = 16};
    Renderer renderer(choice);
    const VolumeGrid grid = db_grid(96, 80, 64, VoxelType::u16);
    const std::vector<std::byte> codes = voxels(grid, ball(grid, 40));
    renderer.set_volume(voxels_in_memory(grid, codes.data()));
    EXPECT_EQ(layer.counted().bytes, 0);
    View view = small_view();
    for (view.azimuth_deg = 0; view.azimuth_deg < 360; view.azimuth_deg += 90) {
        EXPECT_GT(renderer.render(view).pages.coarse, 0);
    }
    EXPECT_EQ(renderer.bytes_read_back(), 4 * 64 * 48 * 4);
    EXPECT_EQ(layer.counted().bytes, renderer.bytes_read_back());
    EXPECT_EQ(layer.counted().shader_targets, 0);
}

// An uncounted copy, made with the renderer's own functions.
TEST(Copies, PlantedCopyIsSeen) {
    const VulkanCopyLayer layer;
    const gpu::Device device({});
    gpu::Queue queue(device);
    const gpu::DeviceImage image(device,
                                 {vk::ImageType::e3D,
                                  vk::Format::eR16Unorm,
                                  {8, 5, 3},
                                  vk::ImageUsageFlagBits::eTransferSrc | vk::ImageUsageFlagBits::eSampled},
                                 "planted");
    const gpu::HostBuffer host(device, 8 * 5 * 3 * 2, vk::BufferUsageFlagBits::eTransferDst);
    queue.run([&](const vk::raii::CommandBuffer& commands) { image.record_first_use(commands); });
    EXPECT_EQ(layer.counted().bytes, 0);
    queue.run([&](const vk::raii::CommandBuffer& commands) { image.record_copy_to(commands, host.handle()); });
    EXPECT_EQ(layer.counted().bytes, 8 * 5 * 3 * 2);
    EXPECT_EQ(layer.counted().copies, 1);
}

TEST(Copies, DetectsPlantedHostBuffer) {
    const VulkanCopyLayer layer;
    const gpu::Device device({});
    const gpu::HostBuffer host(device, 64, vk::BufferUsageFlagBits::eStorageBuffer);
    EXPECT_EQ(layer.counted().shader_targets, 1);
}

}  // namespace
}  // namespace echolux::test
