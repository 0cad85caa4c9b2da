// What a recording says of itself in its TOML file, section [recording] (docs/recordings.md).
#pragma once

#include <cstdint>
#include <string>

namespace echolux {

struct RecordingNotes {
    std::string index;  // the table of its blocks, relative to the TOML file; empty: not a recording of the live system
    bool complete = false;                 // it was finished, and nothing is missing in it
    bool finished = false;                 // it was finished, not cut off
    std::int64_t missing_blocks = 0;       // that came and were not recorded
    std::int64_t lost_blocks = 0;          // that the source lost before they came, by its own count and numbers
    std::int64_t lost_b_scans = 0;         // positions between the first and the last that no block came for
    std::int64_t refused_blocks = 0;       // that came and did not fit
    std::int64_t interruptions = 0;        // times that the source failed
    std::int64_t doubtful_blocks = 0;      // written after the last flush that succeeded
    std::string continues;                 // the recording that this one goes on from; empty: it begins anew
    std::int64_t last_volume_b_scans = 0;  // of a last volume that is not whole; 0: it is
    std::string folder;                    // where a recording in stripes was made: there it owns them
    std::string started;                   // UTC, ISO 8601
    std::string program;                   // name and version

    bool was_cut() const { return !index.empty() && !finished && !complete; }
    bool lacks_nothing() const;
};

}  // namespace echolux
