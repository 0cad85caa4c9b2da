// The windows of docs/algorithms.md 3.8. An impulse at sample p leaves the chain as w[p] / sum(w), so lines with one
// impulse each show the whole window. Its spectrum is then computed by direct sums at 64 points per bin.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>
#include <string>

#include "tests/oracle/chain.h"
#include "tests/oracle/peak.h"

namespace echolux {
namespace {

constexpr std::int64_t n = 2048;
constexpr int oversampling = 64;

struct Figures {
    std::string name;
    Window window;
    double coherent_gain, noise_bandwidth_bins, fwhm_bins, side_lobe_db;
};

const Figures figures[] = {
    {"rect", Window::rect, 1, 1, .886, -13.3},
    {"hann", Window::hann, .5, 1.5, 1.441, -31.5},
    {"hamming", Window::hamming, .54, 1.363, 1.303, -42.7},
    {"blackman", Window::blackman, .42, 1.728, 1.645, -58.1},
    {"blackman_harris", Window::blackman_harris, .3586, 2.005, 1.900, -92.0},
    {"tukey", Window::tukey, .75, 1.223, 1.151, -15.1},
    {"gaussian", Window::gaussian, .3757, 1.884, 1.772, -64.2},
};

// w / sum(w), as applied by the chain.
std::vector<double> applied_window(Window window) {
    ReconstructionSpec spec = plain_spec(n, n);
    spec.recipe.window = window;
    spec.recipe.depth_end = 1;
    std::vector<float> impulses(n * n, 0.0f);
    for (std::size_t p = 0; p < n; ++p) impulses[p * n + p] = 1;
    std::vector<double> weights;
    for (const std::complex<float> a : reconstructed<std::complex<float>>(spec, impulses)) {
        weights.push_back(static_cast<double>(a.real()));
    }
    return weights;
}

// |sum w_j e^(i 2 pi f j / n)| for f from -24 to 24 bins.
std::vector<double> spectrum_around_zero(const std::vector<double>& weights) {
    std::vector<double> spectrum;
    for (int step = -24 * oversampling; step <= 24 * oversampling; ++step) {
        const std::complex<double> turn = std::polar(1.0, 2 * std::numbers::pi * step / (oversampling * n));
        std::complex<double> phase = 1, sum = 0;
        for (const double w : weights) {
            sum += w * phase;
            phase *= turn;
        }
        spectrum.push_back(std::abs(sum));
    }
    return spectrum;
}

double highest_side_lobe(const std::vector<double>& spectrum) {
    std::size_t i = spectrum.size() / 2;
    while (i + 1 < spectrum.size() && spectrum[i + 1] < spectrum[i]) ++i;
    return *std::max_element(spectrum.begin() + static_cast<std::ptrdiff_t>(i), spectrum.end());
}

std::ostream& operator<<(std::ostream& out, const Figures& figure) {
    return out << figure.name;
}

class WindowFigures : public testing::TestWithParam<Figures> {};

TEST_P(WindowFigures, MatchTable) {
    const std::vector<double> weights = applied_window(GetParam().window);
    const double greatest = *std::max_element(weights.begin(), weights.end());
    const double squares = std::inner_product(weights.begin(), weights.end(), weights.begin(), 0.0);
    EXPECT_NEAR(std::accumulate(weights.begin(), weights.end(), 0.0), 1, 1e-6);
    EXPECT_NEAR(1 / (n * greatest), GetParam().coherent_gain, 1.0 / n);  // the table assumes an infinite n
    EXPECT_NEAR(n * squares, GetParam().noise_bandwidth_bins, 1e-3);

    const std::vector<double> spectrum = spectrum_around_zero(weights);
    std::vector<double> power;
    for (const double a : spectrum) power.push_back(a * a);
    EXPECT_NEAR(peak_of(power).fwhm / oversampling, GetParam().fwhm_bins, 1e-3);
    EXPECT_NEAR(decibels(highest_side_lobe(spectrum)), GetParam().side_lobe_db, 0.1);
}

TEST_P(WindowFigures, WindowIsSymmetric) {
    const std::vector<double> weights = applied_window(GetParam().window);
    for (std::size_t j = 0; j < n / 2; ++j) ASSERT_NEAR(weights[j], weights[n - 1 - j], 1e-7 / n) << j;
}

INSTANTIATE_TEST_SUITE_P(Windows, WindowFigures, testing::ValuesIn(figures),
                         [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace echolux
