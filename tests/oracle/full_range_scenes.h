// Full-range scenes with profiles in closed form: sums of cosines with dispersion, and the corresponding single-sided
// sums of exponentials.
#pragma once

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <numbers>
#include <random>
#include <vector>

#include "compute/indexing.h"
#include "tests/oracle/chain.h"
#include "tests/support/set_fields.h"

namespace echolux::full_range {

using std::numbers::pi;
using Profile = std::vector<std::complex<double>>;

inline constexpr std::int64_t n = 2048;

struct Reflector {
    double bin;
    double amplitude;
    double phase;
};

inline double kappa(std::int64_t j) {
    return 2 * static_cast<double>(j) / static_cast<double>(n - 1) - 1;
}

inline double theta(std::int64_t j, double a2, double a3) {
    return (a2 + a3 * kappa(j)) * kappa(j) * kappa(j);
}

inline double carrier(const Reflector& reflector, std::int64_t j) {
    return 2 * pi * reflector.bin * static_cast<double>(j) / static_cast<double>(n) + reflector.phase;
}

inline std::vector<float> spectrum_of(const std::vector<Reflector>& scene, double a2, double a3) {
    std::vector<float> spectrum(n);
    for (std::int64_t j = 0; j < n; ++j) {
        double sum = 0;
        for (const Reflector& r : scene) sum += r.amplitude * std::cos(carrier(r, j) + theta(j, a2, a3));
        spectrum[index(j)] = static_cast<float>(sum);
    }
    return spectrum;
}

// True profile with zero delay in the middle, divided by the sum of the window. It is the transform of windowed
// exponentials in closed form: a Hann window is a sum of three exponentials.
inline Profile truth_of(const std::vector<Reflector>& scene) {
    const auto dirichlet = [](double cycles) {  // sum over j of exp(2 pi i cycles j)
        if (std::abs(cycles - std::nearbyint(cycles)) < 1e-12) return std::complex<double>(n);
        const std::complex<double> turn = std::polar(1.0, 2 * pi * cycles), all = std::polar(1.0, 2 * pi * cycles * n);
        return (1.0 - all) / (1.0 - turn);
    };
    Profile profile(n);
    const double side = 1.0 / static_cast<double>(n - 1), sum = 0.5 * static_cast<double>(n - 1);
    for (std::int64_t row = 0; row < n; ++row) {
        for (const Reflector& r : scene) {
            const double cycles = (r.bin - static_cast<double>(row - n / 2)) / static_cast<double>(n);
            const auto windowed =
                0.5 * dirichlet(cycles) - 0.25 * dirichlet(cycles + side) - 0.25 * dirichlet(cycles - side);
            profile[index(row)] += 0.5 * r.amplitude * std::polar(1.0, r.phase) * windowed / sum;
        }
    }
    return profile;
}

inline ReconstructionSpec spec_of(double a2, double a3, std::int64_t iterations) {
    ReconstructionSpec spec = with(plain_spec(n, 1), "recipe.method=defr window=hann dispersion=true");
    spec.recipe.a2_rad = a2;
    spec.recipe.a3_rad = a3;
    spec.defr.iterations = iterations;
    return spec;
}

inline double energy(const Profile& profile) {
    double sum = 0;
    for (const auto& value : profile) sum += std::norm(value);
    return sum;
}

// Ratio of the energies of truth and error.
inline double suppression_db(const Profile& measured, const Profile& truth) {
    Profile error = measured;
    for (std::size_t i = 0; i < error.size(); ++i) error[i] -= truth[i];
    return 10 * std::log10(energy(truth) / energy(error));
}

inline std::vector<Reflector> layers(unsigned seed) {
    std::mt19937 random(seed);
    std::uniform_real_distribution<double> bin(-800, 800), level_db(-35, 0), phase(0, 2 * pi);
    std::vector<Reflector> scene;
    for (int i = 0; i < 12; ++i) scene.push_back({bin(random), std::pow(10, level_db(random) / 20), phase(random)});
    return scene;
}

inline double median(std::vector<double> values) {
    std::ranges::nth_element(values, values.begin() + std::ssize(values) / 2);
    return values[values.size() / 2];
}

}  // namespace echolux::full_range
