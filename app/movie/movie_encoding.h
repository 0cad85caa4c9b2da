// Pictures of a movie, from drawing to file: motion blur, and encoding in parallel with drawing. Pictures are added as
// soon as drawing has started. One thread waits for them and reads them back from the device; another encodes and
// writes. The queues are bounded, so memory is limited regardless of which side is slower.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "engine/io/movie_file.h"
#include "render/picture.h"
#include "render/renderer.h"
#include "render/view/view.h"

namespace echolux {

// ---- Bounded queue between two threads: push() waits while it is full, pop() while it is empty.

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

    // Drops all queued items, and all that are pushed later. Waiting calls return.
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

// ---- Encoding

class MovieEncoding {
  public:
    static constexpr std::size_t max_waiting = 4;  // pictures being drawn, and the same number of pictures read back

    explicit MovieEncoding(std::unique_ptr<MovieWriter> writer);
    ~MovieEncoding();  // without finish(), queued pictures are dropped
    MovieEncoding(const MovieEncoding&) = delete;
    MovieEncoding& operator=(const MovieEncoding&) = delete;

    // Waits if too many pictures are queued. `picture` is called on a thread of this object. `text` is passed to
    // MovieWriter::add(). Throws errors of the encoder.
    void add(std::function<Image()> picture, std::map<std::string, std::string> text = {});

    // Drops queued pictures and all added later, so that finish() ends soon.
    void drop_waiting();

    // Completes the movie with all added pictures. If encoding failed, the movie is complete up to that point and the
    // error is thrown.
    void finish();

    const std::string& encoder() const { return encoder_; }
    std::int64_t pictures() const;             // in the movie; call after finish()
    double busy_s() const { return busy_s_; }  // time of encoding and writing; call after finish()

  private:
    struct PendingPicture {
        std::function<Image()> picture;
        std::map<std::string, std::string> text;
    };
    struct FinishedPicture {
        Image image;
        std::map<std::string, std::string> text;
    };

    void take();
    void encode();
    void fail();
    void throw_failure();

    std::unique_ptr<MovieWriter> writer_;  // used by the encoding thread, then by finish()
    std::string encoder_;
    BoundedQueue<PendingPicture> drawn_{max_waiting};
    BoundedQueue<FinishedPicture> finished_{max_waiting};
    std::mutex mutex_;
    std::exception_ptr failure_;  // the first error; guarded by the mutex
    double busy_s_ = 0;           // written by the encoding thread, read after it has ended
    std::thread taker_, coder_;   // started last
};

// ---- Motion blur: averages pictures drawn while the shutter is open, in linear light rather than in sRGB codes.

// Times of the pictures of one exposure, in movie frames from its beginning: the middles of equal parts. With a closed
// shutter only 0.
std::vector<double> moments_of_exposure(const Studio& studio);

// Settings of one of `pictures` pictures: together they have as many paths as one, with independent noise. Rays are not
// divided, because a picture needs the first few for smooth edges.
View part_of_exposure(View view, std::size_t number, std::size_t pictures);

// Sums light premultiplied by alpha. Pixels that are the same in all pictures keep their exact values.
class Exposure {
  public:
    void add(const Image& image);
    Image image() const;  // requires at least one picture

  private:
    Image last_;
    std::vector<float> sums_;
    std::int64_t count_ = 0;
};

}  // namespace echolux
