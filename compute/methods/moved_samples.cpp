#include "compute/methods/moved_samples.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "compute/indexing.h"
#include "compute/methods/sample_points.h"
#include "compute/methods/spreading_kernel.h"
#include "compute/plan/cubic_spline.h"
#include "compute/plan/tables.h"

namespace echolux {
namespace {

// Tabulates the spectral weight at thirds of a grid point. A phase of 40 rad over half the spectrum turns by 0.08 rad
// per piece, which causes an error of 2e-8.
CubicPieces<std::complex<float>> weights_of_grid(const ReconstructionSpec& spec) {
    const std::int64_t n = spec.geometry.samples;
    const KGrid grid = k_grid(spec.calibration, n);
    const CubicSpline position_at(counted(n), points_of_grid(grid).samples);
    const auto last = static_cast<double>(n - 1);
    const std::int64_t places = 3 * n + 1;
    SpectrumPoints thirds;
    for (std::int64_t i = 0; i < places; ++i) {
        thirds.on_grid.push_back(static_cast<double>(i) / 3 - 0.5);
        thirds.samples.push_back(std::clamp(position_at(std::clamp(thirds.on_grid.back(), 0.0, last)), 0.0, last));
    }
    const auto values = spectral_weight_at(thirds, spec.recipe, spec.calibration, grid);
    return {-0.5, last + 0.5, n, [&](double point) { return values[index(std::llround(3 * (point + 0.5)))]; }};
}

CubicPieces<std::complex<float>> turn_of_cycle() {
    constexpr std::int64_t pieces = 256;  // error 2e-10
    return {0, 1, pieces, [](double cycles) { return std::polar(1.0, -2 * std::numbers::pi * cycles); }};
}

CubicPieces<float> kernel_of_root(const SpreadingKernel& kernel) {
    constexpr std::int64_t pieces = 512;  // the worst case W = 12, R = 4 has an error of 1e-8 of the kernel's height
    const double half_width = static_cast<double>(kernel.width()) / 2;
    return {0, 1, pieces, [&](double s) { return kernel.at(half_width * std::sqrt(1 - s * s)); }};
}

}  // namespace

MovedSamples moved_samples(const ReconstructionSpec& spec, const NufftTables& tables) {
    const SpreadingKernel kernel(spec.nufft);
    const auto transform = static_cast<double>(lengths_of(spec.geometry, spec.recipe).transform);
    const std::vector<double> points =
        points_of_samples(spec.calibration, k_grid(spec.calibration, spec.geometry.samples)).on_grid;
    const std::vector<double> shares = shares_of_grid(points);
    return {KJitter(spec.geometry, spec.calibration),
            points,
            {shares.begin(), shares.end()},
            weights_of_grid(spec),
            turn_of_cycle(),
            static_cast<double>(tables.middle) / transform,
            kernel_of_root(kernel),
            kernel.width(),
            tables.grid,
            static_cast<double>(tables.grid) / transform};
}

}  // namespace echolux
