// The part that all A-scans have in common: everything for a mirror, almost nothing for speckle.
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <random>

#include "compute/calibrate/calibrate.h"
#include "tests/oracle/chain.h"

namespace echolux {
namespace {

constexpr std::int64_t n = 256, lines = 64;

CommonFringe fringe_of(bool same_phase) {
    ReconstructionSpec spec;
    spec.format.sample_format = SampleFormat::f32;
    spec.geometry.samples = n;
    spec.geometry.a_scans = lines;
    spec.geometry.b_scans = 1;
    std::mt19937 random(3);
    std::uniform_real_distribution<double> phase(0, 2 * std::numbers::pi);
    std::normal_distribution<double> noise(0, 0.5);
    std::vector<float> spectra;
    for (std::int64_t l = 0; l < lines; ++l) {
        const double start = same_phase ? 1.0 : phase(random);
        for (std::int64_t p = 0; p < n; ++p) {
            const double x = static_cast<double>(p) / n;
            const double source = 1000 * std::exp(-8 * (x - 0.5) * (x - 0.5));
            spectra.push_back(
                static_cast<float>(source + 20 * std::cos(2 * std::numbers::pi * 40 * x + start) + noise(random)));
        }
    }
    return strongest_common_fringe(spec, block_of(bytes_of_lines(spectra), 0, 1));
}

TEST(CommonFringe, CoversMirror) {
    const CommonFringe fringe = fringe_of(true);
    EXPECT_GT(fringe.share, 0.95);
    EXPECT_NEAR(static_cast<double>(fringe.bin), 40, 1);
}

TEST(CommonFringe, IsSmallForSpeckle) {
    EXPECT_LT(fringe_of(false).share, 0.3);
}

}  // namespace
}  // namespace echolux
