// Calibration from two mirrors (docs/algorithms.md 2.4), compared with an instrument in closed form and with the
// published calibration of a real one (in the folder ECHOLUX_DATA).
#include "compute/calibrate/mirrors.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <numbers>
#include <random>

#include "compute/error.h"
#include "compute/plan/cubic.h"
#include "tests/oracle/chain.h"
#include "tests/oracle/instrument.h"
#include "tests/oracle/peak.h"
#include "tests/support/error_of.h"

namespace echolux {
namespace {

constexpr double a2 = 38, a3 = -9;

class Mirrors : public testing::Test {
  protected:
    const ClosedFormInstrument instrument;

    // Phase of the sample arm at each pixel, zero in the middle of the band.
    std::vector<double> theta(double sign) const {
        const double low = instrument.pixel_k.back(), high = instrument.pixel_k.front();
        std::vector<double> phase;
        for (const double k : instrument.pixel_k) {
            const double kappa = 2 * (k - low) / (high - low) - 1;
            phase.push_back(sign * (a2 + a3 * kappa) * kappa * kappa);
        }
        return phase;
    }

    // A mirror before (-1) or behind (1) zero delay. `noise` is relative to the fringe's peak.
    std::vector<double> mirror(double depth_um, double side, double noise, unsigned seed) const {
        std::mt19937 random(seed);
        std::normal_distribution<double> normal(0, 1);
        std::vector<double> counts;
        for (const float value : instrument.fringe(instrument.pixel_k, depth_um, theta(side))) {
            counts.push_back(1000 * (double{value} + noise * normal(random)));
        }
        return counts;
    }

    static std::vector<double> plus(std::vector<double> counts, const std::vector<double>& other) {
        for (std::size_t p = 0; p < counts.size(); ++p) counts[p] += other[p];
        return counts;
    }

    MirrorPair pair(MirrorSides sides, double noise) const {
        MirrorPair mirrors;
        const double second_side = sides == MirrorSides::opposite ? -1 : 1;
        for (const double k : instrument.pixel_k) mirrors.background.push_back(300 + 1000 * instrument.source(k));
        mirrors.dark.assign(mirrors.background.size(), 300);
        mirrors.mirrors = {plus(mirror(200, 1, noise, 1), mirrors.background),
                           plus(mirror(520, second_side, noise, 2), mirrors.background)};
        mirrors.sides = sides;
        mirrors.k_falls = true;
        return mirrors;
    }

    // Error of the map in pixels over the central 76 %, after subtracting the best straight line.
    struct MapError {
        double rms = 0;
        double greatest = 0;
    };
    MapError map_error(const std::vector<double>& positions) const {
        return error_against(positions, instrument.positions);
    }

