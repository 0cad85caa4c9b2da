// The exact transform (docs/algorithms.md 4) compared with sums over the true wavenumbers of the samples, and its
// benefit: any zoom. resampling_test.cpp compares its loss and artefacts. chain_test.cpp compares the whole chain with
// NumPy.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "tests/oracle/chain.h"
#include "tests/oracle/instrument.h"

namespace echolux {
namespace {

using Field = std::vector<std::complex<float>>;

std::vector<std::complex<double>> in_double(const Field& field) {
    return {field.begin(), field.end()};
}

class ExactTransform : public testing::Test {
  protected:
    const ClosedFormInstrument instrument;
    const std::int64_t n = ClosedFormInstrument::samples;

    ReconstructionSpec spec_for(Resample resample, std::int64_t zero_padding) const {
        ReconstructionSpec spec = plain_spec(n, 1);
        spec.recipe.window = Window::hann;
        spec.recipe.resample = resample;
        spec.recipe.zero_padding = zero_padding;
        spec.calibration.k_positions = instrument.positions;
        return spec;
    }

    std::vector<float> mirror(double share_of_range) const {
        return instrument.fringe(instrument.pixel_k, share_of_range * instrument.depth_limit_um);
    }

    // Depth bins [begin, end) of a transform of `zero_padding` x n points, as sums over the samples' true k.
    std::vector<std::complex<double>> direct_sum(const std::vector<float>& line, std::int64_t zero_padding,
                                                 std::int64_t begin, std::int64_t end) const {
        const std::vector<double>& k = instrument.pixel_k;
        const double k_min = instrument.uniform_k.front(), k_max = instrument.uniform_k.back();
        const double last = static_cast<double>(n - 1), step = (k_max - k_min) / last;
        std::vector<std::complex<double>> bins;
        for (std::int64_t z = begin; z < end; ++z) {
            std::complex<double> sum = 0;
            for (std::size_t p = 0; p < k.size(); ++p) {
                const std::size_t left = p == 0 ? 0 : p - 1, right = std::min(p + 1, k.size() - 1);
                const double share = (k[left] - k[right]) / step / static_cast<double>(right - left);
                const double u = (k[p] - k_min) / (k_max - k_min);
                const double window = std::pow(std::sin(std::numbers::pi * u), 2);
                const double turns = static_cast<double>(z) / static_cast<double>(zero_padding * n) * u * last;
                sum += window * share * double{line[p]} * std::polar(1.0, -2 * std::numbers::pi * turns);
            }
            bins.push_back(sum / (last / 2));  // the sum of the window on the grid
        }
        return bins;
    }
};

TEST_F(ExactTransform, IsSumOverTrueWavenumbers) {
    const std::vector<float> line = mirror(0.6);
    const auto expected = direct_sum(line, 1, 0, n / 2);
    ReconstructionSpec spec = spec_for(Resample::nudft, 1);
    EXPECT_LE(relative_l2(reconstructed<std::complex<float>>(spec, line), expected), 1e-6);
    spec.calibration.k_positions.clear();
    spec.calibration.wavelengths_nm = instrument.wavelengths_nm;
    EXPECT_LE(relative_l2(reconstructed<std::complex<float>>(spec, line), expected), 1e-6);
}

TEST_F(ExactTransform, ZoomMatchesSumOnFinerGrid) {
    const std::vector<float> line = mirror(0.6);
    const auto mirror_bin = std::llround(instrument.bin_of(0.6 * instrument.depth_limit_um));
    ReconstructionSpec spec = spec_for(Resample::nudft, 4);
    spec.recipe.depth_begin = mirror_bin - 8;
    spec.recipe.depth_end = mirror_bin + 9;
    const auto zoomed = reconstructed<std::complex<float>>(spec, line);
    ASSERT_EQ(zoomed.size(), 4u * 17u);
    EXPECT_LE(relative_l2(zoomed, direct_sum(line, 4, 4 * (mirror_bin - 8), 4 * (mirror_bin + 9))), 1e-6);
}

// For samples uniform in k, both transforms are identical.
TEST_F(ExactTransform, EqualsFourierTransformForUniformSpectrum) {
    const std::vector<float> line = instrument.fringe(instrument.uniform_k, 0.4 * instrument.depth_limit_um);
    ReconstructionSpec spec = spec_for(Resample::none, 2);
    const auto fourier = in_double(reconstructed<std::complex<float>>(spec, line));
    spec.recipe.resample = Resample::nudft;
    for (std::size_t j = 0; j < spec.calibration.k_positions.size(); ++j) {
        spec.calibration.k_positions[j] = static_cast<double>(j);
    }
    EXPECT_LE(relative_l2(reconstructed<std::complex<float>>(spec, line), fourier), 1e-6);
}

}  // namespace
}  // namespace echolux
