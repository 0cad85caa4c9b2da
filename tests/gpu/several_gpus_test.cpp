// Several GPUs give the bits of one: every way through a block, any block size, spectra of the host and of each GPU.
#include "compute/device_memory.h"
#include "compute/error.h"
#include "tests/gpu/gpu_run.h"
#include "tests/oracle/variants.h"

namespace echolux {
namespace {

constexpr std::int64_t samples = 1024, a_scans = 9, b_scans = 7;

const std::vector<Variant> variants = variants_and({{"frame_mean", [](ReconstructionPlan&) {}}});

class SeveralGpus : public GpuTest, public testing::WithParamInterface<Variant> {
  protected:
    ReconstructionPlan plan;
    std::vector<std::uint16_t> spectra;  // of two volumes

    SeveralGpus() {
        plan.geometry = {.samples = samples, .a_scans = a_scans, .b_scans = b_scans, .volumes = 2};
        plan.recipe.a2_rad = 12;
        plan.recipe.levels = Levels::fixed;
        plan.recipe.background = Background::frame_mean;
        plan.calibration.k_polynomial = {1, 980, 30};
    }

    void SetUp() override {
        GpuTest::SetUp();
        if (IsSkipped()) return;
        if (surveyed_gpus().usable.size() < 2) GTEST_SKIP() << "there is one GPU";
        GetParam().choose(plan);
        spectra = moving_reflectors(samples, 2 * b_scans * plan.geometry.b_repeats * plan.geometry.lines_per_b_scan());
    }

    std::vector<std::byte> voxels(int gpus, std::int64_t block_b_scans, MemoryKind from = MemoryKind::host) const {
        GpuRun run{.block_b_scans = block_b_scans, .from = from};
        run.choice.gpus = gpus;
        return voxels_of<std::byte>(plan, bytes_of_lines(spectra), run);
    }
};

TEST_P(SeveralGpus, GiveTheBitsOfOne) {
    const auto one = voxels(1, b_scans);
    for (int gpus = 2; gpus <= static_cast<int>(surveyed_gpus().usable.size()); ++gpus) {
        for (const std::int64_t size : {1, 2, 3}) {
            EXPECT_EQ(voxels(gpus, size), one) << gpus << " GPUs, blocks of " << size;
            EXPECT_EQ(voxels(gpus, size, MemoryKind::pinned), one) << gpus << " GPUs, pinned blocks of " << size;
        }
    }
}

INSTANTIATE_TEST_SUITE_P(Variants, SeveralGpus, testing::ValuesIn(variants),
                         [](const auto& test) { return test.param.name; });

// Spectra and voxels stay on the GPU whose turn it is; what lies on another is refused.
class ResidentOnSeveralGpus : public GpuTest {
  protected:
    ReconstructionPlan plan;

    void SetUp() override {
        GpuTest::SetUp();
        if (!IsSkipped() && surveyed_gpus().usable.size() < 2) GTEST_SKIP() << "there is one GPU";
        plan.geometry = {.samples = samples, .a_scans = a_scans, .b_scans = 2};
        plan.recipe.levels = Levels::fixed;
        plan.recipe.voxel = VoxelType::u8;
    }
};

TEST_F(ResidentOnSeveralGpus, EachWorksInItsOwnMemory) {
    const auto spectra = moving_reflectors(samples, 2 * a_scans);
    const auto bytes = bytes_of_lines(spectra);
    const auto expected = voxels_of<std::byte>(plan, bytes, {});
    const auto both = make_reconstructor(plan, {.backend = Backend::cuda, .gpus = 2});
    const VolumeGrid& grid = both->grid();
    const std::int64_t b_scan_voxels = grid.a_scans * grid.depth;
    for (std::size_t i = 0; i < 2; ++i) {
        const DeviceId gpu = surveyed_gpus().usable[i].id;
        const BlockMemory raw = device_memory(b_scan_bytes(plan), gpu), made = device_memory(grid.bytes(), gpu);
        const auto first = static_cast<std::int64_t>(i);
        copy_memory(raw.data, bytes.data() + first * b_scan_bytes(plan), b_scan_bytes(plan));
        Block block;
        block.data = raw.data;
        block.bytes = raw.bytes;
        block.memory = MemoryKind::device;
        block.first_b_scan = first;
        block.b_scans = 1;
        const Place place{PlaceKind::device_linear, made.data, 0, grid.depth, b_scan_voxels};
        both->wait(both->submit(block, place));
        std::vector<std::byte> found(static_cast<std::size_t>(b_scan_voxels));
        copy_memory(found.data(), made.data + first * b_scan_voxels, b_scan_voxels);
        EXPECT_TRUE(std::equal(found.begin(), found.end(), expected.begin() + first * b_scan_voxels)) << i;
        EXPECT_THROW(both->submit(block, place), Error);  // now it is the other's turn
    }
}

}  // namespace
}  // namespace echolux
