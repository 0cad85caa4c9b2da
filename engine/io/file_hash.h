// Short fingerprints of files and pictures, so that a result says what it was made of.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>

namespace echolux {

// 64-bit FNV-1a (G. Fowler, L. C. Noll, K.-P. Vo) of bytes that come piece by piece.
class Fingerprint {
  public:
    void add(std::span<const std::byte> bytes);
    std::string text() const;  // 16 hexadecimal digits

  private:
    std::uint64_t hash_ = 0xcbf29ce484222325u;
};

// Of the file's bytes; of a folder: of the names and sizes of the files below it, which may be very many bytes.
// "missing" when it cannot be read.
std::string file_hash(const std::filesystem::path& path);

}  // namespace echolux
