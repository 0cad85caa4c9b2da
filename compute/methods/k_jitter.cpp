#include "compute/methods/k_jitter.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "compute/counted.h"
#include "compute/indexing.h"
#include "compute/plan/require.h"

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
    require(k_jitter.size() % 2 == 0, "holds half a row", where, "a row is offset, stretch");
    require(lines_a_row(geometry, rows) != 0,
            fmt::format("holds {}, expected {}, one for each acquired B-scan, or {}, one for each A-scan",
                        counted(rows, "rows"), geometry.frames_per_volume(),
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
                where, "at most a tenth of them: offsets count points of the k grid, stretches are near 1");
    }
}

}  // namespace echolux
