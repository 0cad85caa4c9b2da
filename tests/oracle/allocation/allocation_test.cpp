// `submit` allocates nothing: every operator new of the program is counted while blocks are submitted, in each branch
// of the chain that has memory of its own.
#include <gtest/gtest.h>

#include "compute/parallel_for.h"
#include "tests/oracle/allocation/counted_new.h"
#include "tests/oracle/chain.h"

namespace echolux {
namespace {

std::int64_t allocations_of_submit(ReconstructionSpec plan) {
    plan.format.sample_format = SampleFormat::u16;
    plan.block_b_scans = 2;
    std::vector<std::uint16_t> spectra;
    const std::int64_t count = 2 * plan.geometry.b_repeats * plan.geometry.lines_per_b_scan() * plan.geometry.samples;
    for (std::int64_t i = 0; i < count; ++i) spectra.push_back(static_cast<std::uint16_t>(i * 7919 % 4001));
    const auto reconstructor = plan_on_cpu(plan);
    std::vector<std::byte> voxels(static_cast<std::size_t>(reconstructor->grid().bytes()));
    Places places(place_of(voxels, reconstructor->grid()));
    std::vector<std::byte> flow;
    if (reconstructor->flow_grid()) {
        flow.resize(static_cast<std::size_t>(reconstructor->flow_grid()->bytes()));
        places.flow = place_of(flow, *reconstructor->flow_grid());
    }

    const std::int64_t before = allocations();
    for (std::int64_t first = 0; first < plan.geometry.b_scans; first += 2) {
        reconstructor->wait(reconstructor->submit(block_of(bytes_of_lines(spectra), first, 2), places));
    }
    return allocations() - before;
}

class SubmitAllocatesNothing : public testing::TestWithParam<int> {
  protected:
    ReconstructionSpec plan = plain_plan(256, 12);

    void SetUp() override {
        set_thread_count(GetParam());
        parallel_for(0, 2, [](std::int64_t) {});  // the process's first loop starts its threads
        plan.geometry.b_scans = 4;
        plan.recipe.background = Background::frame_mean;
        plan.recipe.resample = Resample::lagrange3;
    }
    void TearDown() override { set_thread_count(0); }
};

TEST_P(SubmitAllocatesNothing, WithARealTransform) {
    EXPECT_EQ(allocations_of_submit(plan), 0);
}

TEST_P(SubmitAllocatesNothing, WithACodedComplexTransform) {
    plan.recipe.dispersion = true;
    plan.recipe.a2_rad = 10;
    plan.recipe.quantity = Quantity::db;
    plan.recipe.voxel = VoxelType::u8;
    plan.recipe.levels = Levels::frame;
    EXPECT_EQ(allocations_of_submit(plan), 0);
}

TEST_P(SubmitAllocatesNothing, WithUpsamplingAndSpline) {
    plan.recipe.upsample = 2;
    plan.recipe.resample = Resample::spline;
    plan.recipe.zero_padding = 2;
    EXPECT_EQ(allocations_of_submit(plan), 0);
}

TEST_P(SubmitAllocatesNothing, WithTheExactTransform) {
    plan.recipe.resample = Resample::nudft;
    plan.calibration.k_polynomial = {1, 240, 10};
    EXPECT_EQ(allocations_of_submit(plan), 0);
}

TEST_P(SubmitAllocatesNothing, WithEveryBackground) {
    for (const Background mode : {Background::running, Background::median, Background::rolling}) {
        plan.recipe.background = mode;
        EXPECT_EQ(allocations_of_submit(plan), 0);
    }
}

TEST_P(SubmitAllocatesNothing, WithFixedPatternAndAveraging) {
    plan.geometry.a_repeats = 2;
    plan.geometry.b_repeats = 2;
    for (const FixedPattern mode : {FixedPattern::median, FixedPattern::minimum_variance}) {
        for (const Average average : {Average::none, Average::magnitude, Average::power, Average::complex}) {
            plan.recipe.fixed_pattern = mode;
            plan.recipe.average = average;
            plan.recipe.quantity = average == Average::complex ? Quantity::complex : Quantity::amplitude;
            plan.recipe.voxel = average == Average::complex ? VoxelType::complex64 : VoxelType::f32;
            EXPECT_EQ(allocations_of_submit(plan), 0);
        }
    }
}

TEST_P(SubmitAllocatesNothing, WithFlow) {
    plan.recipe.quantity = Quantity::intensity;
    plan.recipe.voxel = VoxelType::f32;
    plan.geometry.line_rate_hz = 70'000;
    plan.calibration.centre_wavelength_nm = 840;
    plan.geometry.bidirectional = true;
    plan.geometry.fast_axis = FastAxis::sinusoidal;
    plan.flow = {.method = FlowMethod::doppler, .bulk_motion = true};
    EXPECT_EQ(allocations_of_submit(plan), 0);
    plan.flow.unwrap = true;
    EXPECT_EQ(allocations_of_submit(plan), 0);
    plan.geometry.bidirectional = false;
    plan.geometry.b_repeats = 3;
    plan.recipe.average = Average::power;
    for (const FlowMethod method :
         {FlowMethod::power_doppler, FlowMethod::speckle_variance, FlowMethod::decorrelation, FlowMethod::omag,
          FlowMethod::cdv, FlowMethod::correlation, FlowMethod::phase_variance}) {
        plan.flow = {.method = method, .sub_bands = 3};
        EXPECT_EQ(allocations_of_submit(plan), 0);
    }
}

TEST(CountedAllocations, AreCounted) {
    const std::int64_t before = allocations();
    ::operator delete(::operator new(4));  // unlike a new expression, not to be optimised away
    EXPECT_EQ(allocations() - before, 1);
}

INSTANTIATE_TEST_SUITE_P(Threads, SubmitAllocatesNothing, testing::Values(1, 2));

}  // namespace
}  // namespace echolux
