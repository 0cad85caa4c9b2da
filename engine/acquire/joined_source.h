// Several instruments that record the same volumes together, as one source. Each instrument has every second (third,
// ...) block of B-scans, so spectra reach memory and GPUs over as many buses as there are instruments. Blocks are
// passed on in order without copying.
#pragma once

#include <memory>
#include <vector>

#include "engine/acquire/several_sources.h"

namespace echolux {

class JoinedSource : public SeveralSources {
  public:
    // Needs two or more sources with identical B-scans and block sizes. Combined volumes have the B-scans of all
    // sources. Throws Error{bad_setting} naming the difference.
    explicit JoinedSource(std::vector<std::unique_ptr<Source>> parts);

    std::int64_t pool_blocks() const override;
    void start() override;

  private:
    // Returns the next block in order. A block is considered lost when its instrument has delivered a later one.
    Arrival next_of_all(Clock::time_point until) override;
    Block as_one(Block block, std::size_t part) const;

    std::int64_t blocks_ = 1;  // per volume of each instrument
    double turn_s_ = 0;        // time between blocks of two instruments, at the combined rate
    std::uint64_t next_ = 0;   // number of the next block
};

}  // namespace echolux
