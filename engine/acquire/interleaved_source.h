// Several instruments that take turns line by line, as one source: of two, one has A-scans 0, 2, 4 … of each B-scan,
// the other 1, 3, 5 …. Blocks of the same B-scans are copied together, line by line, so that all of it crosses the
// host's memory once more; where whole blocks can take turns, JoinedSource copies nothing.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "engine/acquire/several_sources.h"
#include "engine/block_pool.h"

namespace echolux {

class InterleavedSource : public SeveralSources {
  public:
    // At least two, which send B-scans of the same kind in blocks of the same size, without repeated lines. A B-scan of
    // all together has that many times the lines of each. Headers of B-scans are left out. Throws Error{bad_setting}
    // naming what they differ in, or what does not go together.
    InterleavedSource(std::vector<std::unique_ptr<Source>> parts, const SourceSettings& settings, MemoryKind memory);

    std::int64_t pool_blocks() const override { return pool_blocks_; }
    std::string name() const override;
    void start() override;

  private:
    // The next block of which every instrument has sent its lines into the host's memory: one that any of them has lost
    // is lost, and so is one for which there is no memory. Throws Error{device} when the blocks of one have not fitted
    // those of the others for some volumes: its numbers are wrong, and would be for good.
    Arrival next_of_all(Clock::time_point until) override;
    std::uint64_t number_of(const Part& part) const;
    bool drop_what_others_lost();
    const Part* cut_short() const;
    void count_misfit(const Part& part, const std::string& why);
    Arrival together();
    void copy_lines(std::byte* to) const;

    SpectraLayout of_part_, of_all_;
    std::int64_t pool_blocks_;
    std::int64_t blocks_;       // of a volume
    std::int64_t misfits_ = 0;  // blocks in a row that did not fit those of the others
    BlockPool pool_;
};

}  // namespace echolux
