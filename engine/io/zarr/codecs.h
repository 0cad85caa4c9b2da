// How the bytes of a chunk are packed in Zarr 2 and 3 (zarr-specs.readthedocs.io): a chain of codecs, each undone in
// the reverse order. Known are blosc, zstd, gzip and zlib, crc32c, and the order of bytes.
#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <vector>

#include "engine/io/image_format.h"

namespace echolux::zarr {

struct Codec {
    enum class Kind { blosc, zstd, deflate, crc32c } kind;
    bool is_gzip = false;  // of deflate: the frame
};

struct Codecs {
    std::vector<Codec> chain;  // in the order of packing
    bool swapped = false;      // numbers in the other byte order
};

// Of an array's metadata. Throws Error{bad_file} naming `where`: a codec that is not known.
Codecs codecs_of_zarr2(const nlohmann::json& array, const std::string& where);
Codecs codecs_of_zarr3(const nlohmann::json& array, const std::string& where);

// What the writer chose, for an array's metadata.
Codecs chosen_codecs(Compression compression, int zarr_format);
void describe_zarr2(const Codecs& codecs, nlohmann::json& array);
void describe_zarr3(const Codecs& codecs, std::size_t number_bytes, nlohmann::json& array);

// `number_bytes` is the size of what blosc shuffles.
std::vector<std::byte> packed(const Codecs& codecs, std::span<const std::byte> bytes, std::size_t number_bytes);

// Exactly `size` bytes. Throws Error{bad_file} naming `where`: damaged, a wrong check sum, or another size. Never takes
// more memory than that needs.
std::vector<std::byte> unpacked(const Codecs& codecs, std::span<const std::byte> bytes, std::size_t size,
                                const std::string& where);

}  // namespace echolux::zarr
