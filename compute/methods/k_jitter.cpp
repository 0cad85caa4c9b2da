#include "compute/methods/k_jitter.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "compute/indexing.h"
#include "compute/methods/nonuniform.h"
#include "compute/plan/choices.h"
#include "compute/plan/cubic.h"
#include "compute/plan/tables.h"
#include "compute/plural.h"

namespace echolux {
namespace {

// Returns the number of lines per row, or 0 if the number of rows does not match A-scans or B-scans. Computed in
// double, because the product of settings may overflow an integer.
std::int64_t lines_a_row(const ScanGeometry& geometry, std::int64_t count) {
    const auto rows = static_cast<double>(count), volumes = static_cast<double>(geometry.volumes);
    const double frames = static_cast<double>(geometry.b_scans) * static_cast<double>(geometry.b_repeats);
    const double lines = frames * static_cast<double>(geometry.lines_per_b_scan());
    if (rows == lines || rows == lines * volumes) return 1;
    return rows == frames || rows == frames * volumes ? geometry.lines_per_b_scan() : 0;
}

}  // namespace

KJitter::KJitter(const ScanGeometry& geometry, const Calibration& calibration)
    : lines_a_row_(lines_a_row(geometry, std::ssize(calibration.k_jitter) / 2)) {
    const std::vector<double>& numbers = calibration.k_jitter;
    for (std::size_t i = 0; i + 1 < numbers.size(); i += 2) rows_.push_back({numbers[i], numbers[i + 1]});
}

void check_k_jitter(const std::vector<double>& k_jitter, const ScanGeometry& geometry, const std::string& where) {
    if (k_jitter.empty()) return;
    constexpr double largest_share = 0.1;  // share of the samples; larger values indicate a different k map
    const std::int64_t rows = std::ssize(k_jitter) / 2;
    require(k_jitter.size() % 2 == 0, "contains half a row", where, "a row is offset, stretch");
    require(lines_a_row(geometry, rows) != 0,
            fmt::format("holds {}, expected {}, one for each acquired B-scan, or {}, one for each A-scan",
                        plural(rows, "rows"), geometry.frames_per_volume(),
                        geometry.frames_per_volume() * geometry.lines_per_b_scan()),
            where, "rows are in the order of time, without flyback, of one volume or of all");
    const auto last = static_cast<double>(geometry.samples - 1);
    for (std::size_t row = 0; row < index(rows); ++row) {
        const double offset = k_jitter[2 * row], stretch = k_jitter[2 * row + 1];
        require(std::isfinite(offset) && std::isfinite(stretch) && stretch > 0,
                fmt::format("row {} (counted from 0) is offset {}, stretch {}", row, offset, stretch), where,
                "give two numbers, the second above 0 and near 1");
        const double moved = std::max(std::abs(offset), std::abs(offset + (stretch - 1) * last));
        require(moved <= largest_share * (last + 1),
                fmt::format("row {} (counted from 0) moves an end of the spectrum by {:.4g} samples", row, moved),
                where, "allowed is at most a tenth of them: offsets count points of the k grid, stretches are near 1");
    }
}

// Tabulates the spectral weight at thirds of a grid point. A phase of 40 rad over half the spectrum turns by 0.08 rad
// per piece, which causes an error of 2e-8.
static CubicPieces<std::complex<float>> weights_of_grid(const ReconstructionSpec& spec) {
    const std::int64_t n = spec.geometry.samples;
    const KGrid grid = k_grid(spec.calibration, n);
    const CubicSpline position_at(index_range(n), points_of_grid(grid).samples);
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

static CubicPieces<std::complex<float>> turn_of_cycle() {
    constexpr std::int64_t pieces = 256;  // error 2e-10
    return {0, 1, pieces, [](double cycles) { return std::polar(1.0, -2 * std::numbers::pi * cycles); }};
}

static CubicPieces<float> kernel_of_root(const SpreadingKernel& kernel) {
    constexpr std::int64_t pieces = 512;  // the worst case W = 12, R = 4 has an error of 1e-8 of the kernel's height
    const double half_width = static_cast<double>(kernel.width()) / 2;
    return {0, 1, pieces, [&](double s) { return kernel.at(half_width * std::sqrt(1 - s * s)); }};
}

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

SortedSamples samples_by_place(const std::vector<double>& points) {
    const auto length =
        static_cast<double>(points.size());  // k_jitter moves the ends by at most a tenth of the spectrum
    SortedSamples all;
    for (std::size_t p = 0; p < points.size(); ++p) {
        if (points[p] >= -length && points[p] <= 2 * length) all.samples.push_back(static_cast<std::int32_t>(p));
    }
    std::ranges::stable_sort(all.samples, {}, [&](std::int32_t p) { return points[index(p)]; });
    for (const std::int32_t p : all.samples) all.points.push_back(points[index(p)]);
    if (all.points.empty()) return all;
    all.first_cell = static_cast<std::int64_t>(std::floor(all.points.front()));
    const auto end = static_cast<std::int64_t>(std::floor(all.points.back())) + 1;
    for (std::int64_t cell = all.first_cell; cell <= end; ++cell) {
        const auto first = std::ranges::lower_bound(all.points, static_cast<double>(cell));
        all.first_at.push_back(static_cast<std::int32_t>(first - all.points.begin()));
    }
    return all;
}

}  // namespace echolux
