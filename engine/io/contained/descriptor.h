// A file descriptor that closes itself; negative if empty.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <utility>

namespace echolux {

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

}  // namespace echolux
