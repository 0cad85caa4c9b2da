// Swept sources whose k map varies from sweep to sweep (calibration.k_jitter, docs/algorithms.md 7.1): the offset and
// stretch of the samples on the k grid, per A-scan or per acquired B-scan.
#pragma once

#include <cstdint>
#include <iterator>
#include <string>

#include "compute/host_device.h"
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

}  // namespace echolux
