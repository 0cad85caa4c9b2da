// Short fingerprints of files and pictures, recorded in results to identify their inputs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>

namespace echolux {

// Incremental 64-bit FNV-1a hash (G. Fowler, L. C. Noll, K.-P. Vo).
class Fingerprint {
  public:
    void add(std::span<const std::byte> bytes);
    std::string text() const;  // 16 hexadecimal digits

  private:
    std::uint64_t hash_ = 0xcbf29ce484222325u;
};

// Returns the fingerprint of a file's bytes. For a folder it covers only names and sizes of the files in it, because
// their contents may be too large to read. Returns "missing" if the path cannot be read.
std::string file_hash(const std::filesystem::path& path);

}  // namespace echolux
