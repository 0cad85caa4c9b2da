// A real instrument (folder ECHOLUX_DATA): its mirrors, the sign of its dispersion, its volume, and the shaping of its
// source. Expected values are from an independent NumPy and SciPy reconstruction.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <numbers>
#include <string>
#include <tuple>

#include "compute/indexing.h"
#include "compute/methods/defr.h"
#include "tests/oracle/chain.h"
#include "tests/oracle/peak.h"
#include "tests/support/set_fields.h"

namespace echolux {
namespace {

constexpr std::int64_t n = 1024;

class Recorded : public testing::Test {
  protected:
    std::filesystem::path folder;

    void SetUp() override {
        const char* place = std::getenv("ECHOLUX_DATA");
        if (place == nullptr) GTEST_SKIP() << "ECHOLUX_DATA does not name the folder of recorded data";
        folder = std::filesystem::path(place) / "sd-oct-volume";
        ASSERT_TRUE(std::filesystem::exists(folder)) << folder;
    }

    // Reads one number per line, after a heading.
    std::vector<double> column(const std::string& name) const {
        std::ifstream file(folder / (name + ".csv"));
        std::string heading;
        std::getline(file, heading);
        std::vector<double> values;
        for (double value; file >> value;) values.push_back(value);
        EXPECT_EQ(values.size(), index(n)) << name;
        return values;
    }
};

enum class Correction { none, as_given, opposite };

class RecordedMirror : public Recorded {
  protected:
    Peak peak(const std::string& name, Resample resample, Correction correction) const {
        ReconstructionSpec spec = plain_spec(n, 1);
        spec.calibration.background = column("dark_ref");
        spec.calibration.k_positions = column("k_linear_positions");
        spec.calibration.dispersion_rad = column("dispersion_phase_rad");
        spec.calibration.dispersion_holds =
            correction == Correction::as_given ? PhaseMeaning::correction : PhaseMeaning::theta;
        set(spec, "background=stored window=hann zero_padding=4");
        spec.recipe.resample = resample;
        spec.recipe.dispersion = correction != Correction::none;
        const std::vector<double> counts = column(name);
        const std::vector<float> line(counts.begin(), counts.end());
        const auto profile = amplitudes(reconstructed<std::complex<float>>(spec, line));
        Peak found = peak_of(profile, 4 * 20, profile.size());
        found.bin /= 4;
        found.fwhm /= 4;
        return found;
    }
};

TEST_F(RecordedMirror, ResamplingSharpensBoth) {
    const Peak first = peak("mirror1", Resample::spline, Correction::none);
    EXPECT_NEAR(first.bin, 48.3, 0.1);
    EXPECT_NEAR(first.fwhm, 2.38, 0.03);
    EXPECT_NEAR(peak("mirror1", Resample::none, Correction::none).fwhm, 7.6, 0.1);
    const Peak second = peak("mirror2", Resample::spline, Correction::none);
    EXPECT_NEAR(second.bin, 125.4, 0.1);
    EXPECT_NEAR(second.fwhm, 2.37, 0.03);
    EXPECT_NEAR(peak("mirror2", Resample::none, Correction::none).fwhm, 14.8, 0.2);
}

TEST_F(RecordedMirror, CorrectionNarrowsOneSideAndWidensOther) {
    EXPECT_NEAR(peak("mirror1", Resample::spline, Correction::as_given).fwhm, 3.01, 0.03);
    EXPECT_NEAR(peak("mirror1", Resample::spline, Correction::opposite).fwhm, 2.21, 0.03);
    EXPECT_NEAR(peak("mirror2", Resample::spline, Correction::as_given).fwhm, 2.21, 0.03);
    EXPECT_NEAR(peak("mirror2", Resample::spline, Correction::opposite).fwhm, 2.96, 0.03);
}

// Sum of the fringes from both sides of zero delay: a full-range recording with weak dispersion.
class RecordedFullRange : public Recorded {
  protected:
    ReconstructionSpec spec() const {
        ReconstructionSpec spec = plain_spec(n, 1);
        set(spec, "dispersion_holds=correction recipe.method=defr resample=spline");
        spec.calibration.k_positions = column("k_linear_positions");
        spec.calibration.dispersion_rad = column("dispersion_phase_rad");
        spec.calibration.background = column("dark_ref");
        spec.calibration.dark = column("dark_not");
        set(spec, "window=hann dispersion=true");
        return spec;
    }

    // Subtracts the light of each arm alone, and adds back the dark level that was subtracted twice.
    std::vector<double> fringes_of(const std::string& mirror, const std::string& sample_alone) const {
        std::vector<double> fringes = column(mirror);
        const std::vector<double> reference = column("dark_ref"), sample = column(sample_alone),
                                  dark = column("dark_not");
        for (std::size_t p = 0; p < n; ++p) fringes[p] += dark[p] - reference[p] - sample[p];
        return fringes;
    }

