// Invalid plans are rejected with the key at fault before anything is allocated. Blocks that do not fit their plan are
// rejected too.
#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <string>

#include "compute/error.h"
#include "compute/indexing.h"
#include "tests/oracle/chain.h"

namespace echolux {
namespace {

constexpr std::int64_t n = 64;

struct Fault {
    std::string name;
    std::string key;  // must be in the message
    std::function<void(ReconstructionSpec&)> make;
};

std::vector<double> ramp(std::int64_t count) {
    std::vector<double> values;
    for (std::int64_t i = 0; i < count; ++i) values.push_back(static_cast<double>(i));
    return values;
}

const double nan_value = std::numeric_limits<double>::quiet_NaN();

using P = ReconstructionSpec;
const Fault faults[] = {
    {"no_samples", "samples", [](P& p) { p.geometry.samples = 0; }},
    {"negative_samples", "samples", [](P& p) { p.geometry.samples = -64; }},
    {"absurd_samples", "samples", [](P& p) { p.geometry.samples = std::int64_t{1} << 40; }},
    {"no_a_scans", "a_scans", [](P& p) { p.geometry.a_scans = 0; }},
    {"no_b_scans", "b_scans", [](P& p) { p.geometry.b_scans = 0; }},
    {"no_repeats", "a_repeats", [](P& p) { p.geometry.a_repeats = 0; }},
    {"channel_that_is_not_there", "channel", [](P& p) { p.format.channel = 1; }},
    {"lines_that_overlap", "line_bytes", [](P& p) { p.format.line_bytes = 2 * n - 1; }},
    {"upsample_by_three", "upsample", [](P& p) { p.recipe.upsample = 3; }},
    {"upsampling_for_nudft", "upsample",
     [](P& p) {
         p.recipe.resample = Resample::nudft;
         p.recipe.upsample = 2;
     }},
    {"padding_for_nudft", "upsample_pad",
     [](P& p) {
         p.recipe.resample = Resample::nudft;
         p.recipe.upsample_pad = true;
     }},
    {"nudft_that_is_too_large", "resample",
     [](P& p) {
         p.recipe.resample = Resample::nudft;
         p.geometry.samples = std::int64_t{1} << 18;
         p.calibration.k_polynomial = {0, static_cast<double>(p.geometry.samples - 1)};
     }},
    {"zero_padding_by_three", "zero_padding", [](P& p) { p.recipe.zero_padding = 3; }},
    {"stored_without_background", "background", [](P& p) { p.recipe.background = Background::stored; }},
    {"short_background", "background", [](P& p) { p.calibration.background = ramp(n - 1); }},
    {"background_with_nan", "background", [](P& p) { p.calibration.background = std::vector<double>(n, nan_value); }},
    {"short_dark", "dark", [](P& p) { p.calibration.dark = ramp(n - 1); }},
    {"mean_of_one_line", "background",
     [](P& p) {
         p.recipe.background = Background::frame_mean;
         p.geometry.a_scans = 1;
     }},
    {"short_k_map", "k_map", [](P& p) { p.calibration.k_positions = ramp(n - 1); }},
    {"k_map_with_nan", "k_map",
     [](P& p) {
         p.calibration.k_positions = ramp(n);
         p.calibration.k_positions[7] = nan_value;
     }},
    {"k_map_that_turns_back", "k_map",
     [](P& p) {
         p.calibration.k_positions = ramp(n);
         p.calibration.k_positions[30] = 31.5;
     }},
    {"k_polynomial_that_turns_back", "k_polynomial",
     [](P& p) {
         p.calibration.k_polynomial = {0, 200, -200};
     }},
    {"wavelengths_that_turn_back", "wavelengths",
     [](P& p) {
         p.calibration.wavelengths_nm = ramp(n);
         for (double& nm : p.calibration.wavelengths_nm) nm += 800;
         p.calibration.wavelengths_nm[10] = 805;
     }},
    {"negative_wavelengths", "wavelengths", [](P& p) { p.calibration.wavelengths_nm = ramp(n); }},
    {"wavelengths_in_picometres", "wavelengths",
     [](P& p) {
         p.calibration.wavelengths_nm = ramp(n);
         for (double& nm : p.calibration.wavelengths_nm) nm += 800'000;
     }},
    {"centre_wavelength_in_um", "centre_wavelength_nm", [](P& p) { p.calibration.centre_wavelength_nm = 0.85; }},
    {"centre_wavelength_in_pm", "centre_wavelength_nm", [](P& p) { p.calibration.centre_wavelength_nm = 85'000; }},
    {"dispersion_beyond_the_samples", "a2_rad",
     [](P& p) {
         p.recipe.dispersion = true;
         p.recipe.a2_rad = 60'000;
     }},
    {"dispersion_file_beyond_the_samples", "calibration.dispersion",
     [](P& p) {
         p.recipe.dispersion = true;
         p.calibration.dispersion_rad = ramp(n);
         for (double& phase : p.calibration.dispersion_rad) phase *= 1e6;
     }},
    {"linear_wavelength_without_wavelengths", "wavelength",
     [](P& p) { p.recipe.resample = Resample::linear_wavelength; }},
    {"short_dispersion", "dispersion",
     [](P& p) {
         p.recipe.dispersion = true;
         p.calibration.dispersion_rad = ramp(n + 1);
     }},
    {"femtoseconds_without_scale", "gdd_fs2",
     [](P& p) {
         p.recipe.dispersion = true;
         p.recipe.gdd_fs2 = 100;
     }},
    {"third_order_without_scale", "tod_fs3",
     [](P& p) {
         p.recipe.dispersion = true;
         p.recipe.tod_fs3 = 100;
     }},
    {"shaping_without_background", "shaping", [](P& p) { p.recipe.shaping = Shaping::gaussian; }},
    {"depth_beyond_the_end", "depth_end", [](P& p) { p.recipe.depth_end = n / 2 + 1; }},
    {"depth_range_of_nothing", "depth_",
     [](P& p) {
         p.recipe.depth_begin = 9;
         p.recipe.depth_end = 9;
     }},
    {"depth_begin_beyond_the_end", "depth_begin", [](P& p) { p.recipe.depth_begin = n / 2; }},
    {"noise_floor_that_is_not_there", "noise_floor", [](P& p) { p.recipe.noise_floor = NoiseFloor::power; }},
    {"short_noise_floor", "noise_floor",
     [](P& p) {
         p.recipe.noise_floor = NoiseFloor::power;
         p.calibration.noise_floor = ramp(n / 2 - 1);
     }},
    {"pattern_of_a_single_line", "fixed_pattern",
     [](P& p) {
         p.recipe.background = Background::none;
         p.recipe.fixed_pattern = FixedPattern::median;
         p.geometry.a_scans = 1;
     }},
    {"dark_and_background_exchanged", "background",
     [](P& p) {
         p.recipe.shaping = Shaping::gaussian;
         p.calibration.background.assign(n, 100.0);
         p.calibration.dark.assign(n, 900.0);
         p.calibration.background[5] = 901;
     }},
    {"value_that_overflows", "background", [](P& p) { p.calibration.background.assign(n, 1e300); }},
    {"masked_signed_samples", "bits",
     [](P& p) {
         p.format.sample_format = SampleFormat::i16;
         p.format.bits = 12;
     }},
    {"shifted_real_samples", "shift",
     [](P& p) {
         p.format.sample_format = SampleFormat::f32;
         p.format.shift = 4;
     }},
    {"shift_that_leaves_nothing", "shift", [](P& p) { p.format.shift = 16; }},
    {"more_segments_than_lines", "fixed_pattern",
     [](P& p) {
         p.recipe.fixed_pattern = FixedPattern::minimum_variance;
         p.recipe.fixed_pattern_segments = 100;
     }},
    {"complex_mean_of_magnitudes", "average",
     [](P& p) {
         p.geometry.a_repeats = 2;
         p.recipe.average = Average::magnitude;
     }},
    {"levels_upside_down", "low",
     [](P& p) {
         p.recipe.quantity = Quantity::db;
         p.recipe.voxel = VoxelType::u8;
         p.recipe.low = 10;
         p.recipe.high = 10;
     }},
    {"alpha_of_zero", "running_alpha", [](P& p) { p.recipe.running_alpha = 0; }},
    {"no_blocks", "block", [](P& p) { p.block_b_scans = 0; }},
};

P working_spec() {
    P spec = plain_spec(n, 8);
    spec.geometry.b_scans = 4;
    spec.format.sample_format = SampleFormat::u16;
    spec.recipe.resample = Resample::lagrange3;
    return spec;
}

std::ostream& operator<<(std::ostream& out, const Fault& one) {
    return out << one.name;
}

class ImpossiblePlan : public testing::TestWithParam<Fault> {};

void expect_refusal(const Fault& fault, const std::function<void(const P&)>& plan_it) {
    P spec = working_spec();
    fault.make(spec);
    try {
        plan_it(spec);
        ADD_FAILURE() << "not refused";
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::bad_setting);
        EXPECT_NE(error.line().find(fault.key), std::string::npos) << error.line();
        EXPECT_EQ(error.line().find('\n'), std::string::npos);
    }
}

TEST_P(ImpossiblePlan, IsRefusedByName) {
    expect_refusal(GetParam(), [](const P& spec) { plan_on_cpu(spec); });
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
    spec.geometry.a_repeats = 3;
    spec.geometry.b_repeats = 2;
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
    spec.recipe.zero_padding = 2;
    spec.recipe.depth_begin = 10;
    spec.geometry.refractive_index = 1.25;
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
