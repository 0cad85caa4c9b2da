// Flow on the GPU. It must meet the truths and vectors of the CPU, and agree with the CPU on every path through the
// kernels. The bits do not depend on block size, number of streams or kind of memory, and flow does not change the
// structure.
#include "compute/indexing.h"
#include "tests/gpu/flow_scan.h"
#include "tests/oracle/angiography_truths.h"
#include "tests/oracle/flow_doppler_truths.h"
#include "tests/oracle/flow_vectors.h"
#include "tests/support/set_fields.h"

namespace echolux {
namespace {

// ---- truths shared with the CPU -------------------------------------------------------------------------------------

std::unique_ptr<Reconstructor> plan_fused(const ReconstructionSpec& spec) {
    return make_reconstructor(spec, {.backend = Backend::cuda});
}

std::unique_ptr<Reconstructor> plan_separate(const ReconstructionSpec& spec) {
    return make_reconstructor(spec, {.backend = Backend::cuda, .fused = false});
}

// Empty without a GPU; FlowOnGpu reports the reason.
std::vector<FlowMachine> machines() {
    if (surveyed_gpus().usable.empty()) return {};
    return {{"fused", &plan_fused}, {"separate", &plan_separate}};
}

const auto machine_name = [](const auto& test) { return test.param.name; };

INSTANTIATE_TEST_SUITE_P(Gpu, Doppler, testing::ValuesIn(machines()), machine_name);
INSTANTIATE_TEST_SUITE_P(Gpu, Angiography, testing::ValuesIn(machines()), machine_name);
INSTANTIATE_TEST_SUITE_P(Gpu, FlowVector,
                         testing::Combine(testing::ValuesIn(machines()), testing::ValuesIn(flow_vector_names())),
                         flow_vector_name);
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(Doppler);
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(Angiography);

class FlowOnGpu : public GpuTest {};

TEST_F(FlowOnGpu, RunsTruthAndVectorTests) {
    EXPECT_FALSE(machines().empty());
    EXPECT_FALSE(flow_vector_names().empty()) << "NumPy was missing, or ECHOLUX_VECTORS is wrong";
}

// ---- agreement with the CPU -----------------------------------------------------------------------------------------

class GpuFlow : public GpuTest, public testing::WithParamInterface<std::tuple<Variant, bool>> {
  protected:
    ReconstructionSpec spec = flow_scan_spec();
    std::vector<std::uint16_t> spectra;

    void SetUp() override {
        GpuTest::SetUp();
        set(spec, std::get<0>(GetParam()).assignments);
        spectra = drifting_reflectors(spec);
    }

