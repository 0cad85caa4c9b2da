// A bounded queue between two threads: push() waits while it is full, pop() while it is empty.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <mutex>
#include <optional>
#include <utility>

namespace echolux {

template <class T>
class BoundedQueue {
  public:
    explicit BoundedQueue(std::size_t max) : max_(max) {}

    // Returns false, and drops `item`, if the queue is closed.
    bool push(T item) {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [&] { return items_.size() < max_ || is_closed_; });
        if (is_closed_) return false;
        items_.push_back(std::move(item));
        changed_.notify_all();
        return true;
    }

    // Returns std::nullopt if the queue is closed, or empty after end().
    std::optional<T> pop() {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [&] { return !items_.empty() || ends_ || is_closed_; });
        if (items_.empty()) return {};
        std::optional<T> item(std::move(items_.front()));
        items_.pop_front();
        changed_.notify_all();
        return item;
    }

    // Announces that no more items will be pushed. Queued items can still be popped.
    void end() {
        const std::scoped_lock lock(mutex_);
        ends_ = true;
        changed_.notify_all();
    }

    // Drops all queued items, and all that are pushed later.
    void close() {
        std::deque<T> dropped;  // destroyed after the mutex is released
        const std::scoped_lock lock(mutex_);
        is_closed_ = true;
        dropped.swap(items_);
        changed_.notify_all();
    }

  private:
    const std::size_t max_;
    std::mutex mutex_;  // guards the members below
    std::condition_variable changed_;
    std::deque<T> items_;
    bool ends_ = false;
    bool is_closed_ = false;
};

}  // namespace echolux
