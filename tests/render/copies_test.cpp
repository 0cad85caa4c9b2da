// Only finished pictures are copied from the device. A layer between the renderer and its driver sees every Vulkan copy
// into host-mapped memory, and its count is compared with that of the only read-back function.
#include <gtest/gtest.h>

#include <array>
#include <stdexcept>

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
    LivePipeline path(chain_spec(size), on_the_cpu(), {});
    const BenchSpectra spectra(size, SampleFormat::u16, MemoryKind::host);
    ASSERT_EQ(feed_and_draw(path, spectra, 20), 20);
    EXPECT_EQ(layer.counted().bytes, 0);
    EXPECT_EQ(layer.counted().copies, 0);
    EXPECT_EQ(layer.counted().shader_targets, 0);
    EXPECT_EQ(path.display.bytes_read_back(), 0);
}

TEST(Copies, ReadBackUsesOneFunction) {
    const VulkanCopyLayer layer;
    LivePipeline path(chain_spec(size), on_the_cpu(), {});
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

// An image in host-mapped memory. The renderer itself never has one.
class MappedImage {
  public:
    MappedImage(const gpu::Device& device, vk::ImageUsageFlags usage)
        : image_(device.logical(), vk::ImageCreateInfo{.imageType = vk::ImageType::e2D,
                                                       .format = vk::Format::eR8G8B8A8Unorm,
                                                       .extent = {8, 4, 1},
                                                       .mipLevels = 1,
                                                       .arrayLayers = 1,
                                                       .tiling = vk::ImageTiling::eLinear,
                                                       .usage = usage}),
          memory_(
              gpu::allocated(device, image_.getMemoryRequirements(),
                             vk::MemoryPropertyFlagBits::eHostVisible | vk::MemoryPropertyFlagBits::eHostCoherent)) {
        image_.bindMemory(*memory_, 0);
        static_cast<void>(memory_.mapMemory(0, VK_WHOLE_SIZE));
    }

    vk::Image handle() const { return *image_; }

  private:
    vk::raii::Image image_;
    vk::raii::DeviceMemory memory_;
};

void make_usable(const vk::raii::CommandBuffer& commands, vk::Image image) {
    const vk::ImageMemoryBarrier2 barrier{.srcStageMask = vk::PipelineStageFlagBits2::eAllCommands,
                                          .dstStageMask = vk::PipelineStageFlagBits2::eAllCommands,
                                          .dstAccessMask = vk::AccessFlagBits2::eTransferWrite,
                                          .newLayout = vk::ImageLayout::eGeneral,
                                          .srcQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
                                          .dstQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
                                          .image = image,
                                          .subresourceRange = {vk::ImageAspectFlagBits::eColor, 0, 1, 0, 1}};
    commands.pipelineBarrier2({.imageMemoryBarrierCount = 1, .pImageMemoryBarriers = &barrier});
}

// Half of the image, mirrored, with the function of Vulkan 1.3.
TEST(Copies, PlantedBlitIsSeen) {
    const VulkanCopyLayer layer;
    const gpu::Device device({});
    gpu::Queue queue(device);
    const gpu::DeviceImage image(device,
                                 {vk::ImageType::e2D,
                                  vk::Format::eR8G8B8A8Unorm,
                                  {8, 4, 1},
                                  vk::ImageUsageFlagBits::eTransferSrc | vk::ImageUsageFlagBits::eSampled},
                                 "planted");
    const MappedImage host(device, vk::ImageUsageFlagBits::eTransferDst);
    const vk::ImageSubresourceLayers layers{vk::ImageAspectFlagBits::eColor, 0, 0, 1};
    const std::array<vk::Offset3D, 2> from{vk::Offset3D{0, 0, 0}, vk::Offset3D{8, 4, 1}};
    const std::array<vk::Offset3D, 2> to{vk::Offset3D{4, 4, 0}, vk::Offset3D{0, 0, 1}};
    const vk::ImageBlit2 region{
        .srcSubresource = layers, .srcOffsets = from, .dstSubresource = layers, .dstOffsets = to};
    queue.run([&](const vk::raii::CommandBuffer& commands) {
        image.record_first_use(commands);
        make_usable(commands, host.handle());
        commands.blitImage2({.srcImage = image.handle(),
                             .srcImageLayout = vk::ImageLayout::eGeneral,
                             .dstImage = host.handle(),
                             .dstImageLayout = vk::ImageLayout::eGeneral,
                             .regionCount = 1,
                             .pRegions = &region,
                             .filter = vk::Filter::eNearest});
    });
    EXPECT_EQ(layer.counted().bytes, 4 * 4 * 4);
    EXPECT_EQ(layer.counted().copies, 1);
}

TEST(Copies, DetectsPlantedHostBuffer) {
    const VulkanCopyLayer layer;
    const gpu::Device device({});
    const gpu::HostBuffer host(device, 64, vk::BufferUsageFlagBits::eStorageBuffer);
    EXPECT_EQ(layer.counted().shader_targets, 1);
}

// A second layer object in the same process starts at zero, and the first one continues to count.
TEST(Copies, EachLayerObjectCountsFromZero) {
    const auto plant = [] {
        const gpu::Device device({});
        const gpu::HostBuffer host(device, 64, vk::BufferUsageFlagBits::eStorageBuffer);
    };
    const VulkanCopyLayer first;
    EXPECT_THROW(first.counted(), std::runtime_error);  // nothing has used the layer yet
    plant();
    EXPECT_EQ(first.counted().shader_targets, 1);
    const VulkanCopyLayer second;
    EXPECT_THROW(second.counted(), std::runtime_error);
    plant();
    EXPECT_EQ(second.counted().shader_targets, 1);
    EXPECT_EQ(first.counted().shader_targets, 2);
}

}  // namespace
}  // namespace echolux::test
