// Shared by session tests: a sink that records its input, a source that waits for the sink, a clock that tests advance,
// and a check of the counts.
#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "await.h"
#include "engine/live/session.h"
#include "engine/live/threads.h"
#include "faulty_source.h"
#include "live_plan.h"

namespace echolux::test {

// Real threads with a clock that tests can advance.
class LeapingThreads : public Threads {
  public:
    Clock::time_point now() override { return real_threads().now() + leap_.load(); }
    LiveThread start(Work work) override { return real_threads().start(std::move(work)); }
    bool wait(std::unique_lock<std::mutex>& lock, std::condition_variable_any& changed, const std::stop_token& stop,
              Clock::time_point time, const std::function<bool()>& is_so) override {
        const bool has_end = time != Clock::time_point::max();
        return real_threads().wait(lock, changed, stop, has_end ? time - leap_.load() : time, is_so);
    }

    // Only one thread may call it at a time.
    void leap(Clock::duration by) { leap_ = leap_.load() + by; }

  private:
    std::atomic<Clock::duration> leap_{};
};

// Records the blocks it receives and the setting in use.
class NotingSink : public BlockSink {
  public:
    struct Fed {
        std::int64_t volume, first_b_scan;
        double high;  // of the current recipe
        bool operator==(const Fed&) const = default;
    };

    std::function<void(const Block&)> on_feed;  // may wait or throw
    std::atomic<bool> drops = false;

    bool feed(const Block& block) override {
        if (on_feed) on_feed(block);
        const std::scoped_lock lock(mutex_);
        if (drops) return false;
        fed_.push_back({block.volume, block.first_b_scan, high_});
        return true;
    }
    bool reprocess(const Block& block) override {
        const std::scoped_lock lock(mutex_);
        fed_.push_back({-1, block.first_b_scan, high_});
        return true;
    }
    void collect() override {}
    void finish() override {}
    void change(const ReconstructionSpec& spec) override {
        const std::scoped_lock lock(mutex_);
        wanted_ = spec.recipe.high;
    }
    bool take_change(SwapPoint) override {
        const std::scoped_lock lock(mutex_);
        if (!wanted_) return false;
        high_ = *std::exchange(wanted_, std::nullopt);
        if (high_ == 13) throw Error(ErrorCode::out_of_memory, "13 is too much", "sink");
        return true;
    }

    std::vector<Fed> fed() const {
        const std::scoped_lock lock(mutex_);
        return fed_;
    }

  private:
    mutable std::mutex mutex_;
    std::vector<Fed> fed_;
    std::optional<double> wanted_;
    double high_ = 45;
};

// Runs until the source has ended and all blocks are processed.
inline void run_to_end(Session& session) {
    session.start();
    AWAIT(session.stats().ended);
    session.stop();
    ASSERT_TRUE(session.drain(std::chrono::hours(1)));
}

inline ReconstructionSpec spec_with(const Source& source, double high) {
    ReconstructionSpec spec = source.scan().spec(1);
    spec.recipe.high = high;
    return spec;
}

// Checks that every block is accounted for, even after faults.
inline void expect_balance(const LiveStats& f) {
    EXPECT_EQ(f.arrived.blocks, f.queue.pushed_blocks);
    EXPECT_EQ(f.queue.pushed_blocks, f.queue.taken_blocks + f.queue.waiting_blocks + f.queue.overtaken_blocks +
                                         f.queue.incomplete_blocks + f.queue.given_up_blocks);
}

// Makes the sink keep up: sends each block only after the sink has received the previous one.
class Paced : public FaultySource {
  public:
    Paced(std::vector<Fault> script, NotingSink& sink) : FaultySource(live_scan(), 1, std::move(script)), sink_(sink) {}
    Arrival next(std::chrono::milliseconds timeout) override {
        AWAIT(std::ssize(sink_.fed()) >= sent_);
        Arrival arrival = FaultySource::next(timeout);
        if (arrival.kind == Arrival::Kind::block) ++sent_;
        return arrival;
    }

  private:
    NotingSink& sink_;
    std::int64_t sent_ = 0;
};

}  // namespace echolux::test
