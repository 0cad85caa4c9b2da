// A source whose blocks somebody else hands over: a program that drives its instrument itself. It can wait: whoever
// pushes finds no room until what came before is taken.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <map>
#include <mutex>
#include <string>

#include "engine/acquire/source.h"
#include "engine/block_pool.h"

namespace echolux {

class PushedSource : public Source {
  public:
    // As `scan` describes them, of at most `block_b_scans` positions; 0: any number.
    PushedSource(Scan scan, std::int64_t block_b_scans);

    const Scan& scan() const override { return scan_; }
    std::int64_t block_b_scans() const override { return block_b_scans_; }
    const SourceCapabilities& capabilities() const override { return capabilities_; }
    std::string name() const override { return "blocks that are pushed"; }

    // What was pushed while it was stopped comes first; so does an end.
    void start() override;
    Arrival next(std::chrono::milliseconds patience) override;
    void stop() noexcept override;  // leaves out what waits, and forgets an end

    // ---- any thread

    // A copy of `block`, which lies in host memory and is there already; volumes and sequence are counted here. A
    // volume's worth of B-scans may wait. False: no room within `patience`. Throws Error{bad_setting}: it is not of the
    // scan, or after end().
    bool push(const Block& block, std::chrono::milliseconds patience);

    // No more will be pushed.
    void end();

  private:
    Block copied(const Block& block);
    BlockMemory memory_for(std::int64_t b_scans);

    Scan scan_;
    std::int64_t block_b_scans_;
    SourceCapabilities capabilities_{.sends_when_asked = true};

    std::mutex mutex_;  // of what follows
    std::condition_variable came_, taken_;
    std::map<std::int64_t, BlockPool> pools_;  // by the B-scan positions that their blocks have room for
    std::deque<Block> waiting_;
    std::int64_t waiting_b_scans_ = 0;
    std::uint64_t sequence_ = 0;
    std::int64_t volume_ = 0;
    bool is_running_ = false;
    bool ends_ = false;
    std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace echolux
