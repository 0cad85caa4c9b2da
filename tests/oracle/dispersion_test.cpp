// Dispersion compensation (docs/algorithms.md 3.10): the effect of a phase on a mirror's peak, and its removal by the
// right correction. Widths are those of |A|^2.
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "tests/oracle/chain.h"
#include "tests/oracle/instrument.h"
#include "tests/oracle/peak.h"
#include "tests/support/set_fields.h"

namespace echolux {
namespace {

class Dispersion : public testing::Test {
  protected:
    const ClosedFormInstrument instrument;
    const double depth_um = 0.2 * instrument.depth_limit_um;

    std::vector<double> theta(double a2, double a3) const {
        std::vector<double> phase;
        for (const double kappa : instrument.kappa) phase.push_back((a2 + a3 * kappa) * kappa * kappa);
        return phase;
    }

    ReconstructionSpec spec() const {
        ReconstructionSpec spec = plain_spec(ClosedFormInstrument::samples, 1);
        set(spec, "window=hann zero_padding=4");
        return spec;
    }

    // Peak of |A|^2, in bins without zero padding.
    Peak power_peak(const ReconstructionSpec& spec, const std::vector<float>& spectrum) const {
        std::vector<double> power;
        for (const double a : amplitudes(reconstructed<std::complex<float>>(spec, spectrum))) {
            power.push_back(a * a + 1e-18);
        }
        Peak peak = peak_of(power);
        peak.bin /= 4;
        peak.fwhm /= 4;
        return peak;
    }

    Peak compensated(const std::vector<double>& present, const std::vector<double>& removed,
                     PhaseMeaning meaning = PhaseMeaning::theta) const {
        ReconstructionSpec with = spec();
        with.recipe.dispersion = true;
        with.calibration.dispersion_rad = removed;
        with.calibration.dispersion_holds = meaning;
        return power_peak(with, instrument.fringe(instrument.uniform_k, depth_um, present));
    }

    Peak undispersed() const { return power_peak(spec(), instrument.fringe(instrument.uniform_k, depth_um)); }
};

double power_decibels(double ratio) {
    return 10 * std::log10(ratio);
}

TEST_F(Dispersion, UncompensatedPeakIsWideAndLow) {
    const Peak sharp = undispersed();
    const Peak wide = power_peak(spec(), instrument.fringe(instrument.uniform_k, depth_um, theta(38, -9)));
    EXPECT_NEAR(sharp.fwhm, 1.768, 2e-3);
    EXPECT_NEAR(wide.fwhm, 12.257, 2e-2);
    EXPECT_NEAR(power_decibels(wide.height / sharp.height), -8.42, 0.02);
}

TEST_F(Dispersion, CompensationRestoresPeak) {
    const Peak sharp = undispersed();
    const Peak restored = compensated(theta(38, -9), theta(38, -9));
    EXPECT_NEAR(restored.fwhm, sharp.fwhm, 1e-3);
    EXPECT_NEAR(power_decibels(restored.height / sharp.height), 0, 5e-3);
    EXPECT_NEAR(restored.bin, instrument.bin_of(depth_um), 0.02);
}

TEST_F(Dispersion, WrongSignDoublesInsteadOfCancelling) {
    const Peak wrong = compensated(theta(38, -9), theta(-38, 9));
    const Peak twice = power_peak(spec(), instrument.fringe(instrument.uniform_k, depth_um, theta(76, -18)));
    EXPECT_GT(wrong.fwhm, 20);
    EXPECT_NEAR(wrong.fwhm, twice.fwhm, 0.01 * twice.fwhm);
}

TEST_F(Dispersion, CorrectionFileIsMultipliedUnscaled) {
    const Peak restored = compensated(theta(38, -9), theta(-38, 9), PhaseMeaning::correction);
    EXPECT_NEAR(restored.fwhm, undispersed().fwhm, 1e-3);
}

TEST_F(Dispersion, CoefficientsReferToMiddleOfBand) {
    ReconstructionSpec with = spec();
    set(with, "dispersion=true a2_rad=38 a3_rad=-9");
    std::vector<double> phase;
    for (int j = 0; j < ClosedFormInstrument::samples; ++j) {
        const double edge = 2.0 * j / (ClosedFormInstrument::samples - 1) - 1;
        phase.push_back((38 - 9 * edge) * edge * edge);
    }
    const Peak restored = power_peak(with, instrument.fringe(instrument.uniform_k, depth_um, phase));
    EXPECT_NEAR(restored.fwhm, undispersed().fwhm, 1e-3);
}

TEST_F(Dispersion, ResidualQuadraticPhaseWidensAsTabulated) {
    struct Row {
        double a2, width_ratio, peak_db;
    };
    const Peak sharp = undispersed();
    for (const Row& row : {Row{0.3, 1.001, -0.00}, Row{1, 1.011, -0.06}, Row{2, 1.043, -0.22}, Row{5, 1.291, -1.22}}) {
        const Peak residual = compensated(theta(38 + row.a2, -9), theta(38, -9));
        EXPECT_NEAR(residual.fwhm / sharp.fwhm, row.width_ratio, 2e-3) << row.a2 << " rad";
        EXPECT_NEAR(power_decibels(residual.height / sharp.height), row.peak_db, 0.01) << row.a2 << " rad";
    }
}

// A Gaussian narrow enough that its ends do not matter: width and height have closed forms.
TEST_F(Dispersion, GaussianBroadensByFormula) {
    constexpr std::size_t n = ClosedFormInstrument::samples;
    constexpr double width = 0.4;  // FWHM of the power spectrum, in units of the half band
    for (const double a2 : {10.0, 40.0, 100.0}) {
        std::vector<float> sharp, dispersed;
        for (std::size_t j = 0; j < n; ++j) {
            const double edge = 2.0 * static_cast<double>(j) / (n - 1) - 1;
            const double source = std::exp(-4 * std::numbers::ln2 * edge * edge / (width * width));
            const double phase = 2 * std::numbers::pi * 400 * static_cast<double>(j) / n;
            sharp.push_back(static_cast<float>(source * std::cos(phase)));
            dispersed.push_back(static_cast<float>(source * std::cos(phase + a2 * edge * edge)));
        }
        ReconstructionSpec bare = spec();
        bare.recipe.window = Window::rect;
        const double x = a2 * width * width / (4 * std::numbers::ln2);
        const Peak before = power_peak(bare, sharp), after = power_peak(bare, dispersed);
        EXPECT_NEAR(after.fwhm / before.fwhm, std::sqrt(1 + x * x), 1e-3 * std::sqrt(1 + x * x)) << a2 << " rad";
        EXPECT_NEAR(after.height / before.height, 1 / std::sqrt(1 + x * x), 1e-3) << a2 << " rad";
    }
}

}  // namespace
}  // namespace echolux
