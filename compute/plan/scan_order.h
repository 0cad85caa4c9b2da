// From the lines of an acquired B-scan to evenly spaced A-scans (docs/algorithms.md, Scans): every second acquired
// B-scan of a bidirectional scan is read backwards, and where the beam does not move evenly, an A-scan is a mean of the
// two recorded lines beside it.
#pragma once

#include <cstdint>
#include <vector>

#include "compute/host_device.h"
#include "compute/plan/params.h"

namespace echolux {

// (1 - next) of recorded A-scan position `first` and `next` of the one after it.
struct LineMix {
    std::int32_t first = 0;
    float next = 0;
};

// [a_scans], of a B-scan that is not reversed; empty: A-scans are recorded lines.
std::vector<LineMix> line_mixes(const ScanGeometry& geometry, const Calibration& calibration);

// (1 - next) of position `first` and `next` of position `second`, counted in the order of time.
struct RecordedPositions {
    std::int64_t first;
    std::int64_t second;
    float next;
};

struct ScanOrder {
    std::int64_t a_scans = 1;
    bool bidirectional = false;

    // Frames, that is acquired B-scans, are counted over a volume.
    ECHOLUX_HD bool is_reversed(std::int64_t frame_of_volume) const {
        return bidirectional && frame_of_volume % 2 == 1;
    }

    // Recorded A-scan position of position `a` along the fast axis, and the other way round.
    ECHOLUX_HD std::int64_t recorded(std::int64_t a, bool reversed) const { return reversed ? a_scans - 1 - a : a; }

    // What output A-scan `a` is made of; `mixes` null: of one position. The way back is the mirror image of the way
    // out, so both lines of a mix are mirrored and keep their weights.
    ECHOLUX_HD RecordedPositions positions(std::int64_t a, bool reversed, const LineMix* mixes) const {
        if (mixes == nullptr) return {recorded(a, reversed), recorded(a, reversed), 0};
        return {recorded(mixes[a].first, reversed), recorded(mixes[a].first + 1, reversed), mixes[a].next};
    }
};

}  // namespace echolux
