// A source that repeats blocks in memory at the pace of a clock, like an instrument whose driver writes there. It takes
// no time itself, so the measurement covers only the rest of the system.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "engine/acquire/source.h"

namespace echolux {

class MemorySource : public Source {
  public:
    // `blocks`: the blocks of one or more volumes of `spec`, in order. A block is due when its last line would have
    // been acquired.
    MemorySource(const ReconstructionSpec& spec, std::vector<Block> blocks, double lines_per_s);

    const Scan& scan() const override { return scan_; }
    std::int64_t block_b_scans() const override { return block_b_scans_; }
    const SourceCapabilities& capabilities() const override { return capabilities_; }
    std::string name() const override { return "memory"; }
    void start() override;
    Arrival next(std::chrono::milliseconds timeout) override;
    void stop() noexcept override {}

  private:
    using Clock = std::chrono::steady_clock;

    Scan scan_;
    std::int64_t block_b_scans_;
    std::vector<Block> blocks_;
    double lines_per_s_;
    SourceCapabilities capabilities_;
    Clock::time_point start_;
    std::uint64_t sent_ = 0;
    std::int64_t lines_ = 0;    // of all blocks sent
    std::int64_t volume_ = -1;  // volume of the last block
};

}  // namespace echolux
