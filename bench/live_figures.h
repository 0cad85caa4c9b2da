// The figures of a live run: what came, what was lost, what appeared and how late.
#pragma once

#include <string>

#include "app/live/live_report.h"
#include "bench/run.h"

namespace echolux {

struct LiveRun {
    SessionStats session;
    PictureStats pictures;
    RingStatistics ring;
};

// `what` of the A-scans: "512 x 512 A-scans of 2048 samples, from pinned memory".
void note_live(BenchBook& book, const std::string& key, const std::string& what, std::int64_t blocks_of_a_volume,
               const LiveRun& run);

}  // namespace echolux
