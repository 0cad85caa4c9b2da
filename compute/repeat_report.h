// Report on the alignment of one repeat of a B-scan.
#pragma once

#include <cstdint>
#include <limits>

namespace echolux {

enum class Reason : std::uint8_t;  // compute/reason.h; the first value is ok

// Alignment result of one repeat of a B-scan. Sample (depth row, A-scan) of the repeat corresponds to (row +
// depth_rows, A-scan + a_scans) of the reference repeat.
struct RepeatReport {
    float depth_rows = 0;
    float a_scans = 0;
    float match = 0;  // coherence with the reference in tissue, 0 to 1
    // Decorrelation common to all tissue of the B-scan position, which is subtracted. NaN if unknown.
    float bulk_decorrelation = std::numeric_limits<float>::quiet_NaN();
    Reason reason{};  // if not ok, the repeat is excluded

    bool is_used() const { return reason == Reason{}; }
};

}  // namespace echolux
