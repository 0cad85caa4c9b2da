// Invalid plans are rejected with the key at fault before anything is allocated. Blocks that do not fit their plan are
// rejected too.
#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <string>

#include "compute/error.h"
#include "compute/indexing.h"
#include "tests/oracle/chain.h"
#include "tests/support/error_of.h"
#include "tests/support/set_fields.h"

namespace echolux {
namespace {

constexpr std::int64_t n = 64;

using P = ReconstructionSpec;

struct Fault {
    std::string name, key, settings;  // `key` must be in the message
    std::function<void(P&)> make = [](P&) {};
};

std::vector<double> ramp(std::int64_t count, double from = 0, double step = 1) {
    std::vector<double> values;
    for (std::int64_t i = 0; i < count; ++i) values.push_back(from + step * static_cast<double>(i));
    return values;
}

std::vector<double> ramp_with(std::size_t place, double value, double from = 0) {
    std::vector<double> values = ramp(n, from);
    values[place] = value;
    return values;
}

const double nan_value = std::numeric_limits<double>::quiet_NaN();

const Fault faults[] = {
    {"no_samples", "samples", "samples=0"},
    {"negative_samples", "samples", "samples=-64"},
    {"absurd_samples", "samples", "samples=1099511627776"},
    {"no_a_scans", "a_scans", "a_scans=0"},
    {"no_b_scans", "b_scans", "b_scans=0"},
    {"no_repeats", "a_repeats", "a_repeats=0"},
    {"channel_that_is_not_there", "channel", "channel=1"},
    {"lines_that_overlap", "line_bytes", "line_bytes=127"},
    {"upsample_by_three", "upsample", "upsample=3"},
    {"upsampling_for_nudft", "upsample", "resample=nudft upsample=2"},
    {"padding_for_nudft", "upsample_pad", "resample=nudft upsample_pad=true"},
    {"nudft_that_is_too_large", "resample", "resample=nudft samples=262144 k_polynomial=0,262143"},
    {"zero_padding_by_three", "zero_padding", "zero_padding=3"},
    {"stored_without_background", "background", "background=stored"},
    {"short_background", "background", "", [](P& p) { p.calibration.background = ramp(n - 1); }},
    {"background_with_nan", "background", "", [](P& p) { p.calibration.background.assign(n, nan_value); }},
    {"short_dark", "dark", "", [](P& p) { p.calibration.dark = ramp(n - 1); }},
    {"mean_of_one_line", "background", "background=frame_mean a_scans=1"},
    {"short_k_map", "k_map", "", [](P& p) { p.calibration.k_positions = ramp(n - 1); }},
    {"k_map_with_nan", "k_map", "", [](P& p) { p.calibration.k_positions = ramp_with(7, nan_value); }},
    {"k_map_that_turns_back", "k_map", "", [](P& p) { p.calibration.k_positions = ramp_with(30, 31.5); }},
    {"k_polynomial_that_turns_back", "k_polynomial", "k_polynomial=0,200,-200"},
    {"wavelengths_that_turn_back", "wavelengths", "",
     [](P& p) { p.calibration.wavelengths_nm = ramp_with(10, 805, 800); }},
    {"negative_wavelengths", "wavelengths", "", [](P& p) { p.calibration.wavelengths_nm = ramp(n); }},
    {"wavelengths_in_picometres", "wavelengths", "", [](P& p) { p.calibration.wavelengths_nm = ramp(n, 800'000); }},
    {"centre_wavelength_in_um", "centre_wavelength_nm", "centre_wavelength_nm=0.85"},
    {"centre_wavelength_in_pm", "centre_wavelength_nm", "centre_wavelength_nm=85000"},
    {"dispersion_beyond_the_samples", "a2_rad", "dispersion=true a2_rad=60000"},
    {"dispersion_file_beyond_the_samples", "calibration.dispersion", "dispersion=true",
     [](P& p) { p.calibration.dispersion_rad = ramp(n, 0, 1e6); }},
    {"linear_wavelength_without_wavelengths", "wavelength", "resample=linear_wavelength"},
    {"short_dispersion", "dispersion", "dispersion=true", [](P& p) { p.calibration.dispersion_rad = ramp(n + 1); }},
    {"femtoseconds_without_scale", "gdd_fs2", "dispersion=true gdd_fs2=100"},
    {"third_order_without_scale", "tod_fs3", "dispersion=true tod_fs3=100"},
    {"shaping_without_background", "shaping", "shaping=gaussian"},
    {"depth_beyond_the_end", "depth_end", "depth_end=33"},
    {"depth_range_of_nothing", "depth_", "depth_begin=9 depth_end=9"},
    {"depth_begin_beyond_the_end", "depth_begin", "depth_begin=32"},
    {"noise_floor_that_is_not_there", "noise_floor", "noise_floor=power"},
    {"short_noise_floor", "noise_floor", "noise_floor=power",
     [](P& p) { p.calibration.noise_floor = ramp(n / 2 - 1); }},
    {"pattern_of_a_single_line", "fixed_pattern", "background=none fixed_pattern=median a_scans=1"},
    {"dark_and_background_exchanged", "background", "shaping=gaussian",
     [](P& p) {
         p.calibration.background.assign(n, 100.0);
         p.calibration.dark.assign(n, 900.0);
         p.calibration.background[5] = 901;
     }},
    {"value_that_overflows", "background", "", [](P& p) { p.calibration.background.assign(n, 1e300); }},
    {"masked_signed_samples", "bits", "sample_format=i16 bits=12"},
    {"shifted_real_samples", "shift", "sample_format=f32 shift=4"},
    {"shift_that_leaves_nothing", "shift", "shift=16"},
    {"more_segments_than_lines", "fixed_pattern", "fixed_pattern=minimum_variance fixed_pattern_segments=100"},
    {"complex_mean_of_magnitudes", "average", "a_repeats=2 average=magnitude"},
    {"levels_upside_down", "low", "quantity=db voxel=u8 low=10 high=10"},
    {"alpha_of_zero", "running_alpha", "running_alpha=0"},
    {"no_blocks", "block", "", [](P& p) { p.block_b_scans = 0; }},
};

P working_spec() {
    P spec = plain_spec(n, 8);
    set(spec, "b_scans=4 sample_format=u16");
    spec.recipe.resample = Resample::lagrange3;
    return spec;
}

std::ostream& operator<<(std::ostream& out, const Fault& one) {
    return out << one.name;
}

class ImpossiblePlan : public testing::TestWithParam<Fault> {};

TEST_P(ImpossiblePlan, IsRefusedByName) {
    P spec = with(working_spec(), GetParam().settings);
    GetParam().make(spec);
    const Caught caught = error_of([&] { plan_on_cpu(spec); });
    EXPECT_EQ(caught.code, ErrorCode::bad_setting);
    EXPECT_NE(caught.line.find(GetParam().key), std::string::npos) << caught.line;
    EXPECT_EQ(caught.line.find('\n'), std::string::npos);
}

INSTANTIATE_TEST_SUITE_P(Faults, ImpossiblePlan, testing::ValuesIn(faults),
                         [](const auto& test) { return test.param.name; });

TEST(Plan, AcceptsWorkingSpec) {
    EXPECT_NO_THROW(plan_on_cpu(working_spec()));
}

TEST(Plan, PlansHugeVolumeWithoutAllocation) {
    P spec = working_spec();
    spec.geometry.a_scans = 1 << 20;
    spec.geometry.b_scans = 1 << 20;
    const VolumeGrid grid = planned_grid(spec);
    EXPECT_EQ(grid.voxels(), (std::int64_t{1} << 40) * n / 2);
}

TEST(Plan, PlacesRepeatsSideBySideUnlessAveraged) {
    P spec = working_spec();
    set(spec, "a_repeats=3 b_repeats=2");
    EXPECT_EQ(planned_grid(spec).a_scans, 24);
    EXPECT_EQ(planned_grid(spec).b_scans, 8);
    spec.recipe.average = Average::complex;
    EXPECT_EQ(planned_grid(spec).a_scans, 8);
    EXPECT_EQ(planned_grid(spec).b_scans, 4);
}

TEST(Plan, HasMicrometresOnlyForKnownScale) {
    P spec = working_spec();
    EXPECT_EQ(planned_grid(spec).spacing_um[0], 0);
    spec.calibration.depth_pitch_um = 4;
    set(spec, "zero_padding=2 depth_begin=10 refractive_index=1.25");
    EXPECT_DOUBLE_EQ(planned_grid(spec).spacing_um[0], 4 / 2 / 1.25);
    EXPECT_DOUBLE_EQ(planned_grid(spec).first_depth_um, 10 * 4 / 1.25);
}

class UnfitBlock : public testing::Test {
  protected:
    const P spec = [] {
        P two = working_spec();
        two.block_b_scans = 2;
        return two;
    }();
    std::unique_ptr<Reconstructor> reconstructor = plan_on_cpu(spec);
    std::vector<std::uint16_t> spectra = std::vector<std::uint16_t>(n * 8 * 4, 7);
    std::vector<std::complex<float>> voxels = std::vector<std::complex<float>>(n / 2 * 8 * 4);

    Block block(std::int64_t first, std::int64_t count) const {
        return block_of(bytes_of_lines(spectra).first(index(count * n * 8 * 2)), first, count);
    }
    void submit(const Block& one) {
        reconstructor->wait(reconstructor->submit(one, place_of(voxels, reconstructor->grid())));
    }
};

TEST_F(UnfitBlock, IsRefused) {
    EXPECT_NO_THROW(submit(block(2, 2)));
    EXPECT_THROW(submit(block(0, 3)), Error) << "more than planned";
    EXPECT_THROW(submit(block(3, 2)), Error) << "beyond the volume";
    EXPECT_THROW(submit(block(-1, 1)), Error) << "before the volume";
    EXPECT_THROW(reconstructor->prime(block(0, 3)), Error);
    Block truncated = block(0, 1);
    truncated.bytes -= 1;
    EXPECT_THROW(submit(truncated), Error);
    Block nowhere = block(0, 1);
    nowhere.data = nullptr;
    EXPECT_THROW(submit(nowhere), Error);
}

}  // namespace
}  // namespace echolux
