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

namespace echolux {
namespace {

constexpr std::int64_t n = 128, a_scans = 13, b_scans = 5;

struct Variation {
    std::string name;
    void (*choose)(ReconstructionSpec&);
};

std::ostream& operator<<(std::ostream& out, const Variation& one) {
    return out << one.name;
}

void with_repeats(ReconstructionSpec& spec, FlowMethod method) {
    spec.flow.method = method;
    spec.geometry.b_repeats = 3;
    spec.recipe.average = Average::power;
}

using Spec = ReconstructionSpec;
const Variation ways[] = {
    {"doppler", [](Spec& p) { p.flow.method = FlowMethod::doppler; }},
    {"doppler_bulk", [](Spec& p) { p.flow = {.method = FlowMethod::doppler, .bulk_motion = true}; }},
    {"doppler_unwrapped", [](Spec& p) { p.flow = {.method = FlowMethod::doppler, .unwrap = true}; }},
    {"doppler_back_and_forth",
     [](Spec& p) {
         p.flow.method = FlowMethod::doppler;
         p.geometry.bidirectional = true;
         p.geometry.fast_axis = FastAxis::sinusoidal;
     }},
    {"power_doppler", [](Spec& p) { with_repeats(p, FlowMethod::power_doppler); }},
    {"omag", [](Spec& p) { with_repeats(p, FlowMethod::omag); }},
    {"cdv", [](Spec& p) { with_repeats(p, FlowMethod::cdv); }},
    {"correlation", [](Spec& p) { with_repeats(p, FlowMethod::correlation); }},
    {"complex_decorrelation",
     [](Spec& p) {
         with_repeats(p, FlowMethod::complex_decorrelation);
         p.flow.significance = 0;
         p.recipe.noise_floor_db = 17;  // too dark to detect that whole B-scans decorrelate
         p.flow.threshold_db = -20;
     }},
    {"aligned",
     [](Spec& p) {
         with_repeats(p, FlowMethod::omag);
         p.flow.align = true;
         p.flow.align_depth = 3;
         p.flow.align_lines = 2;
         p.flow.min_match = 0;
     }},
    {"split_spectrum",
     [](Spec& p) {
         with_repeats(p, FlowMethod::decorrelation);
         p.flow.sub_bands = 3;
     }},
};

class FlowBlocks : public testing::TestWithParam<Variation> {
  protected:
    ReconstructionSpec spec;
    std::vector<std::uint16_t> spectra;

    FlowBlocks() {
        spec.geometry = {.samples = n, .a_scans = a_scans, .b_scans = b_scans};
        spec.geometry.line_rate_hz = 70'000;
        spec.calibration.centre_wavelength_nm = 840;
        spec.recipe.levels = Levels::fixed;
        spec.recipe.voxel = VoxelType::f32;
        spec.flow.threshold_db = 0;
        GetParam().choose(spec);
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

struct Fault {
    std::string name;
    std::string key;
    void (*make)(ReconstructionSpec&);
};

std::ostream& operator<<(std::ostream& out, const Fault& one) {
    return out << one.name;
}

const Fault faults[] = {
    {"repeats_that_are_not_joined", "recipe.average",
     [](Spec& p) {
         p.flow.method = FlowMethod::doppler;
         p.geometry.a_repeats = 2;
     }},
    {"angiography_without_repeats", "flow.method", [](Spec& p) { p.flow.method = FlowMethod::omag; }},
    {"doppler_of_one_line", "flow.method",
     [](Spec& p) {
         p.flow.method = FlowMethod::doppler;
         p.geometry.a_scans = 1;
         p.recipe.background = Background::none;
     }},
    {"repeats_back_and_forth", "flow.method",
     [](Spec& p) {
         with_repeats(p, FlowMethod::decorrelation);
         p.geometry.bidirectional = true;
     }},
    {"variance_of_one_step", "flow.method",
     [](Spec& p) {
         with_repeats(p, FlowMethod::phase_variance);
         p.geometry.b_repeats = 2;
     }},
    {"speed_without_a_line_rate", "scan.line_rate_hz",
     [](Spec& p) {
         p.flow = {.method = FlowMethod::doppler, .unwrap = true};
         p.geometry.line_rate_hz = 0;
     }},
    {"speed_without_a_wavelength", "centre_wavelength_nm",
     [](Spec& p) {
         p.flow = {.method = FlowMethod::doppler, .unwrap = true};
         p.calibration.centre_wavelength_nm = 0;
     }},
    {"window_of_nothing", "flow.window_depth",
     [](Spec& p) { p.flow = {.method = FlowMethod::doppler, .window_depth = 0}; }},
    {"uneven_repeats", "scan.a_repeats",
     [](Spec& p) {
         p.geometry.fast_axis = FastAxis::sinusoidal;
         p.geometry.a_repeats = 2;
     }},
    {"uneven_single_line", "scan.fast_axis",
     [](Spec& p) {
         p.geometry.fast_axis = FastAxis::sinusoidal;
         p.geometry.a_scans = 1;
         p.recipe.background = Background::none;
     }},
    {"no_curve", "calibration.fast_axis", [](Spec& p) { p.geometry.fast_axis = FastAxis::file; }},
    {"short_curve", "calibration.fast_axis",
     [](Spec& p) {
         p.geometry.fast_axis = FastAxis::file;
         p.calibration.fast_axis = {0, 1, 2};
     }},
    {"curve_that_turns", "calibration.fast_axis",
     [](Spec& p) {
         p.geometry.fast_axis = FastAxis::file;
         p.calibration.fast_axis = {0, 1, 2, 3, 4, 5, 4, 7, 8, 9, 10, 11, 12};
     }},
};

class FlowFault : public testing::TestWithParam<Fault> {};

TEST_P(FlowFault, IsReportedInOneLineWithKey) {
    ReconstructionSpec spec;
    spec.geometry = {.samples = n, .a_scans = a_scans, .b_scans = b_scans};
    spec.geometry.line_rate_hz = 70'000;
    spec.calibration.centre_wavelength_nm = 840;
    EXPECT_NO_THROW(planned_flow_grid(spec));
    GetParam().make(spec);
    try {
        planned_flow_grid(spec);
        FAIL() << "nothing was refused";
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::bad_setting);
        EXPECT_NE(error.line().find(GetParam().key), std::string::npos) << error.line();
        EXPECT_EQ(error.line().find('\n'), std::string::npos);
        RecordProperty("refusal", error.line());
    }
}

INSTANTIATE_TEST_SUITE_P(Faults, FlowFault, testing::ValuesIn(faults),
                         [](const auto& test) { return test.param.name; });

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
