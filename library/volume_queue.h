// Finished volumes that wait to be taken: only the newest, or a few of which none is lost.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>
#include <utility>

#include "library/finished_volume.h"

namespace echolux::library {

class VolumeQueue {
  public:
    // If `waits` is set, the producer waits for room. Otherwise the oldest volume is discarded.
    void keep(std::int32_t volumes, bool waits) {
        const std::scoped_lock lock(mutex_);
        capacity_ = static_cast<std::size_t>(volumes);
        waits_ = waits;
    }

    // Returns false if the queue was closed.
    bool wait_for_room() {
        std::unique_lock lock(mutex_);
        is_waited_for_ = true;
        changed_.wait(lock, [this] { return closed_ || !waits_ || volumes_.size() < capacity_; });
        is_waited_for_ = false;
        return !closed_;
    }

    // Returns true if the producer is waiting for room.
    bool is_waited_for() const {
        const std::scoped_lock lock(mutex_);
        return is_waited_for_ && waits_ && volumes_.size() >= capacity_;
    }

    // Discards the oldest volumes if the queue is full, and counts them.
    void add(FinishedVolume volume) {
        const std::scoped_lock lock(mutex_);
        while (!volumes_.empty() && volumes_.size() >= capacity_) {
            volumes_.pop_front();
            ++overwritten_;
        }
        volumes_.push_back(std::move(volume));
        changed_.notify_all();
    }

    // Returns the oldest volume, or std::nullopt if none arrived within `patience`.
    std::optional<FinishedVolume> take(std::chrono::milliseconds patience) {
        std::unique_lock lock(mutex_);
        changed_.wait_for(lock, patience, [this] { return !volumes_.empty(); });
        if (volumes_.empty()) return std::nullopt;
        FinishedVolume oldest = std::move(volumes_.front());
        volumes_.pop_front();
        changed_.notify_all();
        return oldest;
    }

    // Ends all waits: no more volumes will be taken.
    void close() {
        const std::scoped_lock lock(mutex_);
        closed_ = true;
        changed_.notify_all();
    }

    std::int64_t overwritten() const {
        const std::scoped_lock lock(mutex_);
        return overwritten_;
    }

  private:
    mutable std::mutex mutex_;
    std::condition_variable changed_;
    std::deque<FinishedVolume> volumes_;
    std::size_t capacity_ = 1;
    std::int64_t overwritten_ = 0;
    bool waits_ = false;
    bool closed_ = false;
    bool is_waited_for_ = false;
};

}  // namespace echolux::library
