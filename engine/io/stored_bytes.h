// Bytes of a file from a given offset, raw or decompressed (deflate in a gzip or zlib frame). Shared by NRRD,
// MetaImage, NIfTI and .npy.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <memory>
#include <span>

namespace echolux {

class Inflater;

// Use it from one thread at a time.
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

}  // namespace echolux
