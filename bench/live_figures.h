// Figures of a live run: volumes received, lost and shown, and their latency.
#pragma once

#include <string>

#include "app/live/live_pipeline.h"
#include "app/live/session_run.h"
#include "bench/run.h"

namespace echolux {

class Source;  // engine/acquire/source.h

struct LiveRun {
    LiveStats session;
    PictureStats pictures;
    RingStatistics ring;
};

// Runs a session whose source keeps its pace, with up to 60 pictures per second. Waits for pending work at the end.
LiveRun run_paced(BenchBook& book, Source& source, LivePipeline& path, const View& view, double seconds);

// `what` describes the A-scans: "512 x 512 A-scans of 2048 samples, from pinned memory".
void note_live(BenchBook& book, const std::string& key, const std::string& what, std::int64_t blocks_of_a_volume,
               const LiveRun& run);

}  // namespace echolux
