// Flow together with structure: the same bits for any block size and number of threads, blocks with gaps between their
// B-scans, volumes of equal size, and invalid plans.
#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <random>

#include "compute/error.h"
#include "compute/indexing.h"
#include "compute/parallel_for.h"
#include "compute/plan/choices.h"
#include "compute/plan/describe.h"
#include "tests/oracle/flow_run.h"
#include "tests/support/error_of.h"
#include "tests/support/set_fields.h"

namespace echolux {
namespace {

constexpr std::int64_t n = 128, a_scans = 13, b_scans = 5;

// A named plan: settings, and in a fault also the key that its refusal names.
struct Variation {
    std::string name, settings, key = "";
};

std::ostream& operator<<(std::ostream& out, const Variation& one) {
    return out << one.name;
}

const std::string repeats = "b_repeats=3 average=power flow.method=";
const Variation ways[] = {
    {"doppler", "flow.method=doppler"},
    {"doppler_bulk", "flow.method=doppler bulk_motion=true"},
    {"doppler_unwrapped", "flow.method=doppler unwrap=true"},
    {"doppler_back_and_forth", "flow.method=doppler bidirectional=true fast_axis=sinusoidal"},
    {"power_doppler", repeats + "power_doppler"},
    {"omag", repeats + "omag"},
    {"cdv", repeats + "cdv"},
    {"correlation", repeats + "correlation"},
    // too dark to detect that whole B-scans decorrelate
    {"complex_decorrelation", repeats + "complex_decorrelation significance=0 noise_floor_db=17 threshold_db=-20"},
    {"aligned", repeats + "omag align=true align_depth=3 align_lines=2 min_match=0"},
    {"split_spectrum", repeats + "decorrelation sub_bands=3"},
};

ReconstructionSpec flow_spec() {
    ReconstructionSpec spec;
    spec.geometry = {.samples = n, .a_scans = a_scans, .b_scans = b_scans};
    return with(spec, "line_rate_hz=70000 centre_wavelength_nm=840");
}

class FlowBlocks : public testing::TestWithParam<Variation> {
  protected:
    ReconstructionSpec spec;
    std::vector<std::uint16_t> spectra;

    FlowBlocks() {
        spec = with(flow_spec(), "levels=fixed voxel=f32 threshold_db=0 " + GetParam().settings);
        std::mt19937 random(22);
        spectra.resize(index(n * a_scans * b_scans * spec.geometry.b_repeats));
        for (auto& x : spectra) x = static_cast<std::uint16_t>(2000 + random() % 500);
    }
    ~FlowBlocks() override { set_thread_count(0); }

