// Several instruments that alternate line by line, as one source: of two, one records A-scans 0, 2, 4 ... of each
// B-scan, the other 1, 3, 5 .... The lines of corresponding blocks are copied into one block, which costs an additional
// pass through host memory. If instruments can alternate by blocks, JoinedSource avoids the copy.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "engine/acquire/several_sources.h"
#include "engine/block_pool.h"

namespace echolux {

class InterleavedSource : public SeveralSources {
  public:
    // Needs two or more sources with identical B-scans and block sizes, and without repeated lines. Combined B-scans
    // have the lines of all sources. B-scan headers are dropped. Throws Error{bad_setting} naming the difference or the
    // unsupported property.
    InterleavedSource(std::vector<std::unique_ptr<Source>> parts, const SourceSettings& settings, MemoryKind memory);

    std::int64_t pool_blocks() const override { return pool_blocks_; }
    std::string name() const override;
    void start() override;

  private:
    // Returns the next block that all instruments have delivered in host memory. A block is lost if one of them has
    // lost it or if there is no memory. Throws Error{device} if blocks of one instrument have not matched the others
    // for some volumes, which means that its counter is wrong permanently.
    Arrival next_of_all(Clock::time_point until) override;
    std::uint64_t number_of(const Part& part) const;
    bool drop_what_others_lost();
    const Part* cut_short() const;
    void count_misfit(const Part& part, const std::string& why);
    Arrival together();
    void copy_lines(std::byte* to) const;

    SpectraLayout of_part_, of_all_;
    std::int64_t pool_blocks_;
    std::int64_t blocks_;       // per volume
    std::int64_t misfits_ = 0;  // consecutive blocks that did not match
    BlockPool pool_;
};

}  // namespace echolux
