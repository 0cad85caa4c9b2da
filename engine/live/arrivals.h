// What comes from a source, looked at before anything else sees it: blocks of the wrong size, repeated or out of order,
// and clocks that jump are kept out or noted, counted, and said once in a while. A source is never trusted.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "compute/place.h"
#include "compute/plan/params.h"

namespace echolux {

struct ArrivalStats {
    std::int64_t blocks = 0;      // that were taken in
    std::int64_t lost = 0;        // that the source says it lost, or that its numbers leave out
    std::int64_t repeated = 0;    // numbers or places in a volume that were there before: kept out
    std::int64_t misshapen = 0;   // not what the scan says: kept out
    std::int64_t time_jumps = 0;  // time stamps that run backwards or leap
    std::int64_t volumes = 0;     // whose last block came
    std::int64_t lines = 0;       // A-scans
    std::int64_t bytes = 0;
};

class Arrivals {
  public:
    // One line for each topic of trouble ("lost", "repeated", "misshapen", "clock") when it begins, and again when it
    // has grown tenfold.
    using Report = std::function<void(const std::string& line, const std::string& topic)>;
    Arrivals(const ReconstructionSpec& spec, Report report);

    // Whether the block is to be used. Throws Error{device}: blocks are numbered on from a number that was there
    // before, as where a counter began anew; the source has to be started again.
    bool admit(const Block& block);

    // After the last block.
    void note_lost(std::int64_t blocks);

    const ArrivalStats& stats() const { return stats_; }

  private:
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
    std::int64_t next_place_ = 0;      // B-scans since the beginning
    std::int64_t late_ = 0;            // blocks in a row, each with a higher number than the one before
    std::uint64_t late_sequence_ = 0;  // of the last one
    std::int64_t late_place_ = 0;
    double time_s_ = 0;   // of the last block
    double block_s_ = 0;  // that it should have taken at the line rate; 0: unknown
};

}  // namespace echolux
