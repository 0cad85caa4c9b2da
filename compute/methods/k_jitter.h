// Swept sources whose k map differs a little from sweep to sweep (calibration.k_jitter, docs/transforms.md 7.1): of
// each A-scan, or of each acquired B-scan, how far and how much wider its samples lie on the k grid.
#pragma once

#include <cstdint>
#include <iterator>
#include <string>

#include "compute/host_device.h"
#include "compute/plan/params.h"

namespace echolux {

// Sample p of a line lies at offset + stretch * x_p of the uniform k grid, x_p from the k map.
struct LineMap {
    double offset = 0;
    double stretch = 1;

    ECHOLUX_HD double operator()(double x) const { return offset + stretch * x; }
    ECHOLUX_HD double inverse(double place) const { return (place - offset) / stretch; }
};

// Wherever the rows lie, on the host or on a GPU.
struct KJitterView {
    const LineMap* rows = nullptr;
    std::int64_t count = 0;
    std::int64_t lines_a_row = 1;

    // `line` counts the lines of a recording in the order of time, flyback left out.
    ECHOLUX_HD LineMap of(std::int64_t line) const { return rows[line / lines_a_row % count]; }
};

class KJitter {
  public:
    // The calibration's k_jitter is valid.
    KJitter(const ScanGeometry& geometry, const Calibration& calibration);

    KJitterView view() const { return {rows_.data(), std::ssize(rows_), lines_a_row_}; }
    const std::vector<LineMap>& rows() const { return rows_; }

    LineMap of(std::int64_t line) const { return view().of(line); }

  private:
    std::vector<LineMap> rows_;
    std::int64_t lines_a_row_;
};

// Rows of two numbers, as many as a volume has A-scans or acquired B-scans (or all volumes together), that leave the
// spectrum where it was but for a tenth of the samples. Throws Error{bad_setting} naming `where`.
void check_k_jitter(const std::vector<double>& k_jitter, const ScanGeometry& geometry, const std::string& where);

}  // namespace echolux
