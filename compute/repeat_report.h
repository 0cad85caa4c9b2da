// What aligning found of a repeat of a B-scan. Sample (depth row, A-scan) of the repeat lies at (row + depth_rows,
// A-scan + a_scans) of the repeat that the others were aligned to.
#pragma once

#include <cstdint>
#include <limits>

#include "compute/reason.h"

namespace echolux {

struct RepeatReport {
    float depth_rows = 0;
    float a_scans = 0;
    float match = 0;  // coherence with the reference where there is tissue, 0 to 1
    // Of the B-scan position: what all of the tissue has, and is taken out; NaN: unknown.
    float bulk_decorrelation = std::numeric_limits<float>::quiet_NaN();
    Reason reason = Reason::ok;  // not ok: the repeat is left out

    bool is_used() const { return reason == Reason::ok; }
};

// Where reports go: [B-scan positions][b_repeats] in host memory.
struct RepeatReports {
    RepeatReport* data = nullptr;
    std::int64_t first_b_scan = 0;
};

}  // namespace echolux
