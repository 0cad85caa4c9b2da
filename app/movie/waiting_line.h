// Things on their way from one thread to another, in their order: whoever puts waits while the line is full, whoever
// takes while it is empty.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <mutex>
#include <optional>
#include <utility>

namespace echolux {

template <class Thing>
class WaitingLine {
  public:
    explicit WaitingLine(std::size_t most) : max_(most) {}

    // False: nobody takes any more, and it is gone.
    bool put(Thing thing) {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [&] { return things_.size() < max_ || is_closed_; });
        if (is_closed_) return false;
        things_.push_back(std::move(thing));
        changed_.notify_all();
        return true;
    }

    // Nothing: no more will come.
    std::optional<Thing> take() {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [&] { return !things_.empty() || ends_ || is_closed_; });
        if (things_.empty()) return {};
        std::optional<Thing> thing(std::move(things_.front()));
        things_.pop_front();
        changed_.notify_all();
        return thing;
    }

    // Nothing is put any more; what waits is still taken.
    void end() {
        const std::scoped_lock lock(mutex_);
        ends_ = true;
        changed_.notify_all();
    }

    // From now on nothing is put, and what waits is gone.
    void close() {
        std::deque<Thing> gone;  // after the mutex
        const std::scoped_lock lock(mutex_);
        is_closed_ = true;
        gone.swap(things_);
        changed_.notify_all();
    }

  private:
    const std::size_t max_;
    std::mutex mutex_;  // of what follows
    std::condition_variable changed_;
    std::deque<Thing> things_;
    bool ends_ = false;
    bool is_closed_ = false;
};

}  // namespace echolux
