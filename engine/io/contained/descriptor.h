// A file descriptor that closes itself; negative: none.
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
    int release() { return std::exchange(number_, -1); }
    void close();

  private:
    int number_ = -1;
};

// A regular file, to be read: no FIFO, device or folder, and none is waited for. Throws Error{bad_file}; Error{device}:
// too many files are open.
Descriptor open_regular(const std::filesystem::path& path);

// In bytes; 0: it cannot be said.
std::int64_t size_of(const Descriptor& file);

// A file in memory that can be handed to another process; what is put there takes the place of all before. Throw
// Error{out_of_memory}.
Descriptor file_in_memory();
void put(const Descriptor& file, std::span<const char> bytes);

}  // namespace echolux
