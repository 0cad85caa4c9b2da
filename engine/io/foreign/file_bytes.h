// Bytes of a file by their places, for formats whose numbers say where other numbers are: nothing is read, and no
// memory taken, beyond the end of the file. A window of it is kept, so that small neighbours cost one read.
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

class FileBytes {
  public:
    // Throws Error{bad_file}: not there, no file, not readable.
    explicit FileBytes(const std::filesystem::path& path);

    std::int64_t size() const { return size_; }
    const std::string& where() const { return where_; }

    // All throw Error{bad_file} where the file ends before, also for places and counts that are negative.
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