    FlowVolumes found(std::int64_t block_b_scans, int threads) const {
        set_thread_count(threads);
        return flow_of({"cpu", &plan_on_cpu}, spec, bytes_of_lines(spectra), block_b_scans);
    }
};

TEST_P(FlowBlocks, BlockSizeAndThreadsChangeNoBit) {
    const FlowVolumes whole = found(b_scans, 1);
    std::size_t shown = 0;
    for (const std::uint16_t code : whole.flow) shown += code != 0;
    EXPECT_GT(shown, whole.flow.size() / 20);
    for (const auto& [size, threads] : {std::pair{std::int64_t{1}, 1}, {2, 2}, {3, 3}, {b_scans, 8}}) {
        const FlowVolumes part = found(size, threads);
        EXPECT_EQ(part.flow, whole.flow) << size;
        EXPECT_EQ(part.structure, whole.structure) << size;
    }
}

TEST_P(FlowBlocks, FlowHasSizeOfStructure) {
    const VolumeGrid structure = planned_grid(spec), flow = *planned_flow_grid(spec);
    EXPECT_EQ(flow.depth, structure.depth);
    EXPECT_EQ(flow.a_scans, structure.a_scans);
    EXPECT_EQ(flow.b_scans, structure.b_scans);
    EXPECT_EQ(flow.spacing_um, structure.spacing_um);
    EXPECT_EQ(bytes_of(flow.type), 2);
    EXPECT_EQ(flow.quantity, std::get<std::string>(value_of(spec.flow, "method")));
}

// Headers before each acquired B-scan and flyback lines after it are left untouched.
TEST_P(FlowBlocks, SkipsHeadersAndFlyback) {
    spec.block_b_scans = b_scans;
    const std::int64_t frame_bytes = 2 * n * a_scans, header = 32, flyback = 3 * 2 * n;
    const std::int64_t frames = b_scans * spec.geometry.b_repeats, stride = header + frame_bytes + flyback;
    std::vector<std::byte> apart(index(frames * stride), std::byte{0xa5});
    for (std::int64_t f = 0; f < frames; ++f) {
        std::memcpy(apart.data() + f * stride + header, spectra.data() + f * frame_bytes / 2, index(frame_bytes));
    }
    const auto reconstructor = plan_on_cpu(spec);
    FlowVolumes found;
    found.structure.resize(index(reconstructor->grid().voxels()));
    found.flow.resize(found.structure.size());
    const VoxelTargets targets(place_of(found.structure, reconstructor->grid()),
                               place_of(found.flow, *reconstructor->flow_grid()));
    Block block = block_of(apart, 0, b_scans);
    block.frames = {header, stride};
    block.bytes = stride * (frames - 1) + header + frame_bytes;  // flyback after the last B-scan is optional
    reconstructor->submit(block, targets);
    const FlowVolumes whole = this->found(b_scans, 2);
    EXPECT_EQ(found.structure, whole.structure);
    EXPECT_EQ(found.flow, whole.flow);

    const auto refused = [&](Block bad) { EXPECT_THROW(reconstructor->submit(bad, targets), Error); };
    Block bad = block;
    --bad.bytes;
    refused(bad);
    bad = block;
    bad.frames.stride_bytes = frame_bytes - 1;
    refused(bad);
    bad.frames.stride_bytes = -stride;
    refused(bad);
    bad = block;
    bad.frames.offset_bytes = -1;
    refused(bad);
}

INSTANTIATE_TEST_SUITE_P(SweepPaths, FlowBlocks, testing::ValuesIn(ways),
                         [](const auto& test) { return test.param.name; });

// ---- invalid plans --------------------------------------------------------------------------------------------------

const Variation faults[] = {
    {"repeats_that_are_not_joined", "flow.method=doppler a_repeats=2", "recipe.average"},
    {"angiography_without_repeats", "flow.method=omag", "flow.method"},
    {"doppler_of_one_line", "flow.method=doppler a_scans=1 background=none", "flow.method"},
    {"repeats_back_and_forth", repeats + "decorrelation bidirectional=true", "flow.method"},
    {"variance_of_one_step", repeats + "phase_variance b_repeats=2", "flow.method"},
    {"speed_without_a_line_rate", "flow.method=doppler unwrap=true line_rate_hz=0", "scan.line_rate_hz"},
    {"speed_without_a_wavelength", "flow.method=doppler unwrap=true centre_wavelength_nm=0", "centre_wavelength_nm"},
    {"window_of_nothing", "flow.method=doppler window_depth=0", "flow.window_depth"},
    {"uneven_repeats", "fast_axis=sinusoidal a_repeats=2", "scan.a_repeats"},
    {"uneven_single_line", "fast_axis=sinusoidal a_scans=1 background=none", "scan.fast_axis"},
    {"no_curve", "fast_axis=file", "calibration.fast_axis"},
};

void expect_refused(const ReconstructionSpec& spec, const std::string& key) {
    const Caught caught = error_of([&] { planned_flow_grid(spec); });
    EXPECT_EQ(caught.code, ErrorCode::bad_setting);
    EXPECT_NE(caught.line.find(key), std::string::npos) << caught.line;
}

class FlowFault : public testing::TestWithParam<Variation> {};

TEST_P(FlowFault, IsReportedInOneLineWithKey) {
    EXPECT_NO_THROW(planned_flow_grid(flow_spec()));
    expect_refused(with(flow_spec(), GetParam().settings), GetParam().key);
}

INSTANTIATE_TEST_SUITE_P(Faults, FlowFault, testing::ValuesIn(faults),
                         [](const auto& test) { return test.param.name; });

TEST(FlowPlan, RejectsCurvesThatAreShortOrTurn) {
    for (const std::vector<double>& curve :
         {std::vector<double>{0, 1, 2}, {0, 1, 2, 3, 4, 5, 4, 7, 8, 9, 10, 11, 12}}) {
        ReconstructionSpec spec = with(flow_spec(), "fast_axis=file");
        spec.calibration.fast_axis = curve;
        expect_refused(spec, "calibration.fast_axis");
    }
}

TEST(FlowPlan, HasNoVolumeWithoutMethod) {
    ReconstructionSpec spec;
    spec.geometry = {.samples = n, .a_scans = a_scans, .b_scans = b_scans};
    EXPECT_FALSE(planned_flow_grid(spec).has_value());
    EXPECT_FALSE(plan_on_cpu(spec)->flow_grid().has_value());
}

// Masking needs a noise floor even if voxel values do not depend on it.
TEST(FlowPlan, NeedsNoiseFloor) {
    Recipe recipe;
    recipe.levels = Levels::fixed;
    EXPECT_FALSE(needs_noise_floor(recipe, {}));
    EXPECT_TRUE(needs_noise_floor(recipe, {.method = FlowMethod::doppler}));
    recipe.noise_floor_db = -12;
    EXPECT_FALSE(needs_noise_floor(recipe, {.method = FlowMethod::doppler}));
    recipe = {};
    EXPECT_TRUE(needs_noise_floor(recipe, {}));
}

}  // namespace
}  // namespace echolux
