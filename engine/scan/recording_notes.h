// What a recording says of itself in its TOML file, section [recording] (docs/recordings.md).
#pragma once

#include <cstdint>
#include <string>

namespace echolux {

struct RecordingNotes {
    std::string index;  // the table of its blocks, relative to the TOML file; empty: not a recording of the live system
    bool complete = false;
    std::int64_t missing_blocks = 0;
    std::int64_t lost_blocks = 0;
    std::int64_t last_volume_b_scans = 0;
    std::string started;
    std::string program;

    bool was_cut() const { return !index.empty() && !complete; }
};

}  // namespace echolux
