// Random access to the bytes of a file, for formats with offsets in their headers. Never reads or allocates beyond the
// end of the file. Caches a window, so that small neighbouring reads cost one system call.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <span>
#include <string>
#include <vector>

namespace echolux {

static_assert(std::endian::native == std::endian::little, "numbers are read as they lie in most files");

// Use it from one thread at a time.
class FileBytes {
  public:
    // Throws Error{bad_file} if the file is missing, not regular or not readable.
    explicit FileBytes(const std::filesystem::path& path);

    std::int64_t size() const { return size_; }
    const std::string& where() const { return where_; }

    // Read `count` bytes from offset `place`. Throw Error{bad_file} if they exceed the file or are negative.
    void read(std::int64_t place, std::span<std::byte> out);
    std::vector<std::byte> bytes(std::int64_t place, std::int64_t count);
    std::string text(std::int64_t place, std::int64_t count);

    template <class T>
    T number(std::int64_t place) {
        T value{};
        read(place, std::as_writable_bytes(std::span(&value, 1)));
        return value;
    }

    [[noreturn]] void fail(const std::string& what, const std::string& remedy = {}) const;  // Error{bad_file}

  private:
    void check(std::int64_t place, std::int64_t count) const;
    void read_unbuffered(std::int64_t place, std::span<std::byte> out);

    std::string where_;
    std::ifstream stream_;
    std::int64_t size_ = 0;
    std::int64_t window_place_ = 0;
    std::vector<std::byte> window_;
};

}  // namespace echolux
