// The raw bytes of a scan, in one file or striped over several. Uses pread with 64-bit offsets instead of a stream, so
// that reads share no state and need no extra copy.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "engine/scan/scan.h"
#include "engine/scan/striping.h"

namespace echolux {

// Reads are thread-safe.
class RawBytes {
  public:
    // Opens all files of the spectra. Throws Error{bad_file} naming a missing or irregular file.
    explicit RawBytes(const Scan& scan);
    ~RawBytes();
    RawBytes(const RawBytes&) = delete;
    RawBytes& operator=(const RawBytes&) = delete;

    // Returns the current size in bytes; for stripes, up to the first missing byte.
    std::int64_t size() const;

    // Returns the name of the file that would contain the first missing byte, for messages.
    std::string file_that_ends() const;

    // Fills `out` from byte `place`. Throws Error{bad_file} naming a file that ends early or cannot be read.
    void read(std::int64_t place, std::span<std::byte> out) const;

  private:
    struct File {
        std::string path;
        int descriptor = -1;
    };

    void open_all(const std::vector<std::filesystem::path>& paths);
    void close_all();
    std::int64_t end_with(std::size_t part) const;
    static void read_from(const File& file, std::int64_t place, std::span<std::byte> out);

    Striping striping_;
    std::vector<File> files_;
};

// As check_file_size(). If the spectra end early, the error names the file that is too short.
void check_size(const Scan& scan, const SpectraLayout& layout, const RawBytes& raw);

// Returns all files of the spectra in order.
std::vector<std::filesystem::path> raw_files(const Scan& scan);

// As file_hash(), independent of striping. Returns "missing" if the files cannot be read.
std::string raw_hash(const Scan& scan);

}  // namespace echolux
