// A movie that is encoded beside the drawing: pictures are handed over as soon as they are begun; a thread waits for
// them, encodes and writes. At most a few wait, so that memory is bounded whichever side is slower.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>

#include "engine/io/movie_file.h"
#include "render/offscreen.h"

namespace echolux {

class MovieEncoding {
  public:
    static constexpr std::size_t most_waiting = 4;

    explicit MovieEncoding(std::unique_ptr<MovieWriter> writer);
    ~MovieEncoding();  // without finish(): what has been handed over is dropped
    MovieEncoding(const MovieEncoding&) = delete;
    MovieEncoding& operator=(const MovieEncoding&) = delete;

    // Waits while too many are waiting. `picture` is called on the thread that encodes. Throws what encoding threw.
    void add(std::function<Image()> picture);

    // All that was handed over is in the movie, which is whole: also where encoding failed, whose error is then thrown.
    void finish();

    const std::string& encoder() const { return encoder_; }
    std::int64_t pictures() const;  // in the movie; after finish()
    double busy_s() const;          // that encoding and writing took; after finish()

  private:
    void work();
    void encode(const std::function<Image()>& picture);

    std::unique_ptr<MovieWriter> writer_;  // of the thread, then of finish()
    std::string encoder_;
    mutable std::mutex mutex_;  // of what follows
    std::condition_variable changed_;
    std::deque<std::function<Image()>> waiting_;
    bool ends_ = false;   // nothing comes any more
    bool drops_ = false;  // and what waits is not wanted
    std::exception_ptr failure_;
    double busy_s_ = 0;
    std::thread thread_;  // begins last
};

}  // namespace echolux
