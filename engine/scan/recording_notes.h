// Section [recording] of a recording's TOML file (docs/recordings.md).
#pragma once

#include <cstdint>
#include <string>

namespace echolux {

struct RecordingNotes {
    std::string index;      // CSV file with its blocks, relative to the TOML file; empty: not a live recording
    bool complete = false;  // finished, and nothing is missing
    bool finished = false;  // finished, not cut off
    std::int64_t missing_blocks = 0;       // received but not recorded
    std::int64_t lost_blocks = 0;          // lost by the source, according to its counter and sequence numbers
    std::int64_t lost_b_scans = 0;         // positions without a block, between the first and the last
    std::int64_t refused_blocks = 0;       // received, with the wrong size or order
    std::int64_t interruptions = 0;        // failures of the source
    std::int64_t doubtful_blocks = 0;      // written after the last successful flush
    std::string continues;                 // recording that this one continues; empty: none
    std::int64_t last_volume_b_scans = 0;  // of an incomplete last volume; 0: all are complete
    std::string folder;                    // where a striped recording was made: it owns its stripes only there
    std::string started;                   // UTC, ISO 8601
    std::string program;                   // name and version

    // Whether a live recording ended without being finished.
    bool was_cut() const { return !index.empty() && !finished && !complete; }
    // Whether no data is missing or doubtful.
    bool lacks_nothing() const;
};

}  // namespace echolux