  public:
    // Compares the grid points of each pixel in both maps; a linear relation is not an error.
    static MapError error_against(std::vector<double> found, std::vector<double> truth) {
        const auto n = std::ssize(found);
        std::vector<double> point(found.size());
        for (std::size_t j = 0; j < point.size(); ++j) point[j] = static_cast<double>(j);
        if (found.front() > found.back()) std::reverse(found.begin(), found.end());
        if (truth.front() > truth.back()) std::reverse(truth.begin(), truth.end());
        const CubicSpline found_at(found, point), truth_at(truth, point);
        std::vector<double> x, y;
        for (std::int64_t p = n * 12 / 100; p < n - n * 12 / 100; ++p) {
            x.push_back(truth_at(static_cast<double>(p)));
            y.push_back(found_at(static_cast<double>(p)));
        }
        double sx = 0, sy = 0, sxx = 0, sxy = 0;
        const auto count = static_cast<double>(x.size());
        for (std::size_t i = 0; i < x.size(); ++i) {
            sx += x[i] / count;
            sy += y[i] / count;
        }
        for (std::size_t i = 0; i < x.size(); ++i) {
            sxx += (x[i] - sx) * (x[i] - sx);
            sxy += (x[i] - sx) * (y[i] - sy);
        }
        MapError error;
        for (std::size_t i = 0; i < x.size(); ++i) {
            const double rest = (y[i] - sy) - sxy / sxx * (x[i] - sx);
            error.rms += rest * rest / count;
            error.greatest = std::max(error.greatest, std::abs(rest));
        }
        error.rms = std::sqrt(error.rms);
        return error;
    }
};

TEST_F(Mirrors, FindsMapOfInstrumentWithoutNoise) {
    for (const MirrorSides sides : {MirrorSides::same, MirrorSides::opposite}) {
        const MirrorCalibration found = calibrated_by_mirrors(pair(sides, 0));
        const MapError error = map_error(found.k_positions);
        EXPECT_LT(error.rms, 0.005);
        EXPECT_LT(error.greatest, 0.0125);
        EXPECT_GT(found.k_positions.front(), found.k_positions.back()) << "k falls along the samples";
        EXPECT_NEAR(found.a2_rad, a2, 0.05);
        EXPECT_NEAR(found.a3_rad, a3, 0.05);
    }
}

TEST_F(Mirrors, OnePercentNoiseHasSmallEffect) {
    const MirrorCalibration found = calibrated_by_mirrors(pair(MirrorSides::same, 0.01));
    EXPECT_LT(map_error(found.k_positions).rms, 0.01);
    EXPECT_NEAR(found.a2_rad, a2, 0.05);
    EXPECT_NEAR(found.a3_rad, a3, 0.05);
}

TEST_F(Mirrors, BothMirrorsReachWidthOfSource) {
    std::vector<float> sharp = instrument.fringe(instrument.uniform_k, 200);
    const std::vector<double> line(sharp.begin(), sharp.end());
    const double truth = point_spread(mirror_profile(line, {}, {}), 20).fwhm;
    const MirrorCalibration found = calibrated_by_mirrors(pair(MirrorSides::opposite, 0.01));
    for (const std::size_t m : {0U, 1U}) {
        EXPECT_GT(found.fwhm_before[m], 5 * truth);
        EXPECT_GT(found.fwhm_mapped[m], 3 * truth);
        EXPECT_NEAR(found.fwhm[m], truth, 0.02 * truth);
    }
    EXPECT_NEAR(found.bin[0], instrument.bin_of(200), 0.05);
    EXPECT_NEAR(found.bin[1], instrument.bin_of(520), 0.05);
    EXPECT_NEAR(found.a2_of_each_rad[0], -found.a2_of_each_rad[1], 0.05);
}

// The wrong side also makes both recorded mirrors narrow, but a third depth reveals it.
TEST_F(Mirrors, ThirdDepthRevealsWrongSides) {
    const std::vector<double> third = mirror(900, 1, 0, 3);
    MirrorPair mirrors = pair(MirrorSides::same, 0);
    const MirrorCalibration right = calibrated_by_mirrors(mirrors);
    mirrors.sides = MirrorSides::opposite;
    const MirrorCalibration wrong = calibrated_by_mirrors(mirrors);
    for (const std::size_t m : {0U, 1U}) EXPECT_NEAR(wrong.fwhm[m], right.fwhm[m], 0.02 * right.fwhm[m]);
    const double truth = point_spread(mirror_profile(third, right.k_positions, right.dispersion_rad), 300).fwhm;
    EXPECT_LT(truth, 1.02 * right.fwhm[0]);
    EXPECT_GT(point_spread(mirror_profile(third, wrong.k_positions, wrong.dispersion_rad), 300).fwhm, 3 * truth);
}

TEST_F(Mirrors, DisplacementSetsScale) {
    MirrorPair mirrors = pair(MirrorSides::same, 0);
    EXPECT_EQ(calibrated_by_mirrors(mirrors).depth_pitch_um, 0) << "micrometres are never invented";
    mirrors.displacement_um = 320;
    const double pitch = 1 / instrument.bin_of(1);
    EXPECT_NEAR(calibrated_by_mirrors(mirrors).depth_pitch_um, pitch, 1e-3 * pitch);
    mirrors = pair(MirrorSides::opposite, 0);
    mirrors.displacement_um = 720;
    EXPECT_NEAR(calibrated_by_mirrors(mirrors).depth_pitch_um, pitch, 1e-3 * pitch);
}

// Assuming that k rises selects the mirror image of the object: the widths are the same.
TEST_F(Mirrors, DirectionOfKMirrorsSignsOnly) {
    MirrorPair mirrors = pair(MirrorSides::same, 0);
    const MirrorCalibration falls = calibrated_by_mirrors(mirrors);
    mirrors.k_falls = false;
    const MirrorCalibration rises = calibrated_by_mirrors(mirrors);
    EXPECT_EQ(rises.a2_rad, -falls.a2_rad);
    EXPECT_EQ(rises.a3_rad, falls.a3_rad);
    for (const MirrorCalibration& found : {falls, rises}) {
        const PointSpread spread =
            point_spread(mirror_profile(mirror(200, 1, 0, 1), found.k_positions, found.dispersion_rad), 20);
        EXPECT_NEAR(spread.fwhm, found.fwhm[0], 1e-3);
    }
}

TEST_F(Mirrors, RejectsMirrorsWithoutFringes) {
    MirrorPair mirrors = pair(MirrorSides::same, 0);
    std::mt19937 random(3);
    std::normal_distribution<double> normal(0, 5);
    mirrors.mirrors[1] = mirrors.background;
    for (double& count : mirrors.mirrors[1]) count += normal(random);
    const Caught caught = error_of([&] { calibrated_by_mirrors(mirrors); });
    EXPECT_EQ(caught.code, ErrorCode::bad_setting);
    EXPECT_NE(caught.line.find("mirror 2"), std::string::npos) << "noise was taken for a mirror: " << caught.line;
    mirrors.mirrors[1] = mirrors.mirrors[0];
    EXPECT_THROW(calibrated_by_mirrors(mirrors), Error) << "the same place twice says nothing of k";
}

class RecordedMirrors : public testing::Test {
  protected:
    static constexpr std::size_t n = 1024;
    std::filesystem::path folder;

