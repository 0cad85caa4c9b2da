// Compression of chunks in Zarr 2 and 3 (zarr-specs.readthedocs.io): a chain of codecs, decoded in reverse order.
// Supports blosc, zstd, gzip, zlib, crc32c and both byte orders.
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
    bool is_gzip = false;  // frame of deflate: gzip or zlib
};

// Encoding of the chunks of an array.
struct Codecs {
    std::vector<Codec> chain;  // in the order of encoding
    bool swapped = false;      // not in this machine's byte order
};

// Parse the codecs in an array's metadata. Throw Error{bad_file} naming `where` if a codec is unsupported.
Codecs codecs_of_zarr2(const nlohmann::json& array, const std::string& where);
Codecs codecs_of_zarr3(const nlohmann::json& array, const std::string& where);

// Returns the codecs for writing.
Codecs chosen_codecs(Compression compression, int zarr_format);
// Add the codecs to an array's metadata. `number_bytes` is the size of the numbers that blosc shuffles.
void describe_zarr2(const Codecs& codecs, nlohmann::json& array);
void describe_zarr3(const Codecs& codecs, std::size_t number_bytes, nlohmann::json& array);

// Encodes a chunk. `number_bytes` is the size of the numbers that blosc shuffles.
std::vector<std::byte> packed(const Codecs& codecs, std::span<const std::byte> bytes, std::size_t number_bytes);

// Decodes a chunk to exactly `size` bytes and never allocates more memory than that needs. Throws Error{bad_file}
// naming `where` if it is damaged, or has a wrong checksum or another size.
std::vector<std::byte> unpacked(const Codecs& codecs, std::span<const std::byte> bytes, std::size_t size,
                                const std::string& where);

}  // namespace echolux::zarr
