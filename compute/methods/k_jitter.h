// Swept sources whose k map varies from sweep to sweep (calibration.k_jitter, docs/transforms.md 7.1): the offset and
// stretch of the samples on the k grid, per A-scan or per acquired B-scan.
#pragma once

#include <cmath>
#include <complex>
#include <cstdint>
#include <iterator>
#include <string>
#include <vector>

#include "compute/host_device.h"
#include "compute/methods/nonuniform.h"
#include "compute/plan/cubic.h"
#include "compute/plan/params.h"

namespace echolux {

// Sample p of a line is at offset + stretch * x_p on the uniform k grid, where x_p is from the k map.
struct LineMap {
    double offset = 0;
    double stretch = 1;

    ECHOLUX_HD double operator()(double x) const { return offset + stretch * x; }
    ECHOLUX_HD double inverse(double place) const { return (place - offset) / stretch; }
};

// Non-owning view of the rows in host or GPU memory.
struct KJitterView {
    const LineMap* rows = nullptr;
    std::int64_t count = 0;
    // Lines per row: 1, or those of an acquired B-scan.
    std::int64_t lines_a_row = 1;

    // Returns the map of a line. Lines are counted in temporal order over the recording, without flyback.
    ECHOLUX_HD LineMap of(std::int64_t line) const { return rows[line / lines_a_row % count]; }
};

// Owns the rows of a calibration. Rows repeat if the recording has more lines.
class KJitter {
  public:
    // calibration.k_jitter must be valid.
    KJitter(const ScanGeometry& geometry, const Calibration& calibration);

    KJitterView view() const { return {rows_.data(), std::ssize(rows_), lines_a_row_}; }
    const std::vector<LineMap>& rows() const { return rows_; }

    LineMap of(std::int64_t line) const { return view().of(line); }

  private:
    std::vector<LineMap> rows_;
    std::int64_t lines_a_row_;
};

// Checks rows of two numbers. There must be one row per A-scan or per acquired B-scan, of one volume or of all. No row
// may move the ends of the spectrum by more than a tenth of the samples. Throws Error{bad_setting} naming `where`.
void check_k_jitter(const std::vector<double>& k_jitter, const ScanGeometry& geometry, const std::string& where);

// ---- NUFFT tables for lines whose samples move on the k axis. Sample weights cannot be precomputed before the line is
// known, so the kernel and the spectral weight become functions that are fast to evaluate (docs/transforms.md 7.1).

// Spreads the samples of a moved line to the finer grid.
struct MovedSpreading {
    // Function of s = sqrt(1 - (2d/W)^2), in which all kernels are smooth up to their ends
    CubicPiecesView<float> kernel;
    std::int64_t width = 1;
    std::int64_t grid = 0;    // points of the finer grid
    double ratio = 1;         // points of the finer grid per point of the k grid
    std::int64_t points = 0;  // points of the k grid

    // Returns whether a point is on the k grid. Samples outside it are ignored.
    ECHOLUX_HD bool holds(double point) const { return point >= -0.5 && point <= static_cast<double>(points) - 0.5; }

    // Returns the kernel at `distance` in points of the finer grid, at most half the width.
    ECHOLUX_HD float kernel_at(double distance) const {
        const double x = 2 * distance / static_cast<double>(width), square = 1 - x * x;
        return kernel(square > 0 ? sqrt(square) : 0.0);
    }
};

// Returns exp(-2 pi i cycles), from a table of one cycle.
ECHOLUX_HD_CALLER
template <class Pieces>
ECHOLUX_HD auto turn_of(const Pieces& pieces, double cycles) {
    return pieces(cycles - floor(cycles));
}

// Owns the tables of one plan.
struct MovedSamples {
    KJitter jitter;
    std::vector<double> points;                // position of each sample on the k grid, from the k map
    std::vector<float> shares;                 // share of the grid per sample
    CubicPieces<std::complex<float>> weights;  // window or shaping and dispersion, at any point of the k grid
    CubicPieces<std::complex<float>> turn;     // see turn_of()
    double cycles_a_point = 0;                 // phase per sample that centres the grid's band (GridBand)
    CubicPieces<float> kernel;                 // see MovedSpreading
    std::int64_t width = 1;
    std::int64_t grid = 0;
    double ratio = 1;

    MovedSpreading spreading() const { return {kernel.view(), width, grid, ratio, std::ssize(points)}; }
};

// Builds the tables for a valid spec with calibration.k_jitter, for the grid of `tables`.
MovedSamples moved_samples(const ReconstructionSpec& spec, const NufftTables& tables);

// ---- The samples of a spectrum sorted by their position on the k axis, so that those near a point are found without a
// search over all samples. Used to gather rather than scatter if samples move from line to line (docs/transforms.md
// 7.1).

// Non-owning view of the tables in host or GPU memory.
struct SortedSamplesView {
    const double* points = nullptr;          // [count], ascending
    const std::int32_t* samples = nullptr;   // [count], sample index of each point
    const std::int32_t* first_at = nullptr;  // [cells], index of the first point at or above first_cell + i
    std::int64_t count = 0;
    std::int64_t cells = 0;
    std::int64_t first_cell = 0;

    // Calls use(sample, distance) for every sample of a line that contributes to point g of the finer grid, which is
    // circular.
    ECHOLUX_HD_CALLER
    template <class Use>
    ECHOLUX_HD void each_near(const MovedSpreading& spreading, const LineMap& map, std::int64_t g,
                              const Use& use) const {
        for (std::int64_t turn = -1; turn <= 1; ++turn) {
            const auto centre = static_cast<double>(g + turn * spreading.grid);
            const double low = centre - static_cast<double>(spreading.width) / 2;
            for (std::int64_t i = first_near(map.inverse(low / spreading.ratio)); i < count; ++i) {
                const double point = map(points[i]), place = point * spreading.ratio;
                if (place > low + static_cast<double>(spreading.width)) break;
                if (place > low && spreading.holds(point)) use(samples[i], place - centre);
            }
        }
    }

  private:
    // Returns an index not above the first sample at or beyond x, regardless of how x was rounded.
    ECHOLUX_HD std::int64_t first_near(double x) const {
        const double cell = floor(x) - static_cast<double>(first_cell) - 1;
        if (cell >= static_cast<double>(cells)) return count;
        return cell <= 0 ? 0 : first_at[static_cast<std::int64_t>(cell)];
    }
};

// Owns the tables.
struct SortedSamples {
    std::vector<double> points;
    std::vector<std::int32_t> samples;
    std::vector<std::int32_t> first_at;
    std::int64_t first_cell = 0;

    SortedSamplesView view() const {
        return {points.data(), samples.data(), first_at.data(), std::ssize(points), std::ssize(first_at), first_cell};
    }
};

// Builds the tables. `points` are the positions of the samples by the k map. Samples that no k_jitter row can bring
// onto the k grid are omitted.
SortedSamples samples_by_place(const std::vector<double>& points);

}  // namespace echolux
