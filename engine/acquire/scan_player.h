// A recorded scan as a source that sends the volume that somebody wants to see: the newest wish wins, a volume that is
// begun is sent whole, and nothing is sent faster than it is worked on. So a scan on disk is shown by the same session
// as an instrument, and settings that change work on what is shown.
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
#include "engine/offline/block_stream.h"

namespace echolux {

// From one volume of a scan to the next as they were recorded; 0: unknown.
double volume_seconds(const Scan& scan);

class ScanPlayer : public Source {
  public:
    // Blocks of at most `block_b_scans`; 0: as block_size.h says. Throws Error{bad_file}.
    ScanPlayer(Scan scan, MemoryKind memory, std::int64_t block_b_scans = 0);

    const Scan& scan() const override { return scan_; }
    std::int64_t block_b_scans() const override { return block_b_scans_; }
    std::int64_t pool_blocks() const override { return keeps_volumes_ ? 0 : max_in_use_; }
    const SourceCapabilities& capabilities() const override { return capabilities_; }
    std::string name() const override { return scan_.path.filename().string(); }

    // Sends the volume that was wanted last, or the first.
    void start() override;
    Arrival next(std::chrono::milliseconds patience) override;
    void stop() noexcept override;

    double volume_s() const { return volume_seconds(scan_); }

    // ---- any thread

    // This volume of the scan next, also where it was sent already. Throws nothing; kept inside the scan.
    void show(std::int64_t volume);

    // Which volume of the scan a volume of the session is; nothing: sent too long ago.
    std::optional<std::int64_t> shown_by(std::int64_t number) const;

    // Whether the last try to read it failed: nobody need wait for it.
    bool has_failed(std::int64_t volume) const;

    // What could not be read: its volume is not shown.
    std::vector<std::string> take_problems();

  private:
    // Blocks that somebody holds, counted beyond the life of this.
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
    bool keeps_volumes_;  // there is memory for the volume that is shown and one that comes
    SourceCapabilities capabilities_{.sends_when_asked = true};
    SpectraReader reader_;
    BlockPool pool_;
    std::optional<BlockStream> stream_;  // of the volume under way; goes before what it reads with
    std::int64_t number_ = -1;           // of that
    std::uint64_t sequence_ = 0;
    std::int64_t lines_ = 0;  // sent

    std::shared_ptr<Use> use_ = std::make_shared<Use>();  // its mutex is of what follows too
    std::int64_t shown_ = 0;                              // that was wanted last
    bool is_wanted_ = false;                              // and not begun
    bool runs_ = false;
    std::deque<std::pair<std::int64_t, std::int64_t>> sent_;  // numbers of the session and of the scan, lately
    std::vector<std::string> problems_;
    std::int64_t failed_ = -1;  // the volume that could not be read last
};

}  // namespace echolux
