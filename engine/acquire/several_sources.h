// Several instruments as one source: what is the same however their spectra are put together.
#pragma once

#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/acquire/source.h"

namespace echolux {

class SeveralSources : public Source {
  public:
    const Scan& scan() const override { return scan_; }
    std::int64_t block_b_scans() const override { return parts_.front().source->block_b_scans(); }

    // No settings, which each instrument has for itself. That nothing comes is trouble if it is for one of them.
    const SourceCapabilities& capabilities() const override { return capabilities_; }
    std::string name() const override;     // "A + B"
    double line_rate_hz() const override;  // of all together
    std::vector<std::filesystem::path> played_files() const override;

    // All of them; none runs where one refuses.
    void start() override;

    // When one of them has ended, all have; where one fails, all are stopped.
    Arrival next(std::chrono::milliseconds patience) override;
    void stop() noexcept override;

  protected:
    using Clock = std::chrono::steady_clock;

    struct Part {
        std::unique_ptr<Source> source;
        std::optional<Block> waits;  // for those of the others, or for its turn
    };

    // At least one. `scan_of_all` may refuse them.
    SeveralSources(std::vector<std::unique_ptr<Source>> parts,
                   Scan (*scan_of_all)(const std::vector<std::unique_ptr<Source>>&));

    virtual Arrival next_of_all(Clock::time_point until) = 0;

    // Nothing: a block of `part` waits.
    static std::optional<Arrival> anything_but_a_block(Part& part, Clock::time_point until);

    std::vector<Part> parts_;
    Scan scan_;

  private:
    SourceCapabilities capabilities_;
};

}  // namespace echolux
