#include "compute/calibrate/fringe_phase.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <numbers>
#include <string>

#include "compute/fft/fft.h"
#include "compute/indexing.h"
#include "compute/plan/choices.h"

namespace echolux {
namespace {

using std::numbers::pi;

constexpr std::int64_t first_band_bin = 5;  // bins below contain the residual source spectrum

// Bins [begin, end) around the peak of a fringe.
struct Band {
    std::int64_t begin = 0;
    std::int64_t end = 0;

    // Tapered window over the band: the fourth root of a Hann window, which is flat except near the ends.
    double taper(std::int64_t bin) const {
        const double u = static_cast<double>(bin - begin + 1) / static_cast<double>(end - begin + 1);
        return std::pow(0.5 - 0.5 * std::cos(2 * pi * u), 0.25);
    }
};

// Returns the strongest bin of `spectrum`, excluding bins with residual source spectrum.
std::int64_t strongest_bin(const std::vector<std::complex<float>>& spectrum, const char* name) {
    const std::int64_t half = std::ssize(spectrum) / 2;
    const std::int64_t begin = std::max(first_band_bin, std::ssize(spectrum) / 100);
    std::vector<float> power;
    for (std::int64_t b = begin; b < half; ++b) power.push_back(std::norm(spectrum[index(b)]));
    const auto top = std::max_element(power.begin(), power.end());
    const std::int64_t bin = begin + (top - power.begin());
    const float highest = *top;
    std::nth_element(power.begin(), power.begin() + std::ssize(power) / 2, power.end());
    constexpr float min_above_median = 100;  // 20 dB
    require(highest > min_above_median * power[power.size() / 2], "shows no fringe", name, no_fringe_remedy);
    return bin;
}

// The width grows with the frequency, because the k nonlinearity broadens the peak in proportion to it.
Band band_around(std::int64_t bin, std::int64_t samples) {
    const std::int64_t width = std::max<std::int64_t>(40, bin / 2 + 20);
    return {std::max(first_band_bin, bin - width), std::min(samples / 2, bin + width + 1)};
}

}  // namespace

FringePhase fringe_phase(std::span<const double> fringe, const char* name) {
    const std::int64_t n = std::ssize(fringe);
    require(n >= 32, "the spectrum is too short", name, "at least 32 samples");
    Fft transform(Fft::Kind::complex_forward, n);
    std::transform(fringe.begin(), fringe.end(), transform.complex_in(),
                   [](double value) { return std::complex<float>(static_cast<float>(value)); });
    transform.execute();
    const std::vector<std::complex<float>> spectrum(transform.complex_out(), transform.complex_out() + n);

    FringePhase found;
    const std::int64_t bin = strongest_bin(spectrum, name);
    found.bin = static_cast<double>(bin);
    const Band band = band_around(bin, n);
    std::fill_n(transform.complex_in(), n, std::complex<float>());
    for (std::int64_t b = band.begin; b < band.end; ++b) {  // conjugate before and after: inverse transform
        transform.complex_in()[b] = std::conj(spectrum[index(b)]) * static_cast<float>(band.taper(b));
    }
    transform.execute();

    double turns = 0, before = 0;
    for (std::int64_t p = 0; p < n; ++p) {
        const double phase = -std::arg(std::complex<double>(transform.complex_out()[p]));
        if (p > 0) turns -= std::round((phase - before) / (2 * pi));
        before = phase;
        found.phase_rad.push_back(phase + 2 * pi * turns);
    }
    return found;
}

}  // namespace echolux
