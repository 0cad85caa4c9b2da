// Flow on the GPU: held to the truths and vectors that the CPU is held to, and to the CPU itself over every way through
// the kernels; the same bits for any block size, number of streams and kind of memory, beside a structure that flow
// does not change.
#include "tests/gpu/flow_scan.h"
#include "tests/oracle/angiography_truths.h"
#include "tests/oracle/flow_doppler_truths.h"
#include "tests/oracle/flow_vectors.h"

namespace echolux {
namespace {

// ---- the truths of the CPU ------------------------------------------------------------------------------------------

std::unique_ptr<Reconstructor> plan_fused(const ReconstructionSpec& spec) {
    return make_reconstructor(spec, {.backend = Backend::cuda});
}

std::unique_ptr<Reconstructor> plan_separate(const ReconstructionSpec& spec) {
    return make_reconstructor(spec, {.backend = Backend::cuda, .fused = false});
}

// None without a GPU: FlowOnGpu says why.
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

TEST_F(FlowOnGpu, IsHeldToTruthsAndVectors) {
    EXPECT_FALSE(machines().empty());
    EXPECT_FALSE(flow_vector_names().empty()) << "NumPy was missing, or ECHOLUX_VECTORS is wrong";
}

// ---- the CPU --------------------------------------------------------------------------------------------------------

class GpuFlow : public GpuTest, public testing::WithParamInterface<std::tuple<FlowVariant, bool>> {
  protected:
    ReconstructionSpec spec = flow_scan_spec();
    std::vector<std::uint16_t> spectra;

    void SetUp() override {
        GpuTest::SetUp();
        std::get<0>(GetParam()).choose(spec);
        spectra = drifting_reflectors(spec);
    }

    FlowScan scan(GpuRun run) const {
        run.choice.fused = std::get<1>(GetParam());
        return flow_scan(spec, bytes_of_lines(spectra), run);
    }
    FlowScan whole() const {
        GpuRun run{.block_b_scans = spec.geometry.b_scans};
        run.choice.streams = 1;
        return scan(run);
    }
};

TEST_P(GpuFlow, AgreesWithTheCpu) {
    const FlowScan gpu = whole();
    const FlowScan cpu = flow_scan(spec, bytes_of_lines(spectra),
                                   {.choice = {.backend = Backend::cpu}, .block_b_scans = spec.geometry.b_scans});
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
            GpuRun run{.block_b_scans = size};
            run.choice.streams = streams;
            const FlowScan found = scan(run);
            EXPECT_EQ(found.structure, expected.structure) << streams << " streams, blocks of " << size;
            EXPECT_EQ(found.flow, expected.flow) << streams << " streams, blocks of " << size;
        }
    }
}

// As without flow; blocks for which it is not wanted are written all the same.
TEST_P(GpuFlow, StructureIsWhatItWasWithoutFlow) {
    const FlowScan expected = whole();
    GpuRun run{.block_b_scans = 2};
    run.choice.fused = std::get<1>(GetParam());
    EXPECT_EQ(structure_scan(spec, bytes_of_lines(spectra), run), expected.structure) << "flow is not wanted";
    spec.flow = {};
    EXPECT_EQ(structure_scan(spec, bytes_of_lines(spectra), run), expected.structure) << "the plan has no flow";
}

INSTANTIATE_TEST_SUITE_P(Variants, GpuFlow, testing::Combine(testing::ValuesIn(flow_variants()), testing::Bool()),
                         [](const auto& test) {
                             return std::get<0>(test.param).name + (std::get<1>(test.param) ? "_fused" : "_separate");
                         });

// ---- memory ---------------------------------------------------------------------------------------------------------

TEST_F(FlowOnGpu, GoesToEveryKindOfPlace) {
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
    const OnDevice structure_memory(static_cast<std::size_t>(structure.bytes()));
    const OnDevice flow_memory(static_cast<std::size_t>(flow.bytes()));
    const auto on_device = [](const VolumeGrid& grid, const OnDevice& memory) {
        const std::int64_t line = grid.depth * bytes_of(grid.type);
        return Place{PlaceKind::device_linear, memory.data(), 0, line, grid.a_scans * line};
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

TEST_F(FlowOnGpu, IsRefusedWhereThePlanHasNone) {
    ReconstructionSpec spec = flow_scan_spec();
    spec.flow = {};
    const auto spectra = drifting_reflectors(spec);
    const auto reconstructor = make_reconstructor(spec, {.backend = Backend::cuda});
    std::vector<std::byte> voxels(static_cast<std::size_t>(reconstructor->grid().bytes()));
    const Place place = place_of(voxels, reconstructor->grid());
    const auto bytes = bytes_of_lines(spectra).first(static_cast<std::size_t>(b_scan_bytes(spec)));
    EXPECT_THROW(reconstructor->submit(block_of(bytes, 0, 1), {place, place}), Error);
}

// Headers before acquired B-scans and flyback after them stay out, whatever memory they lie in.
TEST_F(FlowOnGpu, LeavesOutWhatLiesBetweenFrames) {
    ReconstructionSpec spec = flow_scan_spec();
    spec.geometry.b_repeats = 2;
    spec.recipe.average = Average::power;
    spec.recipe.background = Background::frame_mean;
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
