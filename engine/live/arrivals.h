// Checks the blocks of a source before anything else sees them, because sources are never trusted. Blocks of the wrong
// size, repeated blocks and blocks out of order are rejected. Clock jumps are noted. All of these are counted and
// occasionally reported.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "compute/place.h"
#include "compute/plan/params.h"

namespace echolux {

// Counts since the source started.
struct ArrivalStats {
    std::int64_t blocks = 0;      // accepted
    std::int64_t lost = 0;        // reported as lost by the source, or missing in its sequence numbers
    std::int64_t repeated = 0;    // rejected because the number or the position in the volume came before
    std::int64_t misshapen = 0;   // rejected because they do not match the scan
    std::int64_t time_jumps = 0;  // time stamps that run backwards or leap
    std::int64_t volumes = 0;     // whose last block arrived
    std::int64_t lines = 0;       // A-scans
    std::int64_t bytes = 0;
};

// Filters the blocks of one source. Use from one thread.
class Arrivals {
  public:
    // Receives one line per topic ("lost", "repeated", "misshapen", "clock") when a problem first occurs, and again
    // each time its count gains a digit.
    using Report = std::function<void(const std::string& line, const std::string& topic)>;
    Arrivals(const ReconstructionSpec& spec, Report report);

    // Returns whether to use the block. Throws Error{device} if blocks continue from an earlier number, as after a
    // reset of the source's counter; the source must then be restarted.
    bool admit(const Block& block);

    // Adds blocks that were lost after the last one.
    void note_lost(std::int64_t blocks);

    const ArrivalStats& stats() const { return stats_; }

  private:
    // Checks the block against the spec, and reports a mismatch.
    bool has_right_shape(const Block& block);
    bool is_late(const Block& block) const;
    void keep_out_late(const Block& block);
    std::int64_t place_of(const Block& block) const;
    void watch_clock(const Block& block, std::int64_t lost);
    void count(std::int64_t& of, std::int64_t by, const std::string& line, const std::string& topic);

    ReconstructionSpec spec_;
    Report report_;
    ArrivalStats stats_;
    std::uint64_t next_sequence_ = 0;
    std::int64_t next_place_ = 0;      // expected position, in B-scans since the beginning
    std::int64_t late_ = 0;            // number of late blocks in a row with ascending numbers
    std::uint64_t late_sequence_ = 0;  // sequence number of the last late block
    std::int64_t late_place_ = 0;
    double time_s_ = 0;   // time stamp of the last block
    double block_s_ = 0;  // expected duration of the last block at the line rate, 0 if unknown
};

}  // namespace echolux
