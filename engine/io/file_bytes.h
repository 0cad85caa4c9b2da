// Bytes of a file: random access, decompression on the fly, and deflate in memory.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace echolux {

static_assert(std::endian::native == std::endian::little, "numbers are read as most files store them");

// Random access to the bytes of a file, for formats with offsets in their headers. Never reads or allocates beyond the
// end of the file. Caches a window, so that small neighbouring reads cost one system call. Use it from one thread at a
// time.
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

class Inflater;

// Bytes of a file from a given offset, raw or decompressed (deflate in a gzip or zlib frame). Shared by NRRD,
// MetaImage, NIfTI, .npy and MATLAB files. Use it from one thread at a time.
class StoredBytes {
  public:
    // `begin` is an offset in the file. Throws Error{bad_file}.
    StoredBytes(std::filesystem::path path, std::int64_t begin, bool packed);
    ~StoredBytes();
    StoredBytes(const StoredBytes&) = delete;
    StoredBytes& operator=(const StoredBytes&) = delete;

    // Fills `out` with bytes from offset `place`, which counts decompressed bytes from `begin`. Compressed data is
    // fastest in ascending order, since going back decompresses from the start. Throws Error{bad_file} if the data ends
    // too early or is damaged.
    void read(std::int64_t place, std::span<std::byte> out);

    // Verifies the checksum at the end of compressed data. Call it after the last read. Throws Error{bad_file}.
    void check_end();

    std::int64_t file_bytes() const { return file_bytes_; }  // from `begin` to the end of the file, compressed

  private:
    [[noreturn]] void fail();

    std::filesystem::path path_;
    std::int64_t begin_;
    std::int64_t file_bytes_ = 0;
    std::ifstream stream_;
    bool packed_;
    std::unique_ptr<Inflater> inflater_;  // created by the first read of compressed data
};

// Frame of deflate in memory: zlib (TIFF, Zarr) or gzip (Zarr).
enum class DeflateFrame { zlib, gzip };

// Compresses `bytes`. `level` is zlib's: 0 to 9, or -1 for its default. Throws only std::bad_alloc.
std::vector<std::byte> deflated(std::span<const std::byte> bytes, DeflateFrame frame, int level);

// Decompresses data in either frame. Returns std::nullopt if the data is damaged or does not have exactly `size` bytes.
std::optional<std::vector<std::byte>> inflated(std::span<const std::byte> packed, std::size_t size);

}  // namespace echolux
