// A movie that is encoded beside the drawing: pictures are handed over as soon as they are begun; one thread waits for
// them and takes them from the device's memory, another encodes and writes. At most a few wait before each, so that
// memory is bounded whichever side is slower.
#pragma once

#include <cstdint>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "app/movie/bounded_queue.h"
#include "engine/io/movie_file.h"
#include "render/renderer.h"

namespace echolux {

class MovieEncoding {
  public:
    static constexpr std::size_t max_waiting = 4;  // that are drawn, and as many that are taken

    explicit MovieEncoding(std::unique_ptr<MovieWriter> writer);
    ~MovieEncoding();  // without finish(): what has been handed over is dropped
    MovieEncoding(const MovieEncoding&) = delete;
    MovieEncoding& operator=(const MovieEncoding&) = delete;

    // Waits while too many are waiting. `picture` is called on a thread of this; `text` goes with it as
    // MovieWriter::add() says. Throws what encoding threw.
    void add(std::function<Image()> picture, std::map<std::string, std::string> text = {});

    // What waits is not encoded, nor is what is added from now on: finish() ends soon.
    void drop_waiting();

    // All that was handed over is in the movie, which is whole: also where encoding failed, whose error is then thrown.
    void finish();

    const std::string& encoder() const { return encoder_; }
    std::int64_t pictures() const;             // in the movie; after finish()
    double busy_s() const { return busy_s_; }  // that encoding and writing took; after finish()

  private:
    struct Drawn {
        std::function<Image()> picture;
        std::map<std::string, std::string> text;
    };
    struct Taken {
        Image image;
        std::map<std::string, std::string> text;
    };

    void take();
    void encode();
    void fail();
    void throw_failure();

    std::unique_ptr<MovieWriter> writer_;  // of the thread that encodes, then of finish()
    std::string encoder_;
    BoundedQueue<Drawn> drawn_{max_waiting};
    BoundedQueue<Taken> taken_{max_waiting};
    std::mutex mutex_;
    std::exception_ptr failure_;  // the first; under the mutex
    double busy_s_ = 0;           // of the thread that encodes, then of everybody
    std::thread taker_, coder_;   // begin last
};

}  // namespace echolux
