// Voxels that lie in a file one after the other behind a header, as they are or packed by deflate: the common half of
// NRRD, MetaImage, NIfTI, .npy and raw files. A format parses its header into a RawLayout, or puts its header before a
// RawImageWriter.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

#include "engine/io/image_stream.h"

namespace echolux {

struct RawLayout {
    ImageHeader header;  // type: voxel_type(stored)
    StoredType stored = StoredType::u8;
    bool swapped = false;                  // the other byte order
    std::filesystem::path voxels;          // the file
    std::int64_t begin = 0;                // its first byte of voxels
    bool packed = false;                   // gzip or zlib
    std::int64_t skipped = 0;              // unpacked bytes before the voxels
    std::array<int, 4> order{0, 1, 2, 3};  // axes from the fastest on: 0 columns, 1 rows, 2 slices, 3 time points
};

// The first byte of voxels that end with the file.
std::int64_t begin_of_last_bytes(const RawLayout& layout);

// Any order but the usual one has to be read as a whole and is refused where memory is too small. Throws
// Error{bad_file, out_of_memory} naming `path`.
std::unique_ptr<ImageReader> open_raw_image(const RawLayout& layout, const std::filesystem::path& path);

enum class Packed { nothing, voxels, all };  // by gzip

// Writes `beginning` at once, then voxels as they come.
std::unique_ptr<ImageWriter> create_raw_image(const std::filesystem::path& path, const std::string& beginning,
                                              Packed packed, const std::string& where);

}  // namespace echolux
