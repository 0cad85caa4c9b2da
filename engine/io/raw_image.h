// Contiguous voxels after a header, raw or deflated: the shared part of NRRD, MetaImage, NIfTI, .npy and raw files. A
// format parses its header into a RawLayout for reading, or passes its header to create_raw_image() for writing.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

#include "engine/io/image_stream.h"

namespace echolux {

// Location and encoding of the voxels.
struct RawLayout {
    ImageHeader header;  // header.type must be voxel_type(stored)
    StoredType stored = StoredType::u8;
    bool swapped = false;                  // not in this machine's byte order
    std::filesystem::path voxels;          // file with the voxels
    std::int64_t begin = 0;                // offset of the first byte of (compressed) voxels
    bool packed = false;                   // as gzip or zlib
    std::int64_t skipped = 0;              // decompressed bytes before the voxels
    std::array<int, 4> order{0, 1, 2, 3};  // from fastest to slowest; 0: columns, 1: rows, 2: slices, 3: time points
};

// Returns the offset of voxels that are the last bytes of the file.
std::int64_t begin_of_last_bytes(const RawLayout& layout);

// Opens the voxels. Axis orders other than the default require the whole file in memory and are refused if memory is
// too small. Throws Error{bad_file, out_of_memory} naming `path`.
std::unique_ptr<ImageReader> open_raw_image(const RawLayout& layout, const std::filesystem::path& path);

enum class Packed { nothing, voxels, all };  // part of the file that is gzip-compressed

// Writes `beginning` at once, and the voxels as they arrive.
std::unique_ptr<ImageWriter> create_raw_image(const std::filesystem::path& path, const std::string& beginning,
                                              Packed packed, const std::string& where);

}  // namespace echolux
