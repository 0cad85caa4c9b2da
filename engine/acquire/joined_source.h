// Several instruments that record the same volumes together, as one source: each has every second (third, …) block of
// B-scans, so that spectra reach memory, and from there GPUs, on as many ways as there are instruments. Blocks are
// handed on as they are, in the order of the volume; nothing is copied.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/acquire/source.h"

namespace echolux {

class JoinedSource : public Source {
  public:
    // At least two, which send B-scans of the same kind in blocks of the same size. A volume of all together has that
    // many times the B-scans of each. Throws Error{bad_setting} naming what they differ in.
    explicit JoinedSource(std::vector<std::unique_ptr<Source>> parts);

    const Scan& scan() const override { return scan_; }
    std::int64_t block_b_scans() const override { return parts_.front().source->block_b_scans(); }
    std::int64_t pool_blocks() const override;
    const SourceCapabilities& capabilities() const override { return capabilities_; }
    std::string name() const override;
    double line_rate_hz() const override;  // of all together
    std::vector<std::filesystem::path> played_files() const override;

    // All of them; none runs where one refuses.
    void start() override;

    // The block whose turn it is. Where its instrument has lost it, or one of its volume, the next one tells so. When
    // one of them has ended, all have.
    Arrival next(std::chrono::milliseconds patience) override;
    void stop() noexcept override;

  private:
    struct Part {
        std::unique_ptr<Source> source;
        std::optional<Block> waits;  // came before its turn
    };

    Arrival next_of_turn(std::chrono::milliseconds patience);
    Block as_one(Block block, std::size_t part) const;

    std::vector<Part> parts_;
    Scan scan_;
    SourceCapabilities capabilities_;
    std::int64_t blocks_ = 1;  // of a volume of each
    double turn_s_ = 0;        // between the blocks of two instruments, at the rate of all together
    std::uint64_t next_ = 0;   // number of the block whose turn it is
};

}  // namespace echolux
