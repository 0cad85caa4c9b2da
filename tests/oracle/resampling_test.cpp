// Resampling to uniform k compared with the responses and the table of docs/algorithms.md 3.1: loss, artefacts and
// position of a mirror at five depths.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <string>

#include "tests/oracle/chain.h"
#include "tests/oracle/instrument.h"
#include "tests/oracle/peak.h"
#include "tests/support/set_fields.h"

namespace echolux {
namespace {

struct Method {
    std::string name;
    Resample resample;
    std::int64_t upsample;
    std::array<double, 5> loss_db;
    std::array<double, 5> artefact_db;
};

const std::array<double, 5> depths{0.05, 0.2, 0.4, 0.6, 0.7};  // relative to z_max

const Method methods[] = {
    {"nearest", Resample::nearest, 1, {0, -.15, -.60, -1.33, -1.84}, {-42.2, -32.5, -26.7, -22.7, -21.2}},
    {"linear", Resample::linear, 1, {-.02, -.29, -1.19, -2.73, -3.77}, {-73.4, -53.1, -40.1, -31.6, -28.1}},
    {"catmull_rom", Resample::catmull_rom, 1, {0, -.02, -.25, -1.11, -1.92}, {-98.7, -67.4, -48.6, -37.0, -32.2}},
    {"lagrange3", Resample::lagrange3, 1, {0, -.02, -.30, -1.32, -2.28}, {-114.9, -76.0, -52.1, -38.1, -32.8}},
    {"spline", Resample::spline, 1, {0, 0, -.05, -.35, -.83}, {-117.6, -92.9, -66.2, -48.0, -40.2}},
    {"up2_linear", Resample::linear, 2, {0, -.07, -.30, -.67, -.92}, {-88.8, -66.6, -56.2, -49.0, -45.7}},
    {"up4_linear", Resample::linear, 4, {0, -.02, -.07, -.17, -.23}, {-102, -78.9, -69.6, -61.5, -57.7}},
    {"up2_lagrange3", Resample::lagrange3, 2, {0, 0, -.02, -.10, -.18}, {-107, -101, -79.0, -65.3, -59.3}},
    {"nudft", Resample::nudft, 1, {0, 0, 0, 0, 0}, {-118, -118, -116, -116, -115}},
};

std::ostream& operator<<(std::ostream& out, const Method& one) {
    return out << one.name;
}

class Resampling : public testing::TestWithParam<Method> {
  protected:
    const ClosedFormInstrument instrument;

    ReconstructionSpec spec_for(Resample resample, std::int64_t upsample, std::int64_t zero_padding) const {
        ReconstructionSpec spec = plain_spec(ClosedFormInstrument::samples, 1);
        spec.recipe.window = Window::hann;
        spec.recipe.resample = resample;
        spec.recipe.upsample = upsample;
        spec.recipe.zero_padding = zero_padding;
        spec.calibration.k_positions = instrument.positions;
        return spec;
    }

    std::vector<double> measured(std::int64_t zero_padding, double depth_um) const {
        return amplitudes(
            reconstructed<std::complex<float>>(spec_for(GetParam().resample, GetParam().upsample, zero_padding),
                                               instrument.fringe(instrument.pixel_k, depth_um)));
    }

    double ideal_height(double depth_um) const {
        return peak_of(amplitudes(reconstructed<std::complex<float>>(
                           spec_for(Resample::none, 1, 4), instrument.fringe(instrument.uniform_k, depth_um))))
            .height;
    }
};

TEST_P(Resampling, LossMatchesKernel) {
    for (std::size_t i = 0; i < depths.size(); ++i) {
        const double depth_um = depths[i] * instrument.depth_limit_um;
        const double height = peak_of(measured(4, depth_um)).height;
        EXPECT_NEAR(decibels(height / ideal_height(depth_um)), GetParam().loss_db[i], 0.1) << "depth " << depths[i];
    }
}

TEST_P(Resampling, ArtefactsMatchKernel) {
    for (std::size_t i = 0; i < depths.size(); ++i) {
        const std::vector<double> profile = measured(1, depths[i] * instrument.depth_limit_um);
        const auto top = std::max_element(profile.begin(), profile.end());
        const double worst = greatest_outside(profile, static_cast<double>(top - profile.begin()), 30);
        EXPECT_NEAR(decibels(worst / *top), GetParam().artefact_db[i], 3) << "depth " << depths[i];
    }
}

TEST_P(Resampling, MirrorIsFoundAtItsDepth) {
    for (const double depth : depths) {
        const double depth_um = depth * instrument.depth_limit_um;
        EXPECT_NEAR(peak_of(measured(4, depth_um)).bin / 4, instrument.bin_of(depth_um), 0.02) << "depth " << depth;
    }
}

INSTANTIATE_TEST_SUITE_P(Methods, Resampling, testing::ValuesIn(methods),
                         [](const auto& test) { return test.param.name; });

// The same map given as wavelengths must lead to the same depth and sharpness.
TEST(ResamplingFromWavelengths, AgreesWithPositions) {
    const ClosedFormInstrument instrument;
    const double depth_um = 0.4 * instrument.depth_limit_um;
    for (const Resample resample : {Resample::linear_wavelength, Resample::linear, Resample::lagrange3}) {
        ReconstructionSpec spec = with(plain_spec(ClosedFormInstrument::samples, 1), "window=hann zero_padding=4");
        spec.recipe.resample = resample;
        spec.calibration.wavelengths_nm = instrument.wavelengths_nm;
        const auto field = reconstructed<std::complex<float>>(spec, instrument.fringe(instrument.pixel_k, depth_um));
        const Peak found = peak_of(amplitudes(field));
        EXPECT_NEAR(found.bin / 4, instrument.bin_of(depth_um), 0.02);

        const double pitch_um = planned_grid(spec).spacing_um[0];
        EXPECT_NEAR(found.bin * pitch_um, depth_um, 0.02 * 4 * pitch_um);
    }
}

}  // namespace
}  // namespace echolux