    FlowScan scan(GpuRun run) const {
        run.choice.fused = std::get<1>(GetParam());
        return flow_scan(spec, bytes_of_lines(spectra), run);
    }
    FlowScan whole() const { return scan(run_on_gpu(true, spec.geometry.b_scans, 1)); }
};

TEST_P(GpuFlow, AgreesWithCpu) {
    const FlowScan gpu = whole();
    const FlowScan cpu = flow_scan(spec, bytes_of_lines(spectra), run_on_cpu(spec.geometry.b_scans));
    const FlowDifference difference(gpu.flow, cpu.flow, planned_flow_grid(spec)->type == VoxelType::phasor8);
    RecordProperty("shown", std::to_string(difference.shown));
    RecordProperty("far", std::to_string(difference.far));
    RecordProperty("masks", std::to_string(difference.masks));
    EXPECT_GT(difference.shown, std::ssize(cpu.flow) / 200) << "the scene shows next to nothing";
    EXPECT_LT(difference.shown, std::ssize(cpu.flow)) << "nothing is masked";
    EXPECT_LE(difference.far, difference.shown / 1000);
    EXPECT_LE(difference.masks, difference.shown / 1000);
    if (spec.recipe.voxel != VoxelType::u8) return;
    const auto [different, most] = codes_apart(gpu.structure, cpu.structure);
    EXPECT_LE(most, 1);
    EXPECT_LE(different, std::ssize(cpu.structure) / 1000);
}

TEST_P(GpuFlow, BlocksAndStreamsChangeNoBit) {
    const FlowScan expected = whole();
    for (const int streams : {1, 3}) {
        for (const std::int64_t size : {1, 2, 4}) {
            const FlowScan found = scan(run_on_gpu(true, size, streams));
            EXPECT_EQ(found.structure, expected.structure) << streams << " streams, blocks of " << size;
            EXPECT_EQ(found.flow, expected.flow) << streams << " streams, blocks of " << size;
        }
    }
}

// The structure is the same without flow, also in blocks that request no flow.
TEST_P(GpuFlow, StructureIsSameWithoutFlow) {
    const FlowScan expected = whole();
    const GpuRun run = run_on_gpu(std::get<1>(GetParam()), 2);
    EXPECT_EQ(structure_scan(spec, bytes_of_lines(spectra), run), expected.structure) << "flow is not wanted";
    spec.flow = {};
    EXPECT_EQ(structure_scan(spec, bytes_of_lines(spectra), run), expected.structure) << "the plan has no flow";
}

INSTANTIATE_TEST_SUITE_P(Variants, GpuFlow, testing::Combine(testing::ValuesIn(flow_variants()), testing::Bool()),
                         [](const auto& test) {
                             return std::get<0>(test.param).name + (std::get<1>(test.param) ? "_fused" : "_separate");
                         });

// Bins in half precision keep the phase of a weak reflector next to one that nearly fills the range of samples, in
// every format.
TEST_F(FlowOnGpu, WeakReflectorBesideStrongOneKeepsPhase) {
    ReconstructionSpec spec = with(flow_scan_spec(), "noise_floor_db=-40 threshold_db=0");
    const double steps[] = {0.9, -1.3};  // rad per line
    const std::int64_t bins[] = {120, 300};
    const double heights[] = {31'000, 4};  // counts: 78 dB apart
    const std::int64_t lines = spec.geometry.a_scans * spec.geometry.b_scans;
    std::mt19937 random(3);
    std::uniform_real_distribution<double> rounding(0, 1);
    std::vector<std::uint16_t> spectra;
    for (std::int64_t l = 0; l < lines; ++l) {
        for (std::int64_t j = 0; j < spec.geometry.samples; ++j) {
            double sample = 32'000;
            for (int r = 0; r < 2; ++r) {
                const double turns = static_cast<double>(bins[r] * j) / static_cast<double>(spec.geometry.samples);
                sample += heights[r] * std::cos(2 * std::numbers::pi * turns + steps[r] * static_cast<double>(l));
            }
            spectra.push_back(static_cast<std::uint16_t>(sample + rounding(random)));
        }
    }
    spec.recipe.a2_rad = 0;
    spec.calibration.k_polynomial = {0, static_cast<double>(spec.geometry.samples - 1)};
    const FlowScan gpu = flow_scan(spec, bytes_of_lines(spectra), {.block_b_scans = 5});
    const FlowScan cpu = flow_scan(spec, bytes_of_lines(spectra), run_on_cpu(5));
    const std::int64_t depth = spec.recipe.depth_end - spec.recipe.depth_begin;
    for (int r = 0; r < 2; ++r) {
        double worst = 0;
        for (std::int64_t line = 0; line < lines; ++line) {
            const auto at = index(line * depth + bins[r] - spec.recipe.depth_begin);
            const auto phase = [](std::uint16_t code) {
                return std::atan2(static_cast<std::int8_t>(code >> 8), static_cast<std::int8_t>(code & 0xff));
            };
            ASSERT_NE(gpu.flow[at], 0) << "reflector " << r << ", line " << line;
            worst = std::max(worst, std::abs(phase(gpu.flow[at]) - phase(cpu.flow[at])));
            EXPECT_NEAR(phase(gpu.flow[at]), steps[r], r == 0 ? 0.02 : 0.2) << "reflector " << r << ", line " << line;
        }
        EXPECT_LE(worst, 0.02) << "reflector " << r;  // two steps of the codes
    }
}

// ---- memory ---------------------------------------------------------------------------------------------------------

TEST_F(FlowOnGpu, WritesToEveryKindOfPlace) {
    const ReconstructionSpec spec = flow_scan_spec();
    const auto spectra = drifting_reflectors(spec);
    const FlowScan expected = flow_scan(spec, bytes_of_lines(spectra), {.block_b_scans = 2});
    const auto reconstructor = [&] {
        ReconstructionSpec blocks = spec;
        blocks.block_b_scans = 2;
        return make_reconstructor(blocks, {.backend = Backend::cuda});
    }();
    const VolumeGrid& structure = reconstructor->grid();
    const VolumeGrid& flow = *reconstructor->flow_grid();
    const OnDevice structure_memory(index(structure.bytes()));
    const OnDevice flow_memory(index(flow.bytes()));
    const auto on_device = [](const VolumeGrid& grid, const OnDevice& memory) {
        const std::int64_t line = grid.depth * bytes_of(grid.type);
        return VoxelTarget{TargetKind::device_linear, memory.data(), 0, line, grid.a_scans * line};
    };
    run_blocks(*reconstructor, spec, bytes_of_lines(spectra), {.block_b_scans = 2, .from = MemoryKind::device},
               {on_device(structure, structure_memory), on_device(flow, flow_memory)});
    FlowScan found = expected;
    std::fill(found.flow.begin(), found.flow.end(), std::uint16_t{0xcdcd});
    ASSERT_EQ(cudaSuccess, cudaMemcpy(found.structure.data(), structure_memory.data(), found.structure.size(),
                                      cudaMemcpyDeviceToHost));
    ASSERT_EQ(cudaSuccess,
              cudaMemcpy(found.flow.data(), flow_memory.data(), 2 * found.flow.size(), cudaMemcpyDeviceToHost));
    EXPECT_EQ(found.structure, expected.structure);
    EXPECT_EQ(found.flow, expected.flow);
}

TEST_F(FlowOnGpu, IsRejectedWithoutPlan) {
    ReconstructionSpec spec = flow_scan_spec();
    spec.flow = {};
    const auto spectra = drifting_reflectors(spec);
    const auto reconstructor = make_reconstructor(spec, {.backend = Backend::cuda});
    std::vector<std::byte> voxels(index(reconstructor->grid().bytes()));
    const VoxelTarget place = place_of(voxels, reconstructor->grid());
    const auto bytes = bytes_of_lines(spectra).first(index(b_scan_bytes(spec)));
    EXPECT_THROW(reconstructor->submit(block_of(bytes, 0, 1), {place, place}), Error);
}

// Headers before acquired B-scans and flyback after them are skipped in any kind of memory.
TEST_F(FlowOnGpu, SkipsHeadersAndFlyback) {
    ReconstructionSpec spec = with(flow_scan_spec(), "b_repeats=2 average=power background=frame_mean");
    const auto spectra = drifting_reflectors(spec);
    const FlowScan expected = flow_scan(spec, bytes_of_lines(spectra), {.block_b_scans = 2});
    for (const FrameLayout layout : {FrameLayout{64, frame_bytes(spec) + 4096}, FrameLayout{6, frame_bytes(spec) + 10},
                                     FrameLayout{0, frame_bytes(spec) + 2}, FrameLayout{32, 0}}) {
        for (const MemoryKind kind : {MemoryKind::host, MemoryKind::pinned, MemoryKind::device}) {
            for (const SpectraPath way : {SpectraPath::copied, SpectraPath::direct}) {
                GpuRun run{.block_b_scans = 2, .from = kind};
                run.choice.spectra = way;
                const FlowScan found = flow_scan(spec, bytes_of_lines(spectra), run, layout);
                EXPECT_EQ(found.structure, expected.structure)
                    << layout.offset_bytes << ", " << layout.stride_bytes << ", memory " << static_cast<int>(kind);
                EXPECT_EQ(found.flow, expected.flow);
            }
        }
    }
}

}  // namespace
}  // namespace echolux
