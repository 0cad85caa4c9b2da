// Nothing comes back from the device but finished pictures: every Vulkan copy into memory that the host has mapped is
// seen by a layer between the renderer and its driver, whoever records it, and held against what the one read-back
// function counts.
#include <gtest/gtest.h>

#include "render/vk/image.h"
#include "render/vk/memory.h"
#include "render/vk/queue.h"
#include "rendering.h"
#include "tests/vulkan_copies/vulkan_copies.h"
#include "ui/app/bench_scan.h"
#include "ui/app/volume_path.h"

namespace echolux::test {
namespace {

const BenchSize size{256, 24, 12, 4};

View small_view() {
    View view;
    view.width = 64;
    view.height = 48;
    return view;
}

BackendChoice on_the_cpu() {
    BackendChoice choice;
    choice.backend = Backend::cpu;
    return choice;
}

std::int64_t feed_and_draw(VolumePath& path, const BenchSpectra& spectra, std::int64_t volumes) {
    std::int64_t drawn = 0;
    for (std::int64_t volume = 0; volume < volumes; ++volume) {
        for (Block block : spectra.blocks()) {
            block.volume = volume;
            EXPECT_TRUE(path.feed(block));
        }
        const auto picture = path.picture(small_view());
        if (!picture) continue;
        path.wait(*picture);
        ++drawn;
    }
    return drawn;
}

TEST(Copies, DisplayBringsNothingToTheHost) {
    const VulkanCopyLayer layer;
    VolumePath path(bench_plan(size), on_the_cpu(), {});
    const BenchSpectra spectra(size, SampleFormat::u16, MemoryKind::host);
    ASSERT_EQ(feed_and_draw(path, spectra, 20), 20);
    EXPECT_EQ(layer.counted().bytes, 0);
    EXPECT_EQ(layer.counted().copies, 0);
    EXPECT_EQ(layer.counted().storage_buffers, 0);
    EXPECT_EQ(path.bytes_read_back(), 0);
}

TEST(Copies, AllThatComesBackGoesThroughTheOneFunction) {
    const VulkanCopyLayer layer;
    VolumePath path(bench_plan(size), on_the_cpu(), {});
    const BenchSpectra spectra(size, SampleFormat::u16, MemoryKind::host);
    feed_and_draw(path, spectra, 1);
    const auto picture = path.picture(small_view());
    ASSERT_TRUE(picture);
    path.read(*picture);
    EXPECT_EQ(path.bytes_read_back(), 64 * 48 * 4);
    EXPECT_EQ(layer.counted().bytes, path.bytes_read_back());
    path.read_volume();
    EXPECT_GT(path.bytes_read_back(), 64 * 48 * 4 + path.grid().voxels());
    EXPECT_EQ(layer.counted().bytes, path.bytes_read_back());
}

// A copy that nobody counted, made with the renderer's own means.
TEST(Copies, APlantedCopyIsSeen) {
    const VulkanCopyLayer layer;
    const gpu::Device device({});
    gpu::Queue queue(device);
    const gpu::DeviceImage image(
        device, {vk::ImageType::e3D, vk::Format::eR16Unorm, {8, 5, 3}, vk::ImageUsageFlagBits::eTransferSrc},
        "planted");
    const gpu::HostBuffer host(device, 8 * 5 * 3 * 2, vk::BufferUsageFlagBits::eTransferDst);
    queue.run([&](const vk::raii::CommandBuffer& commands) { image.record_first_use(commands); });
    EXPECT_EQ(layer.counted().bytes, 0);
    queue.run([&](const vk::raii::CommandBuffer& commands) { image.record_copy_to(commands, host.handle()); });
    EXPECT_EQ(layer.counted().bytes, 8 * 5 * 3 * 2);
    EXPECT_EQ(layer.counted().copies, 1);
}

TEST(Copies, APlantedBufferThatShadersCouldWriteIsSeen) {
    const VulkanCopyLayer layer;
    const gpu::Device device({});
    const gpu::HostBuffer host(device, 64, vk::BufferUsageFlagBits::eStorageBuffer);
    EXPECT_EQ(layer.counted().storage_buffers, 1);
}

}  // namespace
}  // namespace echolux::test
