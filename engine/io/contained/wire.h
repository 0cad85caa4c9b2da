// Protocol between the program and a reader process: frames of numbers and texts, each with its length, through a
// socket. The program does not trust answers: every count is checked against the received data before use.
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

// File descriptors in the reader process.
inline constexpr int reader_socket = 3, reader_memory = 4, reader_file = 5;

// Assumed minimum speed of disks and codecs in bytes per second. Timeouts are based on it.
inline constexpr double slowest_reading = 8 << 20;

// Limit of processor time per process, in addition to the time for its first file. The kernel enforces it, in case a
// compromised process outlives the program. Otherwise the program ends the process on a timeout.
inline constexpr std::int64_t longest_work_s = 3600;

// Protocol version. A reader process with another version reports it in its error message.
inline constexpr int reader_protocol = 1;

// Kinds of frames.
enum class Response : std::uint8_t {
    open = 'o',     // to the reader: file to open
    read = 'r',     // to the reader: slices to read
    box = 'b',      // to the reader: box of a level to read
    header = 'h',   // from the reader: headers of all levels
    done = 'd',     // from the reader: the voxels are in shared memory
    error = 'e',    // from the reader: an Error
    stopped = 's',  // from the reader: number of a forbidden system call
};

// Builds a frame. The numbers have the machine's byte order, since both processes run on the same machine.
class Frame {
  public:
    explicit Frame(Response what) { bytes_.push_back(static_cast<char>(what)); }

    Frame& add(std::int64_t number);
    Frame& add(double number);
    Frame& add(std::string_view text);
    Frame& add(const ImageHeader& header);

    const std::string& bytes() const { return bytes_; }

  private:
    std::string bytes_;
};

// Thrown for an invalid frame.
struct BadFrame {};

// Parses a frame in the order in which it was built. All functions throw BadFrame.
class FrameReader {
  public:
    explicit FrameReader(std::string_view bytes);

    Response what() const { return what_; }
    std::int64_t number();
    double real();
    std::string text();
    ImageHeader header();

  private:
    template <class T>
    T plain();

    Response what_{};
    std::string_view rest_;
};

// Request for voxels.
struct ReadOrder {
    std::int64_t time_point = 0, level = -1;  // level -1: whole slices
    ImageBox box;
    std::int64_t place = 0, bytes = 0;  // in shared memory

    Frame frame() const;
    static ReadOrder of(FrameReader& frame);
};

// Request to open the file.
struct OpenOrder {
    std::string kind;  // "hdf5", "tiff", "dicom"
    std::string path;  // for messages
    std::string part;
    std::vector<std::int64_t> numbers;
    std::int64_t max_bytes = 0;  // memory limit
    std::int64_t longest_s = 0;  // timeout per answer; then the process ends itself

    Frame frame() const;
    static OpenOrder of(FrameReader& frame);
};

// Converts an Error to a frame and back. Texts are made printable.
Frame frame_of(const Error& error);
Error error_of(FrameReader& frame);

// Returns false if the other side has closed the connection.
bool send_frame(int socket, const Frame& frame);

// Deadlines are given in this clock.
using WireClock = std::chrono::steady_clock;
// Receives a frame. Returns std::nullopt if the connection was closed, the frame is too long, or it is incomplete at
// the deadline. Without a deadline, waits indefinitely.
std::optional<std::string> receive_frame(int socket, std::optional<WireClock::time_point> until = {});

}  // namespace echolux
