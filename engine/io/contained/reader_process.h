// A separate process (program `echolux-reader`, see engine/reader/) that reads one file with a library that is not
// hardened against hostile files. Failures stay in that process: its memory and time are limited, and it cannot open
// files, use the network or start programs.
//
// It is a separate program instead of a fork of this one, for three reasons. After a fork of a process with threads,
// locks may stay locked. Forking copies page tables of many GiB. And it can corrupt files that are written with
// O_DIRECT, as the recorder does (open(2), BUGS).
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "engine/io/contained/wire.h"
#include "engine/io/image_stream.h"

namespace echolux {

// A file descriptor that closes itself; negative if empty.
class Descriptor {
  public:
    Descriptor() = default;
    explicit Descriptor(int number) : number_(number) {}
    Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
    Descriptor& operator=(Descriptor&& other) noexcept {
        std::swap(number_, other.number_);
        return *this;
    }
    ~Descriptor() { close(); }

    int number() const { return number_; }
    explicit operator bool() const { return number_ >= 0; }
    // Returns the descriptor without closing it.
    int release() { return std::exchange(number_, -1); }
    void close();

  private:
    int number_ = -1;
};

// Opens a regular file for reading, without blocking on FIFOs, devices or folders. Throws Error{bad_file}, or
// Error{device} if too many files are open.
Descriptor open_regular(const std::filesystem::path& path);

// Returns the size in bytes, or 0 if it cannot be determined.
std::int64_t size_of(const Descriptor& file);

// Creates an unnamed file in memory that can be passed to another process. put() replaces its whole content. Both throw
// Error{out_of_memory}.
Descriptor file_in_memory();
void put(const Descriptor& file, std::span<const char> bytes);

// Use it from one thread at a time.
class ReaderProcess {
  public:
    // Starts a process that can only read `file`, described by `order`. Throws Error{device} if the program is missing
    // or does not start.
    ReaderProcess(const OpenOrder& order, const Descriptor& file);
    ~ReaderProcess();
    ReaderProcess(const ReaderProcess&) = delete;
    ReaderProcess& operator=(const ReaderProcess&) = delete;

    // Rereads `file` after its content was replaced, so that the files of a series share one process.
    void open_again(const OpenOrder& order);

    // Sends a request. Call answer() before the next request.
    void ask(const Frame& frame);

    // Waits for the answer, at most `longest_s` seconds. Throws the Error that occurred in the process. Throws
    // Error{bad_file} naming order.path if the process crashed, hung, exceeded its memory or made a forbidden system
    // call; then the process has ended.
    std::string answer(Response expected, double longest_s);

    // Returns shared memory of at least `bytes` bytes. Treat its content as untrusted.
    std::span<const std::byte> memory(std::int64_t bytes);

    // Whether the process has ended.
    bool is_over() const { return process_ < 0; }

    // Returns false if the process has ended, or must be replaced because it has worked for almost longest_work_s.
    bool can_continue() const;

  private:
    void start();
    [[noreturn]] void fail(double longest_s, bool is_late);
    void end();

    OpenOrder order_;
    Descriptor socket_, memory_file_;
    int process_ = -1;
    std::byte* memory_ = nullptr;
    std::int64_t memory_bytes_ = 0;
    int file_;             // owned by the caller
    double worked_s_ = 0;  // upper bound: time spent waiting for answers
};

// Returns the path of the reader program: from ECHOLUX_READER, else beside the program or library that contains this
// code, or in the bin folder of its installation. Throws Error{device} if it is missing.
std::filesystem::path reader_program();

// As reader_program(), for the program or library `file`. Never searches the current folder.
std::filesystem::path reader_program_for(const std::filesystem::path& file);

// A file and the limits for reading it.
struct ContainedFile {
    std::string kind;                     // see engine/reader/main.cpp
    std::filesystem::path path;           // for messages
    std::string part{};                   // part of the file, for kinds that have parts
    std::vector<std::int64_t> numbers{};  // further parameters of the kind
    std::int64_t max_bytes = 0;           // memory limit, in addition to what the process has before reading
    std::int64_t longest_s = 20;          // timeout per answer, in addition to time for the data's size
};

// Reads a file in a separate process behind the usual ImageReader interface. While the program works on some slices,
// the process reads the next ones, so that sequential reading is as fast as in this process. Starts the process and
// reads the header. Throws Error{bad_file, bad_setting, out_of_memory, device (no reader process)}.
std::unique_ptr<ImageReader> open_contained(ContainedFile what, Descriptor file);

// Opens what.path, which must be a regular file.
std::unique_ptr<ImageReader> open_contained(ContainedFile what);

}  // namespace echolux
