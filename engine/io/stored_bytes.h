// The bytes of a file from some place on, as they are or unpacked (deflate with a gzip or zlib frame): what NRRD,
// MetaImage, NIfTI and .npy have in common behind their headers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <memory>
#include <span>

namespace echolux {

class Inflater;

class StoredBytes {
  public:
    // `begin` is the first byte in the file. Throws Error{bad_file}.
    StoredBytes(std::filesystem::path path, std::int64_t begin, bool packed);
    ~StoredBytes();
    StoredBytes(const StoredBytes&) = delete;
    StoredBytes& operator=(const StoredBytes&) = delete;

    // Fills `out` with the bytes from `place` on, counted from `begin` and unpacked. What is packed is read soonest in
    // its order: whatever lies before is unpacked too. Throws Error{bad_file}: it ends too early, or is damaged.
    void read(std::int64_t place, std::span<std::byte> out);

    // Of what is packed, the check sum behind the last byte. To be called after the last read. Throws Error{bad_file}.
    void check_end();

    std::int64_t file_bytes() const { return file_bytes_; }  // from `begin` to the end, as they lie in the file

  private:
    [[noreturn]] void fail();

    std::filesystem::path path_;
    std::int64_t begin_;
    std::int64_t file_bytes_ = 0;
    std::ifstream stream_;
    bool packed_;
    std::unique_ptr<Inflater> inflater_;  // of what is packed, once it is read
};

}  // namespace echolux
