// What the program and a reader process say to each other: frames of numbers and texts through a socket, with a length
// in front. The program trusts nothing that comes back: every count is compared with what is there, before it is used.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compute/error.h"
#include "engine/io/image_stream.h"

namespace echolux {

// Where a reader process finds them.
inline constexpr int reader_socket = 3, reader_memory = 4, reader_file = 5;

// Of disks and codecs, in bytes per second: what an answer may take goes by it.
inline constexpr double slowest_reading = 8 << 20;

// Of processor time, for all answers of one process, beside what its first file may take: a bound of the kernel's, for
// a process that does what a hostile file says and has lost its program. Whoever still asks ends it by the clock.
inline constexpr std::int64_t longest_work_s = 3600;

// Of this protocol; the name of the other program stands in its own message when it has another.
inline constexpr int reader_protocol = 1;

enum class Says : std::uint8_t {
    open = 'o',     // to the reader: what to read
    read = 'r',     // to the reader: slices
    box = 'b',      // to the reader: a box of a level
    header = 'h',   // from it: what the file says
    done = 'd',     // from it: the voxels lie in the shared memory
    error = 'e',    // from it: an Error
    stopped = 's',  // from it: it tried what it may not, the number of the system call
};

class Frame {
  public:
    explicit Frame(Says what) { bytes_.push_back(static_cast<char>(what)); }

    Frame& add(std::int64_t number);
    Frame& add(double number);
    Frame& add(std::string_view text);
    Frame& add(const ImageHeader& header);

    const std::string& bytes() const { return bytes_; }

  private:
    std::string bytes_;
};

// Takes a frame apart in the order it was put together. Throws BadFrame: it is none of ours.
struct BadFrame {};

class FrameReader {
  public:
    explicit FrameReader(std::string_view bytes);

    Says what() const { return what_; }
    std::int64_t number();
    double real();
    std::string text();
    ImageHeader header();

  private:
    template <class T>
    T plain();

    Says what_{};
    std::string_view rest_;
};

struct ReadOrder {
    std::int64_t time_point = 0, level = -1;  // level -1: whole slices
    ImageBox box;
    std::int64_t place = 0, bytes = 0;  // in the shared memory

    Frame frame() const;
    static ReadOrder of(FrameReader& frame);
};

struct OpenOrder {
    std::string kind;  // "hdf5", "tiff", "dicom"
    std::string path;  // for messages
    std::string part;
    std::vector<std::int64_t> numbers;
    std::int64_t max_bytes = 0;  // of memory
    std::int64_t longest_s = 0;  // of one answer, after which the process ends itself, whoever else is there

    Frame frame() const;
    static OpenOrder of(FrameReader& frame);
};

Frame frame_of(const Error& error);
Error error_of(FrameReader& frame);

// False: the other side is gone.
bool send_frame(int socket, const Frame& frame);

// Nothing: the other side is gone, said too much, or did not say all of it in time. Without an end it is waited for.
using WireClock = std::chrono::steady_clock;
std::optional<std::string> receive_frame(int socket, std::optional<WireClock::time_point> until = {});

}  // namespace echolux
