// Recorded scans as sources: ScanPlayer sends volumes on request, open_replay() (source.h) sends all at the line rate.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/acquire/source.h"
#include "engine/offline/reconstruction.h"

namespace echolux {

// Returns the time between recorded volumes; 0 if unknown.
double volume_seconds(const Scan& scan);

// ---- A recorded scan that sends the requested volume. The newest request wins, a volume that has begun is sent
// completely, and data is sent only as fast as it is processed. Recorded scans and live instruments therefore share the
// same session, and changed settings apply to the displayed volume.

class ScanPlayer : public Source {
  public:
    // Blocks have up to `block_b_scans` positions; 0: default of stream.h. Throws Error{bad_file}.
    ScanPlayer(Scan scan, MemoryKind memory, std::int64_t block_b_scans = 0);

    const Scan& scan() const override { return scan_; }
    std::int64_t block_b_scans() const override { return block_b_scans_; }
    std::int64_t pool_blocks() const override { return keeps_volumes_ ? 0 : max_in_use_; }
    const SourceCapabilities& capabilities() const override { return capabilities_; }
    std::string name() const override { return scan_.path.filename().string(); }

    // Sends the last requested volume, by default the first.
    void start() override;
    Arrival next(std::chrono::milliseconds timeout) override;
    void stop() noexcept override;

    double volume_s() const { return volume_seconds(scan_); }

    // ---- any thread

    // Requests this volume, even if it was sent before. The number is clamped to the scan.
    void show(std::int64_t volume);

    // Returns the volume of the scan for a volume number of the session, or std::nullopt if it was sent long ago.
    std::optional<std::int64_t> shown_by(std::int64_t number) const;

    // Returns whether the last attempt to read it failed, so that it will not arrive.
    bool has_failed(std::int64_t volume) const;

    // Returns and clears the errors of volumes that could not be read.
    std::vector<std::string> take_problems();

  private:
    // Count of blocks in use. Outlives this object.
    struct Use {
        std::mutex mutex;
        std::condition_variable changed;
        std::int64_t blocks = 0;
    };

    void begin();
    Block numbered(Block block);

    Scan scan_;
    std::int64_t block_b_scans_;
    std::int64_t max_in_use_;
    bool keeps_volumes_;  // memory suffices for the displayed volume and the next one
    SourceCapabilities capabilities_{.sends_when_asked = true};
    SpectraReader reader_;
    BlockPool pool_;
    std::optional<BlockStream> stream_;  // of the current volume; destroyed before reader_ and pool_
    std::int64_t number_ = -1;           // of the current volume
    std::uint64_t sequence_ = 0;
    std::int64_t lines_ = 0;  // lines sent

    std::shared_ptr<Use> use_ = std::make_shared<Use>();  // its mutex also protects the members below
    std::int64_t shown_ = 0;                              // last requested volume
    bool is_wanted_ = false;                              // and not begun
    bool runs_ = false;
    std::deque<std::pair<std::int64_t, std::int64_t>> sent_;  // recent volumes: numbers in the session and in the scan
    std::vector<std::string> problems_;
    std::int64_t failed_ = -1;  // last volume that could not be read
};

}  // namespace echolux
