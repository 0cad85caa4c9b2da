#include "app/movie/movie_encoding.h"

#include <chrono>
#include <utility>

#include "app/seconds_since.h"

namespace echolux {

MovieEncoding::MovieEncoding(std::unique_ptr<MovieWriter> writer)
    : writer_(std::move(writer)), encoder_(writer_->encoder()), taker_([this] { take(); }),
      coder_([this] { encode(); }) {}

MovieEncoding::~MovieEncoding() {
    drawn_.close();
    taken_.close();
    if (taker_.joinable()) taker_.join();
    if (coder_.joinable()) coder_.join();
}

void MovieEncoding::add(std::function<Image()> picture, std::map<std::string, std::string> text) {
    if (!drawn_.push({std::move(picture), std::move(text)})) throw_failure();
}

void MovieEncoding::drop_waiting() {
    drawn_.close();
    taken_.close();
}

void MovieEncoding::finish() {
    drawn_.end();
    if (taker_.joinable()) taker_.join();
    if (coder_.joinable()) coder_.join();
    const auto start = std::chrono::steady_clock::now();
    writer_->finish();
    busy_s_ += seconds_since(start);
    throw_failure();
}

std::int64_t MovieEncoding::pictures() const {
    return writer_->pictures();
}

void MovieEncoding::take() {
    try {
        while (auto drawn = drawn_.pop()) {
            if (!taken_.push({drawn->picture(), std::move(drawn->text)})) break;
        }
    } catch (...) {
        fail();
    }
    taken_.end();
}

void MovieEncoding::encode() {
    try {
        while (const auto taken = taken_.pop()) {
            const auto start = std::chrono::steady_clock::now();
            writer_->add(taken->image.pixels, taken->text);
            busy_s_ += seconds_since(start);
        }
    } catch (...) {
        fail();
        taken_.close();
    }
}

// Called on a worker thread that fails. It accepts no more work, so callers waiting in add() are woken.
void MovieEncoding::fail() {
    {
        const std::scoped_lock lock(mutex_);
        if (!failure_) failure_ = std::current_exception();
    }
    drawn_.close();
}

void MovieEncoding::throw_failure() {
    const std::scoped_lock lock(mutex_);
    if (failure_) std::rethrow_exception(failure_);
}

}  // namespace echolux
