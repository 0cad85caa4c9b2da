// submit() allocates nothing: every operator new of the program is counted while blocks are submitted, for each branch
// of the chain that has its own memory.
#include <gtest/gtest.h>

#include "compute/parallel_for.h"
#include "tests/oracle/allocation/counted_new.h"
#include "tests/oracle/chain.h"
#include "tests/support/set_fields.h"

namespace echolux {
namespace {

std::int64_t allocations_of_submit(ReconstructionSpec spec) {
    spec.format.sample_format = SampleFormat::u16;
    spec.block_b_scans = 2;
    std::vector<std::uint16_t> spectra;
    const std::int64_t count = 2 * spec.geometry.b_repeats * spec.geometry.lines_per_b_scan() * spec.geometry.samples;
    for (std::int64_t i = 0; i < count; ++i) spectra.push_back(static_cast<std::uint16_t>(i * 7919 % 4001));
    const auto reconstructor = plan_on_cpu(spec);
    std::vector<std::byte> voxels(static_cast<std::size_t>(reconstructor->grid().bytes()));
    VoxelTargets targets(place_of(voxels, reconstructor->grid()));
    std::vector<std::byte> flow;
    if (reconstructor->flow_grid()) {
        flow.resize(static_cast<std::size_t>(reconstructor->flow_grid()->bytes()));
        targets.flow = place_of(flow, *reconstructor->flow_grid());
    }

    const std::int64_t before = allocations();
    for (std::int64_t first = 0; first < spec.geometry.b_scans; first += 2) {
        reconstructor->wait(reconstructor->submit(block_of(bytes_of_lines(spectra), first, 2), targets));
    }
    return allocations() - before;
}

class SubmitAllocatesNothing : public testing::TestWithParam<int> {
  protected:
    ReconstructionSpec spec = plain_spec(256, 12);

    void SetUp() override {
        set_thread_count(GetParam());
        parallel_for(0, 2, [](std::int64_t) {});  // the first loop of a process starts its threads
        set(spec, "b_scans=4 background=frame_mean resample=lagrange3");
    }
    void TearDown() override { set_thread_count(0); }
};

TEST_P(SubmitAllocatesNothing, WithRealTransform) {
    EXPECT_EQ(allocations_of_submit(spec), 0);
}

TEST_P(SubmitAllocatesNothing, WithCodedComplexTransform) {
    set(spec, "dispersion=true a2_rad=10 quantity=db voxel=u8 levels=frame");
    EXPECT_EQ(allocations_of_submit(spec), 0);
}

TEST_P(SubmitAllocatesNothing, WithUpsamplingAndSpline) {
    set(spec, "upsample=2 resample=spline zero_padding=2");
    EXPECT_EQ(allocations_of_submit(spec), 0);
}

TEST_P(SubmitAllocatesNothing, WithExactTransform) {
    set(spec, "resample=nudft k_polynomial=1,240,10");
    EXPECT_EQ(allocations_of_submit(spec), 0);
}

TEST_P(SubmitAllocatesNothing, WithEveryBackground) {
    for (const Background mode : {Background::running, Background::median, Background::rolling}) {
        spec.recipe.background = mode;
        EXPECT_EQ(allocations_of_submit(spec), 0);
    }
}

TEST_P(SubmitAllocatesNothing, WithFixedPatternAndAveraging) {
    set(spec, "a_repeats=2 b_repeats=2");
    for (const FixedPattern mode : {FixedPattern::median, FixedPattern::minimum_variance}) {
        for (const Average average : {Average::none, Average::magnitude, Average::power, Average::complex}) {
            spec.recipe.fixed_pattern = mode;
            spec.recipe.average = average;
            spec.recipe.quantity = average == Average::complex ? Quantity::complex : Quantity::amplitude;
            spec.recipe.voxel = average == Average::complex ? VoxelType::complex64 : VoxelType::f32;
            EXPECT_EQ(allocations_of_submit(spec), 0);
        }
    }
}

TEST_P(SubmitAllocatesNothing, WithFlow) {
    set(spec,
        "quantity=intensity voxel=f32 line_rate_hz=70000 centre_wavelength_nm=840 bidirectional=true "
        "fast_axis=sinusoidal");
    spec.flow = {.method = FlowMethod::doppler, .bulk_motion = true};
    EXPECT_EQ(allocations_of_submit(spec), 0);
    spec.flow.unwrap = true;
    EXPECT_EQ(allocations_of_submit(spec), 0);
    set(spec, "bidirectional=false b_repeats=3 average=power");
    for (const FlowMethod method :
         {FlowMethod::power_doppler, FlowMethod::speckle_variance, FlowMethod::decorrelation, FlowMethod::omag,
          FlowMethod::cdv, FlowMethod::correlation, FlowMethod::phase_variance, FlowMethod::complex_decorrelation}) {
        spec.flow = {.method = method, .sub_bands = 3};
        EXPECT_EQ(allocations_of_submit(spec), 0);
        spec.flow.align = method != FlowMethod::power_doppler;
        EXPECT_EQ(allocations_of_submit(spec), 0);
    }
}

TEST(CountedAllocations, AreCounted) {
    const std::int64_t before = allocations();
    ::operator delete(::operator new(4));  // unlike a new expression, never optimised away
    EXPECT_EQ(allocations() - before, 1);
}

INSTANTIATE_TEST_SUITE_P(Threads, SubmitAllocatesNothing, testing::Values(1, 2));

}  // namespace
}  // namespace echolux
