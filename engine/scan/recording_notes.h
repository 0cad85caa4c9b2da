// What a recording says of itself in its TOML file, section [recording] (docs/recordings.md).
#pragma once

#include <cstdint>
#include <string>

namespace echolux {

struct RecordingNotes {
    std::string index;  // the table of its blocks, relative to the TOML file; empty: not a recording of the live system
    bool complete = false;                 // it was finished, not cut off
    std::int64_t missing_blocks = 0;       // that came and were not recorded
    std::int64_t lost_blocks = 0;          // that the source lost before they came
    std::int64_t last_volume_b_scans = 0;  // of a last volume that is not whole; 0: it is
    std::string started;                   // UTC, ISO 8601
    std::string program;                   // name and version

    bool was_cut() const { return !index.empty() && !complete; }
};

}  // namespace echolux