    std::vector<double> profile(std::int64_t iterations) const {
        const std::vector<double> first = fringes_of("mirror1", "dark_sample1");
        const std::vector<double> second = fringes_of("mirror2", "dark_sample2");
        std::vector<float> both;
        for (std::size_t p = 0; p < n; ++p) both.push_back(static_cast<float>(first[p] + second[p]));
        ReconstructionSpec searching = spec();
        searching.defr.iterations = iterations;
        return amplitudes(reconstructed<std::complex<float>>(searching, both));
    }

    // Level of the image at -bin relative to the one at bin.
    static double suppression_db(const std::vector<double>& profile, std::ptrdiff_t bin) {
        const auto highest = [&](std::ptrdiff_t around) {
            const auto middle = profile.begin() + n / 2 + around;
            return *std::max_element(middle - 6, middle + 7);
        };
        return 20 * std::log10(highest(bin) / highest(-bin));
    }
};

TEST_F(RecordedFullRange, DistinguishesSides) {
    const std::vector<double> before = profile(0), after = profile(10), later = profile(20);
    const auto strongest = std::max_element(later.begin(), later.end()) - later.begin() - n / 2;
    EXPECT_TRUE(std::abs(strongest - 125) <= 1 || std::abs(strongest + 48) <= 1) << strongest;
    for (const auto& [bin, min_after, min_later] : {std::tuple{125, 12.0, 29.0}, {-48, 19.0, 29.0}}) {
        EXPECT_LE(suppression_db(before, bin), 6) << bin;
        EXPECT_GE(suppression_db(after, bin), min_after) << bin;
        EXPECT_GE(suppression_db(later, bin), min_later) << bin;
    }
}

TEST_F(RecordedFullRange, DetectsWeakDispersion) {
    EXPECT_NEAR(defr_tables(spec()).gamma, 0.86, 0.02);
    EXPECT_GT(defr_tables(spec()).gamma, weak_diversity);
}

class RecordedVolume : public Recorded {};

TEST_F(RecordedVolume, LevelsAndSurfaceMatchNumPy) {
    constexpr double sum_of_hann_db = 54.2;  // the reference does not divide by the sum of the window
    constexpr std::size_t depth = n / 2, lines = 10000;
    std::ifstream file(folder / "spectra_u16_100x100x1024.raw", std::ios::binary);
    std::vector<std::uint16_t> spectra(lines * n);
    file.read(reinterpret_cast<char*>(spectra.data()), static_cast<std::streamsize>(spectra.size() * 2));
    ASSERT_TRUE(file);

    ReconstructionSpec spec;
    set(spec, "dispersion_holds=correction background=frame_mean resample=spline levels=fixed");
    spec.geometry = {.samples = n, .a_scans = 100, .b_scans = 100};
    spec.calibration.k_positions = column("k_linear_positions");
    spec.calibration.dispersion_rad = column("dispersion_phase_rad");
    const auto db = reconstructed<float>(spec, spectra);

    std::vector<float> deep, surface;
    float brightest = -300;
    for (std::size_t line = 0; line < lines; ++line) {
        const auto a_scan = db.begin() + static_cast<std::ptrdiff_t>(line * depth);
        surface.push_back(static_cast<float>(std::max_element(a_scan + 20, a_scan + 300) - a_scan));
        deep.insert(deep.end(), a_scan + 400, a_scan + 512);
        brightest = std::max(brightest, *std::max_element(a_scan + 21, a_scan + depth));
    }
    const auto median = [](std::vector<float>& values) {
        std::nth_element(values.begin(), values.begin() + std::ssize(values) / 2, values.end());
        return double{values[values.size() / 2]};
    };
    EXPECT_EQ(median(surface), 61);
    EXPECT_NEAR(median(deep) + sum_of_hann_db, 32.65, 0.1);
    EXPECT_NEAR(double{brightest} + sum_of_hann_db, 96.3, 0.1);
}

class RecordedSource : public Recorded {
  protected:
    // FWHM of a mirror composed of the recorded light, shaped to a Hann spectrum.
    double shaped_fwhm(bool dark_known) const {
        const std::vector<double> reference = column("dark_ref"), dark = column("dark_not");
        ReconstructionSpec spec = plain_spec(n, 1);
        spec.calibration.background = reference;
        if (dark_known) spec.calibration.dark = dark;
        set(spec, "background=stored shaping=hann zero_padding=4");
        std::vector<float> line;
        for (std::size_t p = 0; p < n; ++p) {
            const double fringe = 0.1 * std::cos(2 * std::numbers::pi * 200 * static_cast<double>(p) / n);
            line.push_back(static_cast<float>(reference[p] + (reference[p] - dark[p]) * fringe));
        }
        return peak_of(amplitudes(reconstructed<std::complex<float>>(spec, line))).fwhm / 4;
    }
};

// The amplitude of a Hann spectrum has a FWHM of 2.002 bins.
TEST_F(RecordedSource, ShapingReachesTargetWithoutDarkLevel) {
    EXPECT_NEAR(shaped_fwhm(true), 2.002, 0.02);
    EXPECT_NEAR(shaped_fwhm(false), 2.17, 0.02);
}

}  // namespace
}  // namespace echolux
