// Several instruments that record the same volumes together, as one source: each has every second (third, …) block of
// B-scans, so that spectra reach memory, and from there GPUs, on as many ways as there are instruments. Blocks are
// handed on as they are, in the order of the volume; nothing is copied.
#pragma once

#include <memory>
#include <vector>

#include "engine/acquire/several_sources.h"

namespace echolux {

class JoinedSource : public SeveralSources {
  public:
    // At least two, which send B-scans of the same kind in blocks of the same size. A volume of all together has that
    // many times the B-scans of each. Throws Error{bad_setting} naming what they differ in.
    explicit JoinedSource(std::vector<std::unique_ptr<Source>> parts);

    std::int64_t pool_blocks() const override;
    void start() override;

  private:
    // The block whose turn it is. Where its instrument has lost it, or one of its volume, the next one tells so.
    Arrival next_of_all(Clock::time_point until) override;
    Block as_one(Block block, std::size_t part) const;

    std::int64_t blocks_ = 1;  // of a volume of each
    double turn_s_ = 0;        // between the blocks of two instruments, at the rate of all together
    std::uint64_t next_ = 0;   // number of the block whose turn it is
};

}  // namespace echolux
