// The raw bytes of a scan, in one file or in stripes in several. pread with 64-bit offsets instead of a stream: no
// state between reads, no copy in between.
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

class RawBytes {
  public:
    // Opens all files of the scan's spectra. Throws Error{bad_file} naming the one that is missing or no file.
    explicit RawBytes(const Scan& scan);
    ~RawBytes();
    RawBytes(const RawBytes&) = delete;
    RawBytes& operator=(const RawBytes&) = delete;

    // Now: of stripes, up to the first byte that is missing.
    std::int64_t size() const;

    // For people: the file that the first byte that is missing would be in.
    std::string file_that_ends() const;

    // Throws Error{bad_file} naming the file that ends early or cannot be read.
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

// check_file_size() of all of them. Where they end early, the file is named that does.
void check_size(const Scan& scan, const SpectraLayout& layout, const RawBytes& raw);

// All files of the scan's spectra, in their order.
std::vector<std::filesystem::path> raw_files(const Scan& scan);

// As file_hash(), the same however they lie; "missing" when they cannot be read.
std::string raw_hash(const Scan& scan);

}  // namespace echolux
