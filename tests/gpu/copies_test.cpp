// Nothing is copied to the host between spectra in pinned memory and finished pictures. CUDA's copies are seen by CUPTI
// records, Vulkan's by a layer. Planted copies prove that both work. robustness_test.cpp checks that kernels reject
// host memory as their target; tests/render/copies_test.cpp checks the layer without a GPU.
#include "app/live/live_pipeline.h"
#include "bench/spectra.h"
#include "tests/gpu/copy_recorder.h"
#include "tests/gpu/gpu_run.h"
#include "tests/support/set_fields.h"
#include "tests/vulkan_copies/vulkan_copies.h"

namespace echolux::test {
namespace {

constexpr std::int64_t volumes = 20;
constexpr std::int64_t statistics_bytes = 64 << 10;  // allowed per frame

class CopiesOnGpu : public GpuTest {
  protected:
    const BenchSize size{2048, 64, 64, 32};  // blocks too large to be read in place by kernels
    std::unique_ptr<LivePipeline> path;
    std::unique_ptr<BenchSpectra> spectra;

    void SetUp() override {
        GpuTest::SetUp();
        if (IsSkipped()) return;
        spectra = std::make_unique<BenchSpectra>(size, SampleFormat::u16, MemoryKind::pinned);
    }

    // False if this machine supports no such path.
    bool makes_a_path() {
        path = std::make_unique<LivePipeline>(chain_spec(size), BackendChoice{.backend = Backend::cuda}, GpuDevice{});
        return path->feeder.kind() != SlotKind::upload;
    }

    void feed_and_draw(std::int64_t count) {
        View view = with(View{}, "width=640 height=360");
        for (std::int64_t i = 0; i < count; ++i, ++fed_) {
            for (Block block : spectra->blocks()) {
                block.volume = fed_;
                ASSERT_TRUE(path->feeder.feed(block));
            }
            picture = path->display.picture(view);
            ASSERT_TRUE(picture);
            path->display.wait(*picture);
        }
        path->feeder.finish();
    }

    std::optional<LivePicture> picture;

  private:
    std::int64_t fed_ = 0;
};

TEST_F(CopiesOnGpu, CuptiRecordsEveryCopyToHost) {
    const OnDevice device(1 << 16);
    std::vector<std::byte> pageable(1 << 16);
    const BlockMemory pinned = block_memory(1 << 16);
    cudaArray_t array = nullptr;
    const cudaChannelFormatDesc texel = cudaCreateChannelDesc<unsigned char>();
    ASSERT_EQ(cudaSuccess, cudaMalloc3DArray(&array, &texel, make_cudaExtent(64, 8, 4), cudaArraySurfaceLoadStore));

    const CopyRecorder recorder;
    EXPECT_EQ(recorder.recorded().to_host_bytes, 0);
    ASSERT_EQ(cudaSuccess, cudaMemcpy(pageable.data(), device.data(), 12345, cudaMemcpyDefault));
    EXPECT_EQ(recorder.recorded().to_host_bytes, 12345);
    ASSERT_EQ(cudaSuccess, cudaMemcpyAsync(pinned.data, device.data(), 4096, cudaMemcpyDeviceToHost));
    EXPECT_EQ(recorder.recorded().to_host_bytes, 12345 + 4096);
    cudaMemcpy3DParms copy{};
    copy.srcArray = array;
    copy.dstPtr = make_cudaPitchedPtr(pageable.data(), 64, 64, 8);
    copy.extent = make_cudaExtent(64, 8, 4);
    copy.kind = cudaMemcpyDeviceToHost;
    ASSERT_EQ(cudaSuccess, cudaMemcpy3D(&copy));
    EXPECT_EQ(recorder.recorded().to_host_bytes, 12345 + 4096 + 64 * 8 * 4);
    ASSERT_EQ(cudaSuccess, cudaMemcpy(device.data(), pageable.data(), 777, cudaMemcpyDefault));
    EXPECT_EQ(recorder.recorded().to_host_bytes, 12345 + 4096 + 64 * 8 * 4);
    EXPECT_EQ(recorder.recorded().to_device_bytes, 777);
    EXPECT_EQ(recorder.recorded().lost_records, 0);
    cudaFreeArray(array);
}

TEST_F(CopiesOnGpu, DisplayCopiesNoDataToHost) {
    if (!makes_a_path()) GTEST_SKIP() << path->feeder.describe();
    feed_and_draw(2);
    const CopyRecorder recorder;
    feed_and_draw(volumes);
    const RecordedCopies copies = recorder.recorded();
    EXPECT_EQ(copies.lost_records, 0);
    EXPECT_GE(copies.to_device_bytes, volumes * spectra->bytes()) << "the recorder is blind";
    EXPECT_EQ(copies.to_host_bytes, 0) << "at most " << statistics_bytes
                                       << " a frame would be statistics, there are none";
    EXPECT_EQ(path->display.bytes_read_back(), 0);
}

TEST_F(CopiesOnGpu, DetectsCopyPlantedInDisplayPath) {
    if (!makes_a_path()) GTEST_SKIP() << path->feeder.describe();
    const OnDevice device(4096);
    std::vector<std::byte> host(4096);
    const CopyRecorder recorder;
    feed_and_draw(2);
    ASSERT_EQ(cudaSuccess, cudaMemcpy(host.data(), device.data(), 4096, cudaMemcpyDeviceToHost));
    feed_and_draw(2);
    EXPECT_EQ(recorder.recorded().to_host_bytes, 4096);
}

TEST_F(CopiesOnGpu, VulkanCopiesOnlyPicturesToHost) {
    const VulkanCopyLayer layer;
    if (!makes_a_path()) GTEST_SKIP() << path->feeder.describe();
    feed_and_draw(volumes);
    EXPECT_EQ(layer.counted().bytes, 0);
    EXPECT_EQ(layer.counted().copies, 0);
    EXPECT_EQ(layer.counted().shader_targets, 0);
    EXPECT_EQ(path->display.bytes_read_back(), 0);
    path->display.read(*picture);
    EXPECT_EQ(path->display.bytes_read_back(), 640 * 360 * 4);
    EXPECT_EQ(layer.counted().bytes, path->display.bytes_read_back());
    path->display.read_volume();  // the planted copy: voxels, read by the renderer
    EXPECT_GE(layer.counted().bytes, 640 * 360 * 4 + path->feeder.grid().bytes());
    EXPECT_EQ(layer.counted().bytes, path->display.bytes_read_back());
    path.reset();  // while the layer still exists
}

}  // namespace
}  // namespace echolux::test
