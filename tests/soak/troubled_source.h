// A source that simulates an unreliable instrument: it disconnects and returns, refuses to start, stalls, and loses
// blocks. All faults are counted.
#pragma once

#include <atomic>
#include <memory>
#include <random>
#include <utility>

#include "compute/error.h"
#include "engine/acquire/source.h"
#include "tests/unit/await.h"

namespace echolux::soak {

class TroubledSource : public Source {
  public:
    TroubledSource(std::unique_ptr<Source> source, std::uint64_t seed) : source_(std::move(source)), random_(seed) {}

    const Scan& scan() const override { return source_->scan(); }
    std::int64_t block_b_scans() const override { return source_->block_b_scans(); }
    std::int64_t pool_blocks() const override { return source_->pool_blocks(); }
    const SourceCapabilities& capabilities() const override { return source_->capabilities(); }
    std::string name() const override { return source_->name() + ", troubled"; }

    void start() override {
        if (happens_every(3)) throw Error(ErrorCode::device, "is not there yet", name());
        source_->start();
        ++starts;
    }

    Arrival next(std::chrono::milliseconds timeout) override {
        const auto now = Clock::now();
        const double waited_s = std::chrono::duration<double>(now - asked_at_).count();
        asked_at_ = now;
        if (happens_every(40, waited_s)) {
            source_->stop();
            ++disconnects;
            throw Error(ErrorCode::device, "was disconnected", name());
        }
        if (happens_every(30, waited_s)) {
            stalled_until_ = now + std::chrono::milliseconds(random_() % 2500);
            ++stalls;
        }
        if (now < stalled_until_) {
            becomes_true([this] { return Clock::now() >= stalled_until_; }, timeout);
            return {};
        }
        Arrival arrival = source_->next(timeout);
        if (arrival.kind != Arrival::Kind::block) return arrival;
        lost += arrival.block.lost_before;
        if (happens_every(15, waited_s)) {  // this block never arrives
            lost_ += arrival.block.lost_before + 1;
            ++lost;
            return {};
        }
        arrival.block.lost_before += std::exchange(lost_, 0);
        return arrival;
    }

    void stop() noexcept override {
        source_->stop();
        lost_ = 0;
    }

    std::atomic<std::int64_t> starts = 0, disconnects = 0, stalls = 0, lost = 0;

  private:
    using Clock = std::chrono::steady_clock;

    // True on average every `period_s`, if the previous call was `waited_s` ago.
    bool happens_every(double period_s, double waited_s = 1) {
        return std::uniform_real_distribution<double>(0, period_s)(random_) < std::min(waited_s, 1.0);
    }

    std::unique_ptr<Source> source_;
    std::mt19937_64 random_;
    Clock::time_point asked_at_ = Clock::now(), stalled_until_{};
    std::int64_t lost_ = 0;
};

}  // namespace echolux::soak
