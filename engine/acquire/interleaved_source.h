// Several instruments that take turns line by line, as one source: of two, one has A-scans 0, 2, 4 … of each B-scan,
// the other 1, 3, 5 …. Blocks of the same B-scans are copied together, line by line, so that all of it crosses the
// host's memory once more; where whole blocks can take turns, JoinedSource copies nothing.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/acquire/source.h"
#include "engine/block_pool.h"

namespace echolux {

class InterleavedSource : public Source {
  public:
    // At least two, which send B-scans of the same kind in blocks of the same size, without repeated lines. A B-scan of
    // all together has that many times the lines of each. Headers of B-scans are left out. Throws Error{bad_setting}
    // naming what they differ in, or what does not go together.
    InterleavedSource(std::vector<std::unique_ptr<Source>> parts, const SourceSettings& settings, MemoryKind memory);

    const Scan& scan() const override { return scan_; }
    std::int64_t block_b_scans() const override { return parts_.front().source->block_b_scans(); }
    std::int64_t pool_blocks() const override { return pool_blocks_; }
    const SourceCapabilities& capabilities() const override { return capabilities_; }
    std::string name() const override;
    double line_rate_hz() const override;  // of all together
    std::vector<std::filesystem::path> played_files() const override;

    // All of them; none runs where one refuses.
    void start() override;

    // The next block of which every instrument has sent its lines into the host's memory: one that any of them has lost
    // is lost, and so is one for which there is no memory. When one of them has ended, all have.
    Arrival next(std::chrono::milliseconds patience) override;
    void stop() noexcept override;

  private:
    struct Part {
        std::unique_ptr<Source> source;
        std::optional<Block> waits;  // for those of the others
    };

    Arrival next_of_all(std::chrono::milliseconds patience);
    std::uint64_t number_of(const Block& block) const;
    bool drop_what_others_lost();
    bool fit_together() const;
    Arrival together();
    void copy_lines(std::byte* to) const;

    std::vector<Part> parts_;
    Scan scan_;
    SpectraLayout of_part_, of_all_;
    SourceCapabilities capabilities_;
    std::int64_t pool_blocks_;
    std::int64_t blocks_;  // of a volume
    BlockPool pool_;
};

}  // namespace echolux
