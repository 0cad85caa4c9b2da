// Maps the recorded lines of an acquired B-scan to evenly spaced A-scans (docs/algorithms.md, Scans). Every second
// acquired B-scan of a bidirectional scan is reversed. If the beam moves unevenly, an A-scan is a weighted mean of the
// two nearest recorded lines.
#pragma once

#include <cstdint>
#include <vector>

#include "compute/host_device.h"
#include "compute/plan/params.h"

namespace echolux {

// Weighted mean of two recorded A-scan positions: (1 - next) of `first` plus `next` of the following one.
struct LineMix {
    std::int32_t first = 0;
    float next = 0;
};

// Returns the mixes [a_scans] of a B-scan that is not reversed. Empty if A-scans are recorded lines.
std::vector<LineMix> line_mixes(const ScanGeometry& geometry, const Calibration& calibration);

// (1 - next) of position `first` plus `next` of position `second`, in temporal order.
struct RecordedPositions {
    std::int64_t first;
    std::int64_t second;
    float next;
};

// Order in which a scan records its A-scan positions.
struct ScanOrder {
    std::int64_t a_scans = 1;
    bool bidirectional = false;

    // Returns whether a frame (an acquired B-scan), counted within the volume, is reversed.
    ECHOLUX_HD bool is_reversed(std::int64_t frame_of_volume) const {
        return bidirectional && frame_of_volume % 2 == 1;
    }

    // Converts between recorded A-scan position and position `a` along the fast axis, in either direction.
    ECHOLUX_HD std::int64_t recorded(std::int64_t a, bool reversed) const { return reversed ? a_scans - 1 - a : a; }

    // Returns the recorded positions that contribute to output A-scan `a`. Without `mixes` there is only one. A
    // reversed B-scan is a mirror image, so both lines of a mix are mirrored and keep their weights.
    ECHOLUX_HD RecordedPositions positions(std::int64_t a, bool reversed, const LineMix* mixes) const {
        if (mixes == nullptr) return {recorded(a, reversed), recorded(a, reversed), 0};
        return {recorded(mixes[a].first, reversed), recorded(mixes[a].first + 1, reversed), mixes[a].next};
    }
};

}  // namespace echolux
