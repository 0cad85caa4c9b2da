// Compares voxels that CUDA writes into Vulkan textures with the same voxels in plain memory: every type and odd sizes,
// each way of sharing, while pictures are drawn, and over a thousand cycles.
#include <cuda_runtime.h>

#include <array>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <thread>

#include "compute/indexing.h"
#include "flow_scan.h"
#include "shared_slots.h"
#include "sharing.h"

namespace echolux::test {
namespace {

using testing::HasSubstr;

// Like share(), but refuses textures, or textures and buffers.
Sharer refusing(bool buffers_too) {
    return [=](const std::vector<ExportedSlot>& slots, const ExportedTimeline& written, const ExportedTimeline& read) {
        if (!buffers_too && slots.front().structure.linear) return share(slots, written, read);
        close_handles(slots);
        close_handle(written.handle);
        close_handle(read.handle);
        throw Error(ErrorCode::device, "refused for a test", "test");
    };
}

// Returns the number of u8 codes that differ, and the max. difference.
std::pair<std::size_t, int> difference(const std::vector<std::byte>& a, const std::vector<std::byte>& b) {
    std::size_t count = 0;
    int most = 0;
    for (std::size_t i = 0; i < a.size(); ++i) {
        const int off = std::abs(std::to_integer<int>(a[i]) - std::to_integer<int>(b[i]));
        count += off > 0 ? 1 : 0;
        most = std::max(most, off);
    }
    return {count, most};
}

constexpr std::array sizes{Size{512, 1, 1, 0, 0},       Size{512, 37, 11, 0, 0},  Size{1024, 13, 29, 3, 404},
                           Size{2048, 64, 16, 0, 1023}, Size{832, 19, 7, 1, 0},   Size{2049, 5, 3, 0, 0},
                           Size{512, 128, 1, 0, 1},     Size{2048, 100, 20, 0, 0}};

TEST_F(Sharing, TexturesEqualPlainMemory) {
    for (const SlotKind kind : {SlotKind::surface, SlotKind::buffer, SlotKind::upload}) {
        for (const VoxelType type : {VoxelType::u8, VoxelType::u16, VoxelType::f16}) {
            for (const Size& size : sizes) {
                SCOPED_TRACE(testing::Message()
                             << "kind " << static_cast<int>(kind) << ", " << bytes_of(type) << " bytes, "
                             << size.samples << " x " << size.a_scans << " x " << size.b_scans);
                const ReconstructionSpec spec = spec_of(size, type);
                LivePipelineOptions options;
                options.first_kind = kind;
                LivePipeline path(spec, on_gpu, {}, options);
                ASSERT_EQ(path.feeder.kind(), kind) << path.feeder.describe();
                for (std::int64_t volume = 0; volume < 6; ++volume) {  // uses each slot more than once
                    const PinnedSpectra spectra(spec, volume);
                    feed(path, spec, spectra, volume);
                    const ReadVolume read = path.display.read_volume().value();
                    ASSERT_EQ(read.stamp.volume, volume);
                    ASSERT_EQ(read.voxels, voxels_in_memory(spec, spectra.samples, on_gpu));
                    if (type != VoxelType::u8) continue;
                    const auto [count, most] = difference(read.voxels, voxels_in_memory(spec, spectra.samples));
                    EXPECT_LE(count, read.voxels.size() / 10000 + 1);
                    EXPECT_LE(most, 1);
                }
            }
        }
    }
}

TEST_F(Sharing, IsAutomaticAndReported) {
    const ReconstructionSpec spec = spec_of({512, 37, 11, 0, 0}, VoxelType::u8);
    EXPECT_THAT(LivePipeline(spec, {}, {}).feeder.describe(),
                testing::AllOf(HasSubstr("cuda ("), HasSubstr("into textures of")));
}

TEST_F(Sharing, FallsBackToBuffersAndUploads) {
    const ReconstructionSpec spec = spec_of({512, 37, 11, 0, 0}, VoxelType::u8);
    const PinnedSpectra spectra(spec, 1);
    for (const bool buffers_too : {false, true}) {
        LivePipelineOptions options;
        options.share = refusing(buffers_too);
        LivePipeline path(spec, on_gpu, {}, options);
        EXPECT_EQ(path.feeder.kind(), buffers_too ? SlotKind::upload : SlotKind::buffer);
        EXPECT_THAT(path.feeder.describe(), HasSubstr("textures are not shared: refused for a test"));
        feed(path, spec, spectra, 0);
        EXPECT_EQ(path.display.read_volume()->voxels, voxels_in_memory(spec, spectra.samples, on_gpu));
    }
}

TEST_F(Sharing, CpuUploadsToSameGpu) {
    const ReconstructionSpec spec = spec_of({512, 37, 11, 0, 0}, VoxelType::u8);
    const PinnedSpectra spectra(spec, 1);
    LivePipeline path(spec, {.backend = Backend::cpu}, {});
    EXPECT_EQ(path.feeder.kind(), SlotKind::upload);
    feed(path, spec, spectra, 0);
    EXPECT_EQ(path.display.read_volume()->voxels, voxels_in_memory(spec, spectra.samples));
}

// ---- concurrent writing, publishing and drawing ---------------------------------------------------------------------

// Pictures of two volumes, even and odd, joined at every batch: [parity][number of filled batches].
std::vector<std::vector<std::vector<std::uint8_t>>> expected_pictures(const ReconstructionSpec& spec,
                                                                      const std::array<PinnedSpectra, 2>& spectra) {
    const VolumeGrid grid = planned_grid(spec);
    const std::array codes{voxels_in_memory(spec, spectra[0].samples, on_gpu),
                           voxels_in_memory(spec, spectra[1].samples, on_gpu)};
    GpuDevice device;
    device.near = surveyed_gpus().usable.front().id;
    Renderer renderer(device);
    std::vector<std::vector<std::vector<std::uint8_t>>> pictures(2);
    for (std::size_t parity = 0; parity < 2; ++parity) {
        for (std::int64_t to = 0; to <= spec.geometry.b_scans; to += spec.block_b_scans) {
            std::vector<std::byte> joined = codes[1 - parity];
            std::copy_n(codes[parity].begin(), to * grid.bytes() / grid.b_scans, joined.begin());
            renderer.set_volume(grid, joined.data());
            pictures[parity].push_back(renderer.render(from_above(grid)).pixels);
        }
    }
    return pictures;
}

struct Drawn {
    std::int64_t pictures = 0;
    std::int64_t wrong = 0;    // pictures that do not match their stamp
    std::int64_t volumes = 0;  // fed in the meantime
};

constexpr std::int64_t pictures_wanted = 60;
constexpr std::int64_t max_volumes = 100'000;  // limits the time for drawing to some seconds

Drawn draw_while_feeding(const LivePipelineOptions& options, int streams, BackendChoice backend = on_gpu) {
    ReconstructionSpec spec = noise_spec(1024, 128, 64);
    spec.recipe.depth_begin = 16;  // skips the bright mean of the spectra
    spec.block_b_scans = 16;
    const std::array<PinnedSpectra, 2> spectra{PinnedSpectra(spec, 0), PinnedSpectra(spec, 1)};
    const auto expected = expected_pictures(spec, spectra);
    EXPECT_NE(expected[0].back(), expected[1].back());
    backend.streams = streams;
    LivePipeline path(spec, backend, {}, options);
    EXPECT_EQ(path.feeder.kind(), options.first_kind);
    feed(path, spec, spectra[1], 1);  // a previous volume behind the first
    std::atomic<std::int64_t> fed = 1;
    std::jthread feeder([&](const std::stop_token& enough) {
        while (!enough.stop_requested() && fed < max_volumes) {
            const std::int64_t volume = ++fed;
            feed(path, spec, spectra[index(volume % 2)], volume);
        }
        path.feeder.finish();
    });
    std::int64_t last = -1;
    Drawn drawn;
    while (drawn.pictures < pictures_wanted && fed < max_volumes) {
        const std::optional<LivePicture> picture = path.display.picture(from_above(path.feeder.grid()));
        if (!picture) continue;
        EXPECT_GE(picture->stamp.volume, last);
        last = picture->stamp.volume;
        const auto parity = index(last % 2);
        const auto batches = index(picture->filled_to / spec.block_b_scans);
        ++drawn.pictures;
        drawn.wrong += path.display.read(*picture).pixels == expected[parity][batches] ? 0 : 1;
    }
    feeder.request_stop();
    feeder.join();
    drawn.volumes = fed;
    return drawn;
}

void expect_true_pictures(SlotKind kind, Publishing publishing, int streams, const BackendChoice& backend = on_gpu) {
    SCOPED_TRACE(testing::Message() << "kind " << static_cast<int>(kind) << ", " << streams << " streams");
    LivePipelineOptions options{.publishing = publishing, .first_kind = kind};
    const Drawn drawn = draw_while_feeding(options, streams, backend);
    EXPECT_EQ(drawn.pictures, pictures_wanted) << "beside " << drawn.volumes << " volumes";
    EXPECT_EQ(drawn.wrong, 0) << "of " << drawn.pictures;
}

TEST_F(Sharing, PicturesShowWholeVolumesDuringWrites) {
    for (const SlotKind kind : {SlotKind::surface, SlotKind::buffer, SlotKind::upload}) {
        for (const int streams : {1, 3}) expect_true_pictures(kind, Publishing::whole, streams);
    }
}

TEST_F(Sharing, RollingPicturesShowNewSlicesBelowOldOnes) {
    for (const SlotKind kind : {SlotKind::surface, SlotKind::buffer, SlotKind::upload}) {
        expect_true_pictures(kind, Publishing::rolling, 3);
    }
}

// One GPU listed twice, and all others: voxels are copied into textures while these are drawn.
TEST_F(Sharing, PicturesOfSeveralGpusShowWholeVolumesDuringWrites) {
    for (const PeerPath peers : {PeerPath::automatic, PeerPath::through_host}) {
        BackendChoice backend{.backend = Backend::cuda, .peers = peers};
        for (const Gpu& gpu : surveyed_gpus().usable) backend.named_gpus.push_back(gpu.id);
        backend.named_gpus.push_back(backend.named_gpus.front());
        for (const SlotKind kind : {SlotKind::surface, SlotKind::buffer}) {
            expect_true_pictures(kind, Publishing::whole, 3, backend);
            expect_true_pictures(kind, Publishing::rolling, 2, backend);
        }
    }
}

// Writes without waiting for pictures.
class Careless : public SlotWriter {
  public:
    explicit Careless(std::unique_ptr<SlotWriter> slots) : slots_(std::move(slots)) {}

