// Base class of sources that combine several instruments.
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

    // Has no adjustable settings, since each instrument has its own. Silence is normal only if it is for all
    // instruments.
    const SourceCapabilities& capabilities() const override { return capabilities_; }
    std::string name() const override;     // "A + B"
    double line_rate_hz() const override;  // sum of all
    std::vector<std::filesystem::path> played_files() const override;

    // Starts all instruments, or none if one fails.
    void start() override;

    // Ends when one instrument ends. If one fails, all are stopped.
    Arrival next(std::chrono::milliseconds patience) override;
    void stop() noexcept override;

  protected:
    using Clock = std::chrono::steady_clock;

    struct Part {
        std::unique_ptr<Source> source;
        std::optional<Block> waits;  // for the other instruments, or for its turn
    };

    // Needs one or more sources. `scan_of_all` combines their scans and may throw.
    SeveralSources(std::vector<std::unique_ptr<Source>> parts,
                   Scan (*scan_of_all)(const std::vector<std::unique_ptr<Source>>&));

    virtual Arrival next_of_all(Clock::time_point until) = 0;

    // Waits for a block of `part`. Returns std::nullopt once there is one in part.waits, otherwise what happened
    // instead.
    static std::optional<Arrival> anything_but_a_block(Part& part, Clock::time_point until);

    std::vector<Part> parts_;
    Scan scan_;

  private:
    SourceCapabilities capabilities_;
};

}  // namespace echolux
