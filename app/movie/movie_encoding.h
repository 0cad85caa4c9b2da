// Encodes a movie in parallel with drawing. Pictures are added as soon as drawing has started. One thread waits for
// them and reads them back from the device; another encodes and writes. The queues are bounded, so memory is limited
// whichever side is slower.
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

    std::unique_ptr<MovieWriter> writer_;  // used by the encoding thread, then by finish()
    std::string encoder_;
    BoundedQueue<Drawn> drawn_{max_waiting};
    BoundedQueue<Taken> taken_{max_waiting};
    std::mutex mutex_;
    std::exception_ptr failure_;  // the first error; guarded by the mutex
    double busy_s_ = 0;           // written by the encoding thread, read after it has ended
    std::thread taker_, coder_;   // started last
};

}  // namespace echolux