    void SetUp() override {
        const char* place = std::getenv("ECHOLUX_DATA");
        if (place == nullptr) GTEST_SKIP() << "ECHOLUX_DATA does not name the folder of recorded data";
        folder = std::filesystem::path(place) / "sd-oct-volume";
    }

    std::vector<double> column(const std::string& name) const {
        std::ifstream file(folder / (name + ".csv"));
        std::string heading;
        std::getline(file, heading);
        std::vector<double> values;
        for (double value; file >> value;) values.push_back(value);
        EXPECT_EQ(values.size(), n) << name;
        return values;
    }

    std::vector<double> less(std::vector<double> counts, const std::string& name) const {
        const std::vector<double> other = column(name);
        for (std::size_t p = 0; p < n; ++p) counts[p] -= other[p];
        return counts;
    }

    MirrorPair pair() const {
        MirrorPair mirrors{.mirrors = {column("mirror1"), column("mirror2")},
                           .background = column("dark_ref"),
                           .dark = column("dark_not"),
                           .sides = MirrorSides::opposite};
        return mirrors;
    }

    // FWHM of |A| with 16-fold padding, computed independently by a natural spline and a direct sum around the peak.
    double fwhm(const std::vector<double>& fringe, const std::vector<double>& positions,
                const std::vector<double>& theta, double sign) const {
        std::vector<double> pixel(n);
        for (std::size_t p = 0; p < n; ++p) pixel[p] = static_cast<double>(p);
        const CubicSpline count_at(pixel, fringe);
        std::vector<std::complex<double>> spectrum;
        for (std::size_t j = 0; j < n; ++j) {
            const double window = 0.5 - 0.5 * std::cos(2 * std::numbers::pi * static_cast<double>(j) / (n - 1));
            const double count = count_at(std::clamp(positions[j], 0.0, static_cast<double>(n - 1)));
            spectrum.push_back(window * count * std::polar(1.0, -sign * theta[j]));
        }
        std::vector<double> profile;
        for (int bin = 16 * 30; bin < 16 * 150; ++bin) {
            std::complex<double> sum = 0;
            for (std::size_t j = 0; j < n; ++j) {
                sum += spectrum[j] * std::polar(1.0, -2 * std::numbers::pi * bin * static_cast<double>(j) / (16.0 * n));
            }
            profile.push_back(std::abs(sum));
        }
        return peak_of(profile).fwhm / 16;
    }
};

TEST_F(RecordedMirrors, AgreeWithPublishedPositions) {
    const MirrorCalibration found = calibrated_by_mirrors(pair());
    const auto error = Mirrors::error_against(found.k_positions, column("k_linear_positions"));
    RecordProperty("rms_px", std::to_string(error.rms));
    EXPECT_LT(error.rms, 0.05);
}

// Without two mirrors there is no map, regardless of the spectra that are passed as mirrors, background or side.
TEST_F(RecordedMirrors, DarknessAndLightWithoutMirrorAreRefused) {
    const std::vector<std::string> without{"dark_not", "dark_ref", "dark_sample1", "dark_sample2"};
    std::vector<std::string> all = without;
    all.insert(all.end(), {"mirror1", "mirror2"});
    for (const std::string& first : all) {
        for (const std::string& second : without) {
            for (const std::string& background : without) {
                for (const MirrorSides sides : {MirrorSides::same, MirrorSides::opposite}) {
                    MirrorPair mirrors = pair();
                    mirrors.mirrors = {column(first), column(second)};
                    mirrors.background = column(background);
                    mirrors.sides = sides;
                    EXPECT_THROW(calibrated_by_mirrors(mirrors), Error) << first << " " << second << " " << background;
                    std::swap(mirrors.mirrors[0], mirrors.mirrors[1]);
                    EXPECT_THROW(calibrated_by_mirrors(mirrors), Error) << second << " " << first << " " << background;
                }
            }
        }
    }
}

TEST_F(RecordedMirrors, OneDispersionSharpensBoth) {
    const std::array fringes{less(column("mirror1"), "dark_ref"), less(column("mirror2"), "dark_ref")};
    const MirrorCalibration found = calibrated_by_mirrors(pair());
    const std::vector<double> published = column("k_linear_positions"), phase = column("dispersion_phase_rad");
    const double side[] = {1, -1};
    for (const std::size_t m : {0U, 1U}) {
        const double with_published =
            std::min(fwhm(fringes[m], published, phase, 1), fwhm(fringes[m], published, phase, -1));
        const double ours = fwhm(fringes[m], found.k_positions, found.dispersion_rad, side[m]);
        EXPECT_LE(ours, 1.05 * with_published);
        EXPECT_NEAR(found.fwhm[m], ours, 0.01);
        EXPECT_GT(fwhm(fringes[m], found.k_positions, found.dispersion_rad, -side[m]), 1.2 * ours);
    }
    EXPECT_NEAR(std::abs(found.a2_of_each_rad[0]), std::abs(found.a2_of_each_rad[1]), 0.3);
}

}  // namespace
}  // namespace echolux
