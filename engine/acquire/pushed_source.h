// A source for programs that control their own instrument and push blocks. push() waits while the queue is full.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <map>
#include <mutex>
#include <string>

#include "engine/acquire/source.h"
#include "engine/memory.h"

namespace echolux {

class PushedSource : public Source {
  public:
    // Accepts blocks of `scan` with up to `block_b_scans` positions; 0: any number.
    PushedSource(Scan scan, std::int64_t block_b_scans);

    const Scan& scan() const override { return scan_; }
    std::int64_t block_b_scans() const override { return block_b_scans_; }
    const SourceCapabilities& capabilities() const override { return capabilities_; }
    std::string name() const override { return "pushed blocks"; }

    // Blocks pushed before the start are delivered first, followed by an end if there was one.
    void start() override;
    Arrival next(std::chrono::milliseconds timeout) override;
    void stop() noexcept override;  // discards queued blocks and a pending end

    // ---- any thread

    // Copies `block`, which must be complete in host memory. Volumes and sequence numbers are assigned here. The queue
    // holds one volume. Returns false if there is no room within `timeout`. Throws Error{bad_setting} if the block does
    // not fit the scan or after end().
    bool push(const Block& block, std::chrono::milliseconds timeout);

    // Signals that no more blocks will be pushed.
    void end();

  private:
    Block copied(const Block& block);
    BlockMemory memory_for(std::int64_t b_scans);

    Scan scan_;
    std::int64_t block_b_scans_;
    SourceCapabilities capabilities_{.sends_when_asked = true};

    std::mutex mutex_;  // protects the members below
    std::condition_variable came_, taken_;
    std::map<std::int64_t, BlockPool> pools_;  // by capacity in B-scan positions
    std::deque<Block> waiting_;
    std::int64_t waiting_b_scans_ = 0;
    std::uint64_t sequence_ = 0;
    std::int64_t volume_ = 0;
    bool is_running_ = false;
    bool ends_ = false;
    std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace echolux
