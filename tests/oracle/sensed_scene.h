// Scenes for compressive sensing: reflectors in closed form as seen by the model instrument, a plan for them, and the
// least squares profile of all their samples, found by conjugate gradients over explicit sums in double.
#pragma once

#include <algorithm>
#include <cmath>
#include <complex>
#include <iterator>
#include <numbers>
#include <random>
#include <utility>
#include <vector>

#include "tests/oracle/chain.h"
#include "tests/oracle/instrument.h"

namespace echolux {

struct SensedScene {
    using Field = std::vector<std::complex<float>>;
    using Profile = std::vector<std::complex<double>>;
    static constexpr double pi = std::numbers::pi;
    static constexpr std::int64_t n = ClosedFormInstrument::samples;

    const ClosedFormInstrument instrument;

    // Positions of the pixels on the uniform grid.
    std::vector<double> points() const {
        std::vector<double> x;
        const double first = instrument.uniform_k.front(), span = instrument.uniform_k.back() - first;
        for (const double k : instrument.pixel_k) x.push_back((k - first) / span * static_cast<double>(n - 1));
        return x;
    }

    ReconstructionSpec spec_for(std::int64_t lines) const {
        ReconstructionSpec spec = plain_spec(n, lines);
        spec.recipe.method = Method::compressive;
        spec.calibration.wavelengths_nm = instrument.wavelengths_nm;
        for (const double k : instrument.pixel_k) spec.calibration.background.push_back(4000 * instrument.source(k));
        spec.compressive.mask = SensingMask::variable;
        return spec;
    }

    // Wavelengths of a quadratic chirp that is nineteen times denser in k at one end than at the other.
    static std::vector<double> chirped_wavelengths_nm(std::int64_t pixels) {
        std::vector<double> wavelengths;
        for (std::int64_t p = 0; p < pixels; ++p) {
            const double u = 2 * static_cast<double>(p) / static_cast<double>(pixels - 1) - 1;
            wavelengths.push_back(2e3 * pi / (7.4 + 0.4 * (u + 0.45 * (u * u - 1))));
        }
        return wavelengths;
    }

    // 20 reflectors over 30 dB with a Gaussian source, amplitude 800 and noise of 2 counts. Depths are limited so that
    // neighbouring pixels differ by at most half a fringe.
    std::vector<float> scene(unsigned seed) const {
        std::mt19937 random(seed);
        std::uniform_real_distribution<double> bin(20, 768), level_db(-30, 0), phase(0, 2 * pi);
        std::normal_distribution<double> noise(0, 2);
        const std::vector<double> x = points();
        std::vector<double> line(n);
        for (int i = 0; i < 20; ++i) {
            const double z = bin(random), a = 800 * std::pow(10, level_db(random) / 20), start = phase(random);
            for (std::size_t p = 0; p < line.size(); ++p) {
                line[p] += a * instrument.source(instrument.pixel_k[p]) * std::cos(2 * pi * z * x[p] / n + start);
            }
        }
        std::vector<float> samples;
        for (const double value : line) samples.push_back(static_cast<float>(value + noise(random)));
        return samples;
    }

    std::vector<float> scenes(int lines) const {
        std::vector<float> all;
        for (int i = 0; i < lines; ++i) std::ranges::copy(scene(static_cast<unsigned>(i)), std::back_inserter(all));
        return all;
    }

    // Returns one line per mirror.
    std::vector<float> mirrors(const std::vector<double>& depths) const {
        const std::vector<double> x = points();
        std::vector<float> lines;
        for (const double z : depths) {
            for (std::size_t p = 0; p < x.size(); ++p) {
                const double fringe = std::cos(2 * pi * z * x[p] / n + 1);
                lines.push_back(static_cast<float>(800 * instrument.source(instrument.pixel_k[p]) * fringe));
            }
        }
        return lines;
    }
};

// Sums over modes or samples, scaled as in methods/compressive.h, computed without the program's code. The inner loops
// use pointers: tests are compiled without inlining, and there are two million factors.
struct ExplicitSums {
    using Profile = SensedScene::Profile;
    static constexpr std::int64_t n = SensedScene::n;

    explicit ExplicitSums(const std::vector<double>& x) : factors(x.size() * n / 2) {
        for (std::size_t p = 0; p < x.size(); ++p) {
            for (std::size_t m = 0; m < n / 2; ++m) {
                factors[p * n / 2 + m] =
                    std::polar(1 / std::sqrt(double{n}), -2 * std::numbers::pi * x[p] * static_cast<double>(m) / n);
            }
        }
    }

    std::vector<double> to_samples(const Profile& profile) const {
        std::vector<double> samples(factors.size() / profile.size());
        const auto *factor = reinterpret_cast<const double*>(factors.data()),
                   *modes = reinterpret_cast<const double*>(profile.data());
        const std::size_t end = 2 * profile.size();
        for (double& sample : samples) {
            double sum = factor[0] * modes[0] + factor[1] * modes[1];
            for (std::size_t m = 2; m < end; m += 2) sum += 2 * (factor[m] * modes[m] + factor[m + 1] * modes[m + 1]);
            sample = sum;
            factor += end;
        }
        return samples;
    }

    Profile to_depth(const std::vector<double>& samples) const {
        Profile profile(n / 2);
        const auto* factor = reinterpret_cast<const double*>(factors.data());
        auto* modes = reinterpret_cast<double*>(profile.data());
        const std::size_t end = 2 * profile.size();
        for (const double sample : samples) {
            for (std::size_t m = 0; m < end; ++m) modes[m] += sample * factor[m];
            factor += end;
        }
        return profile;
    }

    // Returns the least squares profile.
    Profile solved(const std::vector<double>& samples) const {
        const auto product = [](const Profile& a, const Profile& b) {
            double sum = 0;
            for (std::size_t m = 0; m < a.size(); ++m) {
                sum += (m == 0 ? 1 : 2) * (a[m].real() * b[m].real() + a[m].imag() * b[m].imag());
            }
            return sum;
        };
        Profile x(n / 2), r = to_depth(samples), direction = r;
        double square = product(r, r);
        for (int i = 0; i < 25 && square > 0; ++i) {
            const Profile seen = to_depth(to_samples(direction));
            const double length = square / product(direction, seen);
            for (std::size_t m = 0; m < x.size(); ++m) {
                x[m] += length * direction[m];
                r[m] -= length * seen[m];
            }
            const double before = std::exchange(square, product(r, r));
            for (std::size_t m = 0; m < x.size(); ++m) direction[m] = r[m] + square / before * direction[m];
        }
        return x;
    }

    std::vector<std::complex<double>> factors;
};

// PSNR of amplitudes, in x as scaled by methods/compressive.h: bins / sqrt(n), for a window whose sum is n.
inline double psnr_db(const std::complex<float>* bins, const SensedScene::Profile& truth) {
    double most = 0, error = 0;
    for (std::size_t m = 0; m < truth.size(); ++m) {
        const double expected = std::abs(truth[m]),
                     found = std::abs(std::complex<double>(bins[m])) * std::sqrt(double{SensedScene::n});
        most = std::max(most, expected);
        error += (found - expected) * (found - expected) / static_cast<double>(truth.size());
    }
    return 10 * std::log10(most * most / error);
}

}  // namespace echolux
