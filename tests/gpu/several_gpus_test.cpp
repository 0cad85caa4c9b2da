// Several GPUs return the bits of one, for every path through a block, any block size, and spectra on the host and on
// each GPU. Several reconstructors on one GPU do the same and need no second GPU.
#include "compute/error.h"
#include "compute/indexing.h"
#include "compute/several_devices.h"
#include "compute/voxel_target.h"
#include "tests/gpu/gpu_run.h"
#include "tests/oracle/variants.h"
#include "tests/support/set_fields.h"

namespace echolux {
namespace {

constexpr std::int64_t samples = 1024, a_scans = 9, b_scans = 7;

const std::vector<Variant> variants = variants_and({
    {"frame_mean", ""},
    {"flow", "voxel=u8 centre_wavelength_nm=840 line_rate_hz=70000 flow.method=doppler"},
    {"nufft", "resample=nufft"},
    {"defr", "recipe.method=defr"},
    {"compressive", "recipe.method=compressive mask=uniform compressive.iterations=5"},
});

class SeveralDevicesOfAKind : public GpuTest, public testing::WithParamInterface<Variant> {
  protected:
    ReconstructionSpec spec;
    std::vector<std::uint16_t> spectra;  // of two volumes

    SeveralDevicesOfAKind() {
        set(spec, "a2_rad=12 levels=fixed background=frame_mean k_polynomial=1,980,30");
        spec.geometry = {.samples = samples, .a_scans = a_scans, .b_scans = b_scans, .volumes = 2};
    }

    void SetUp() override {
        GpuTest::SetUp();
        if (IsSkipped()) return;
        set(spec, GetParam().assignments);
        spectra = moving_reflectors(samples, 2 * b_scans * spec.geometry.b_repeats * spec.geometry.lines_per_b_scan());
    }

    // Returns all volumes' structure, followed by their flow if there is any.
    std::vector<std::byte> voxels(const std::vector<DeviceId>& gpus, std::int64_t block_b_scans,
                                  MemoryKind from = MemoryKind::host) const {
        ReconstructionSpec blocks = spec;
        blocks.block_b_scans = block_b_scans;
        std::vector<std::unique_ptr<Reconstructor>> devices;
        for (const DeviceId& gpu : gpus) {
            devices.push_back(make_reconstructor(blocks, {.backend = Backend::cuda, .gpu = gpu}));
        }
        const auto all = over_devices(blocks, std::move(devices));
        const std::int64_t volumes = spec.geometry.volumes, structure = all->grid().bytes();
        const std::int64_t flow = all->flow_grid() ? all->flow_grid()->bytes() : 0;
        std::vector<std::byte> made(index(volumes * (structure + flow)));
        std::vector<Completion> completions;
        for (std::int64_t volume = 0; volume < volumes; ++volume) {
            VoxelTargets targets = place_in(made.data() + volume * structure, all->grid());
            if (flow > 0) targets.flow = place_in(made.data() + volumes * structure + volume * flow, *all->flow_grid());
            for (std::int64_t first = 0; first < b_scans; first += block_b_scans) {
                const std::int64_t count = std::min(block_b_scans, b_scans - first);
                const auto begin = index((volume * b_scans + first) * b_scan_bytes(spec));
                const auto bytes = index(count * b_scan_bytes(spec));
                Block block = held_block(bytes_of_lines(spectra).subspan(begin, bytes), from, first, count);
                block.volume = volume;
                block.sequence = completions.size();
                completions.push_back(all->submit(block, targets));
            }
        }
        for (const Completion completion : completions) all->wait(completion);
        return made;
    }

    static VoxelTarget place_in(std::byte* first, const VolumeGrid& grid) {
        const std::int64_t line = grid.depth * bytes_of(grid.type);
        return {TargetKind::host_linear, first, 0, line, grid.a_scans * line};
    }

    void expect_the_bits_of_one(const std::vector<DeviceId>& gpus) const {
        const auto one = voxels({gpus.front()}, b_scans);
        for (const std::int64_t size : {1, 2, 3}) {
            EXPECT_EQ(voxels(gpus, size), one) << gpus.size() << " devices, blocks of " << size;
            EXPECT_EQ(voxels(gpus, size, MemoryKind::pinned), one) << gpus.size() << ", pinned blocks of " << size;
        }
    }
};

class SeveralOnOneGpu : public SeveralDevicesOfAKind {};
class SeveralGpus : public SeveralDevicesOfAKind {};

TEST_P(SeveralOnOneGpu, MatchOneDevice) {
    const DeviceId gpu = surveyed_gpus().usable.front().id;
    expect_the_bits_of_one({gpu, gpu});
    expect_the_bits_of_one({gpu, gpu, gpu});
}

TEST_P(SeveralGpus, MatchOneGpu) {
    if (surveyed_gpus().usable.size() < 2) GTEST_SKIP() << "there is one GPU";
    std::vector<DeviceId> gpus;
    for (const Gpu& gpu : surveyed_gpus().usable) {
        gpus.push_back(gpu.id);
        if (gpus.size() > 1) expect_the_bits_of_one(gpus);
    }
}

INSTANTIATE_TEST_SUITE_P(Variants, SeveralGpus, testing::ValuesIn(variants),
                         [](const auto& test) { return test.param.name; });
INSTANTIATE_TEST_SUITE_P(Variants, SeveralOnOneGpu, testing::ValuesIn(variants),
                         [](const auto& test) { return test.param.name; });

// Spectra and voxels stay on the GPU that is next in turn; memory of another GPU is refused.
class ResidentOnSeveralGpus : public GpuTest {
  protected:
    ReconstructionSpec spec;

    void SetUp() override {
        GpuTest::SetUp();
        if (!IsSkipped() && surveyed_gpus().usable.size() < 2) GTEST_SKIP() << "there is one GPU";
        set(spec, "levels=fixed voxel=u8");
        spec.geometry = {.samples = samples, .a_scans = a_scans, .b_scans = 2};
    }
};

TEST_F(ResidentOnSeveralGpus, EachUsesSeparateMemory) {
    const auto spectra = moving_reflectors(samples, 2 * a_scans);
    const auto bytes = bytes_of_lines(spectra);
    const auto expected = voxels_of<std::byte>(spec, bytes, {});
    const auto both = make_reconstructor(spec, {.backend = Backend::cuda, .gpus = 2});
    const VolumeGrid& grid = both->grid();
    const std::int64_t b_scan_voxels = grid.a_scans * grid.depth;
    for (std::size_t i = 0; i < 2; ++i) {
        const DeviceId gpu = surveyed_gpus().usable[i].id;
        const BlockMemory raw = device_memory(b_scan_bytes(spec), gpu), made = device_memory(grid.bytes(), gpu);
        const auto first = static_cast<std::int64_t>(i);
        copy_memory(raw.data, bytes.data() + first * b_scan_bytes(spec), b_scan_bytes(spec));
        Block block{
            .data = raw.data, .bytes = raw.bytes, .memory = MemoryKind::device, .first_b_scan = first, .b_scans = 1};
        const VoxelTarget place{TargetKind::device_linear, made.data, 0, grid.depth, b_scan_voxels};
        both->wait(both->submit(block, place));
        std::vector<std::byte> found(index(b_scan_voxels));
        copy_memory(found.data(), made.data + first * b_scan_voxels, b_scan_voxels);
        EXPECT_TRUE(std::equal(found.begin(), found.end(), expected.begin() + first * b_scan_voxels)) << i;
        EXPECT_THROW(both->submit(block, place), Error);  // it is the other GPU's turn
    }
}

}  // namespace
}  // namespace echolux
