#include "ui/app/movie/movie_encoding.h"

#include <chrono>
#include <utility>

#include "ui/app/seconds_since.h"

namespace echolux {

MovieEncoding::MovieEncoding(std::unique_ptr<MovieWriter> writer)
    : writer_(std::move(writer)), encoder_(writer_->encoder()), thread_([this] { work(); }) {}

MovieEncoding::~MovieEncoding() {
    {
        const std::scoped_lock lock(mutex_);
        ends_ = drops_ = true;
    }
    changed_.notify_all();
    if (thread_.joinable()) thread_.join();
}

void MovieEncoding::add(std::function<Image()> picture) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return waiting_.size() < most_waiting || failure_; });
    if (failure_) std::rethrow_exception(failure_);
    waiting_.push_back(std::move(picture));
    changed_.notify_all();
}

void MovieEncoding::finish() {
    {
        const std::scoped_lock lock(mutex_);
        ends_ = true;
    }
    changed_.notify_all();
    if (thread_.joinable()) thread_.join();
    const auto start = std::chrono::steady_clock::now();
    writer_->finish();
    busy_s_ += seconds_since(start);
    if (failure_) std::rethrow_exception(failure_);
}

std::int64_t MovieEncoding::pictures() const {
    return writer_->pictures();
}

double MovieEncoding::busy_s() const {
    const std::scoped_lock lock(mutex_);
    return busy_s_;
}

void MovieEncoding::encode(const std::function<Image()>& picture) {
    const Image image = picture();
    const auto start = std::chrono::steady_clock::now();
    writer_->add(image.pixels);
    const std::scoped_lock lock(mutex_);
    busy_s_ += seconds_since(start);
}

void MovieEncoding::work() {
    for (;;) {
        std::function<Image()> picture;
        {
            std::unique_lock lock(mutex_);
            changed_.wait(lock, [&] { return ends_ || !waiting_.empty(); });
            if (drops_ || waiting_.empty()) return;
            picture = std::move(waiting_.front());
            waiting_.pop_front();
        }
        try {
            encode(picture);
        } catch (...) {
            const std::scoped_lock lock(mutex_);
            failure_ = std::current_exception();
            changed_.notify_all();
            return;
        }
        changed_.notify_all();
    }
}

}  // namespace echolux
