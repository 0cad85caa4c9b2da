// Live volumes made by several GPUs in the textures of one: structure, flow and peaks have the bits of a single GPU,
// for every kind of slot and every transfer path between GPUs, and a lost GPU is dropped. One GPU used as two is enough
// for this, because the second copies its voxels as another GPU would.
#include "compute/indexing.h"
#include "flow_scan.h"
#include "shared_slots.h"
#include "tests/oracle/several.h"
#include "tests/support/set_fields.h"

namespace echolux::test {
namespace {

using testing::HasSubstr;

// Changes to a scan with Doppler and a u8 structure.
const std::vector<Variant> settings{
    {"doppler", ""},
    {"one_by_one", "window_depth=1 window_lines=1"},
    {"power_doppler", "flow.method=power_doppler"},
    {"structure", "flow.method=none"},
    {"u16", "flow.method=none voxel=u16"},
    {"f16", "flow.method=none voxel=f16"},
    {"running", "flow.method=none background=running"},
    {"running_doppler", "background=running"},
    {"variance_of_repeats", "b_repeats=3 average=power flow.method=speckle_variance"},
    {"nufft", "flow.method=none resample=nufft"},
    {"bidirectional", "flow.method=none bidirectional=true background=frame_mean"},
};

BackendChoice twice(PeerPath peers) {
    const DeviceId gpu = surveyed_gpus().usable.front().id;
    return {.backend = Backend::cuda, .named_gpus = {gpu, gpu}, .peers = peers};
}

class SeveralGpusLive : public Sharing {
  protected:
    // Returns the content of all slots after more volumes than slots, each with different spectra.
    static std::vector<std::byte> slots_of(const ReconstructionSpec& spec, SlotKind kind,
                                           const BackendChoice& backend) {
        SeenPath seen(spec, kind, backend);
        EXPECT_EQ(seen.path->feeder.kind(), kind) << seen.path->feeder.describe();
        const std::int64_t b_scans = spec.geometry.b_scans, bytes = b_scan_bytes(spec);
        for (std::int64_t volume = 0; volume <= static_cast<std::int64_t>(seen.count); ++volume) {
            const auto spectra = moving_reflectors(spec.geometry.samples,
                                                   b_scans * spec.geometry.b_repeats * spec.geometry.lines_per_b_scan(),
                                                   static_cast<unsigned>(volume));
            for (std::int64_t first = 0; first < b_scans; first += spec.block_b_scans) {
                const std::int64_t count = std::min(spec.block_b_scans, b_scans - first);
                Block block = held_block(bytes_of_lines(spectra).subspan(index(first * bytes), index(count * bytes)),
                                         MemoryKind::pinned, first, count);
                block.volume = volume;
                EXPECT_TRUE(seen.path->feeder.feed(block));
            }
        }
        seen.path->feeder.finish();
        std::vector<std::byte> all;
        const auto add = [&](const VoxelTarget& place) {
            const std::vector<std::byte> voxels = voxels_at(place);
            all.insert(all.end(), voxels.begin(), voxels.end());
        };
        for (std::size_t slot = 0; slot < seen.count; ++slot) {
            const VoxelTargets targets = seen.slots->targets(slot);
            add(targets.structure);
            if (targets.flow) add(*targets.flow);
            EXPECT_TRUE(targets.peaks);
            if (targets.peaks) add(targets.peaks->target);
        }
        return all;
    }
};

TEST_F(SeveralGpusLive, TexturesMatchOneGpu) {
    int tried = 0;
    for (const Variant& setting : settings) {
        for (const SlotKind kind : {SlotKind::surface, SlotKind::buffer}) {
            SCOPED_TRACE(testing::Message() << setting.name << ", kind " << static_cast<int>(kind));
            ReconstructionSpec spec = flow_scan_spec();
            set(spec, setting.assignments);
            spec.block_b_scans = 2;
            const std::vector<std::byte> one = slots_of(spec, kind, on_gpu);
            for (const PeerPath peers : {PeerPath::automatic, PeerPath::through_host}) {
                EXPECT_TRUE(slots_of(spec, kind, twice(peers)) == one) << "way " << static_cast<int>(peers);
                ++tried;
            }
        }
    }
    EXPECT_GE(tried, 40);
}

// All GPUs of this machine, if it has several.
TEST_F(SeveralGpusLive, AllGpusMatchOneGpu) {
    if (surveyed_gpus().usable.size() < 2) GTEST_SKIP() << "there is one GPU";
    for (const Variant& setting : settings) {
        ReconstructionSpec spec = flow_scan_spec();
        set(spec, setting.assignments);
        spec.block_b_scans = 1;
        const std::vector<std::byte> one = slots_of(spec, SlotKind::surface, on_gpu);
        for (const PeerPath peers : {PeerPath::automatic, PeerPath::through_host}) {
            const BackendChoice all{.backend = Backend::cuda, .gpus = 0, .peers = peers};
            EXPECT_TRUE(slots_of(spec, SlotKind::surface, all) == one) << setting.name;
        }
    }
}

TEST_F(SeveralGpusLive, ReportsPathAndTimes) {
    const ReconstructionSpec spec = spec_of({1024, 37, 11, 0, 0}, VoxelType::u8);
    for (const auto& [peers, way] : {std::pair{PeerPath::automatic, "copied from GPU to GPU"},
                                     std::pair{PeerPath::through_host, "through pinned host memory"}}) {
        LivePipeline path(spec, twice(peers), {});
        for (std::int64_t volume = 0; volume < 3; ++volume) feed(path, spec, PinnedSpectra(spec, volume), volume);
        path.feeder.finish();
        feed(path, spec, PinnedSpectra(spec, 3), 3);
        const std::vector<DeviceWork> devices = path.feeder.device_work();
        ASSERT_EQ(devices.size(), 2u);
        EXPECT_EQ(devices[1].transfer_path, way);
        for (const DeviceWork& one : devices) {
            EXPECT_GT(one.blocks, 0);
            EXPECT_GT(one.link_s, 0);
            EXPECT_GT(one.kernels_s, 0);
        }
        EXPECT_GT(devices[1].copy_s, 0);
        EXPECT_GE(devices[1].copied_bytes, devices[1].blocks * 37 * 512);  // a B-scan in bytes, plus its peaks
        if (peers == PeerPath::automatic) {
            EXPECT_EQ(devices[0].copied_bytes, 0);
        }
        EXPECT_THAT(path.feeder.describe(), HasSubstr("2 x cuda ("));
        EXPECT_THAT(path.feeder.describe(), HasSubstr("into textures of"));
    }
}

TEST_F(SeveralGpusLive, ExcludesDeviceLostDuringVolume) {
    const ReconstructionSpec spec = spec_of({512, 37, 11, 0, 0}, VoxelType::u8);
    const auto is_lost = std::make_shared<bool>(false);
    BackendChoice copies = on_gpu;
    copies.peers = PeerPath::copied;
    LivePipelineOptions options;
    options.reconstructor = several({on_gpu, copies}, is_lost);
    LivePipeline path(spec, on_gpu, {}, options);
    feed(path, spec, PinnedSpectra(spec, 0), 0);
    const PinnedSpectra broken(spec, 1);
    ASSERT_TRUE(path.feeder.feed(broken.block(spec, 1, 0, 3)));
    *is_lost = true;
    feed(path, spec, broken, 1);  // starts the volume again and reaches the lost GPU
    for (std::int64_t volume = 2; volume < 8; ++volume) {
        const PinnedSpectra spectra(spec, volume);
        feed(path, spec, spectra, volume);
        const ReadVolume read = path.display.read_volume().value();
        ASSERT_EQ(read.stamp.volume, volume);
        EXPECT_EQ(read.voxels, voxels_in_memory(spec, spectra.samples, on_gpu));
    }
    EXPECT_THAT(path.feeder.describe(), HasSubstr("is not used: lost"));
}

// Filters run on the display's GPU, regardless of the GPU that reconstructs.
TEST_F(SeveralGpusLive, FilteredVolumesMatchOneGpu) {
    LivePipelineOptions options;
    options.tissue.filters = true;
    options.tissue.filter.method = FilterMethod::median;
    const ReconstructionSpec spec = spec_of({512, 61, 11, 0, 0}, VoxelType::u8);
    const auto filtered = [&](const BackendChoice& backend) {
        LivePipeline path(spec, backend, {}, options);
        feed(path, spec, PinnedSpectra(spec, 4), 0);
        path.feeder.finish_tissue(std::chrono::minutes(2));
        return path.display.read_volume().value().voxels;
    };
    const std::vector<std::byte> one = filtered(on_gpu);
    EXPECT_EQ(filtered(twice(PeerPath::automatic)), one);
    EXPECT_EQ(filtered(twice(PeerPath::through_host)), one);
}

}  // namespace
}  // namespace echolux::test