    VoxelTargets targets(std::size_t slot) const override { return slots_->targets(slot); }
    void begin(std::size_t slot, std::uint64_t) override { slots_->begin(slot, 0); }
    void publish(std::size_t slot, std::uint64_t value, std::int64_t first, std::int64_t end) override {
        slots_->publish(slot, value, first, end);
    }
    SettleResult settle(std::chrono::milliseconds timeout) noexcept override { return slots_->settle(timeout); }
    void release_readers(std::uint64_t value) noexcept override { slots_->release_readers(value); }

  private:
    std::unique_ptr<SlotWriter> slots_;
};

// Run by hand: proves that the comparison above detects a GPU that does not wait. Disabled because the race may turn
// out well.
TEST_F(Sharing, DISABLED_WithoutWaitsPicturesAreTorn) {
    LivePipelineOptions options;
    options.slots = 2;
    options.share = [](const auto& slots, const auto& written, const auto& read) -> std::unique_ptr<SlotWriter> {
        return std::make_unique<Careless>(share(slots, written, read));
    };
    const Drawn drawn = draw_while_feeding(options, 3);
    EXPECT_GT(drawn.wrong, 0) << "of " << drawn.pictures;
}

// ---- leaks ----------------------------------------------------------------------------------------------------------

std::ptrdiff_t open_descriptors() {
    return std::distance(std::filesystem::directory_iterator("/proc/self/fd"), {});
}

std::size_t free_device_memory() {
    std::size_t free = 0, total = 0;
    EXPECT_EQ(cudaMemGetInfo(&free, &total), cudaSuccess);
    return free;
}

void start_and_stop(int cycles) {
    const ReconstructionSpec spec = spec_of({1024, 128, 64, 0, 0}, VoxelType::u8);  // 4 MiB per slot
    const PinnedSpectra spectra(spec, 0);
    const auto cycle = [&](SlotKind kind) {
        LivePipelineOptions options;
        options.first_kind = kind;
        LivePipeline path(spec, on_gpu, {}, options);
        feed(path, spec, spectra, 0);
        path.display.picture(from_above(path.feeder.grid()));
        path.feeder.feed(spectra.block(spec, 1, 0, 3));  // stops within a volume, with a picture pending
    };
    for (int i = 0; i < 4; ++i) cycle(i % 2 == 0 ? SlotKind::surface : SlotKind::buffer);  // what drivers keep
    const std::ptrdiff_t descriptors = open_descriptors();
    const std::size_t memory = free_device_memory();
    for (int i = 0; i < cycles; ++i) cycle(i % 4 == 3 ? SlotKind::buffer : SlotKind::surface);
    EXPECT_EQ(open_descriptors(), descriptors);
    EXPECT_GE(free_device_memory() + (16U << 20), memory) << "device memory is gone";
}

TEST_F(Sharing, StartingAndStoppingLeaksNoMemory) {
    start_and_stop(30);
}

TEST_F(Sharing, SlowThousandStartsAndStopsLeakNoMemory) {
    start_and_stop(1000);
}

// ---- structure and flow of a time point -----------------------------------------------------------------------------

TEST_F(Sharing, WritesFlowBesideStructure) {
    for (const SlotKind kind : {SlotKind::surface, SlotKind::buffer}) {
        for (const FlowMethod method : {FlowMethod::doppler, FlowMethod::power_doppler}) {
            SCOPED_TRACE(testing::Message() << "kind " << static_cast<int>(kind) << ", " << static_cast<int>(method));
            ReconstructionSpec spec = flow_scan_spec();
            spec.flow.method = method;
            spec.block_b_scans = 2;
            SeenPath seen(spec, kind);
            ASSERT_EQ(seen.path->feeder.kind(), kind) << seen.path->feeder.describe();
            ASSERT_TRUE(seen.has_flow);
            const auto spectra = drifting_reflectors(spec);
            const auto bytes = bytes_of_lines(spectra);
            const FlowScan expected = flow_scan(spec, bytes, {.block_b_scans = 5});
            const auto flow_bytes = std::as_bytes(std::span(expected.flow));
            for (std::int64_t volume = 0; volume < 6; ++volume) {  // uses each slot more than once
                for (std::int64_t first = 0; first < spec.geometry.b_scans; first += 2) {
                    const std::int64_t count = std::min<std::int64_t>(2, spec.geometry.b_scans - first);
                    Block block =
                        held_block(bytes.subspan(index(first * b_scan_bytes(spec)), index(count * b_scan_bytes(spec))),
                                   MemoryKind::pinned, first, count);
                    block.volume = volume;
                    ASSERT_TRUE(seen.path->feeder.feed(block));
                }
                EXPECT_EQ(seen.path->display.read_volume()->voxels, expected.structure);
            }
            seen.path->feeder.finish();
            const VoxelTargets targets = seen.slots->targets(0);
            ASSERT_TRUE(targets.flow);
            EXPECT_EQ(voxels_at(targets.structure), expected.structure);
            const auto flow = voxels_at(*targets.flow);
            EXPECT_TRUE(std::ranges::equal(flow, flow_bytes));
        }
    }
}

}  // namespace
}  // namespace echolux::test
