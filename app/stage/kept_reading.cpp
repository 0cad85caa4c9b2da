#include "app/stage/kept_reading.h"

#include <chrono>
#include <utility>

namespace echolux {

std::optional<std::uint64_t> KeptReading::wanted() const {
    const std::scoped_lock lock(mutex_);
    if (coming_ || error_ || begun_ == series_.volumes.size()) return {};
    return series_.volumes[begun_].serial;
}

void KeptReading::bring(VolumeToCome coming) {
    const std::scoped_lock lock(mutex_);
    coming_ = std::move(coming);
    ++begun_;
    changed_.notify_one();
}

void KeptReading::fail(const Error& error) {
    const std::scoped_lock lock(mutex_);
    if (!error_) error_ = error;
    changed_.notify_one();
}

std::vector<std::byte> KeptReading::next(Progress& progress) {
    constexpr std::chrono::milliseconds look_around{50};
    std::unique_lock lock(mutex_);
    while (!changed_.wait_for(lock, look_around, [this] { return coming_ || error_; })) {
        lock.unlock();
        progress.advance(0);
        lock.lock();
    }
    if (error_) throw Error(*error_);
    const VolumeToCome coming = std::exchange(coming_, nullptr);
    lock.unlock();
    return coming()->voxels;
}

}  // namespace echolux
