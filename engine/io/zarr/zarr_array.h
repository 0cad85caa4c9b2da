// Arrays of Zarr 2 (.zarray) and Zarr 3 (zarr.json; zarr-specs.readthedocs.io): a grid of chunks, each in its own file
// or in a shard. Missing chunks have the fill value. Chunks are encoded by a chain of codecs, which is decoded in
// reverse order: blosc, zstd, gzip, zlib, crc32c and both byte orders.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "engine/interval.h"
#include "engine/io/image_format.h"
#include "engine/io/image_header.h"

namespace echolux::zarr {

// ---- codecs ---------------------------------------------------------------------------------------------------------

struct Codec {
    enum class Kind { blosc, zstd, deflate, crc32c } kind;
    bool is_gzip = false;  // frame of deflate: gzip or zlib
};

// Encoding of the chunks of an array.
struct Codecs {
    std::vector<Codec> chain;  // in the order of encoding
    bool swapped = false;      // not in this machine's byte order
};

// Returns the codecs for writing.
Codecs chosen_codecs(Compression compression, int zarr_format);

// Add the codecs to an array's metadata. `number_bytes` is the size of the numbers that blosc shuffles.
void describe_zarr2(const Codecs& codecs, nlohmann::json& array);
void describe_zarr3(const Codecs& codecs, std::size_t number_bytes, nlohmann::json& array);

// Encodes a chunk. `number_bytes` is the size of the numbers that blosc shuffles.
std::vector<std::byte> packed(const Codecs& codecs, std::span<const std::byte> bytes, std::size_t number_bytes);

// ---- arrays ---------------------------------------------------------------------------------------------------------

// Shards of Zarr 3 (codec sharding_indexed): files with many chunks and an index at their start or end with the offset
// and length of each chunk. Caches the index of the last shard. Use it from one thread at a time.
class Shards {
  public:
    // `settings` are those of the codec, `shard` the size of a shard in voxels. Throws Error{bad_file} naming `where`
    // if chunks do not divide a shard, or if the kind of index is unsupported.
    Shards(const nlohmann::json& settings, const std::vector<std::int64_t>& shard, const std::string& where);

    // Size of a chunk in voxels.
    const std::vector<std::int64_t>& chunk() const { return chunk_; }

    // Returns the index of the shard that contains the chunk at `index`.
    std::vector<std::int64_t> shard_of(const std::vector<std::int64_t>& index) const;

    // Returns the encoded chunk, or std::nullopt if the file or the chunk is missing. Throws Error{bad_file} if the
    // index is damaged, points outside the file, or claims more than `max` bytes.
    std::optional<std::string> read(const std::filesystem::path& file, const std::vector<std::int64_t>& index,
                                    std::uintmax_t max) const;

  private:
    using ShardRange = std::pair<std::uint64_t, std::uint64_t>;  // offset, length

    std::size_t place_in_shard(const std::vector<std::int64_t>& index) const;
    void read_index(const std::filesystem::path& file, std::uintmax_t file_bytes) const;

    std::vector<std::int64_t> chunk_, chunks_;  // voxels per chunk, chunks per shard, for each axis
    std::size_t count_ = 1;                     // chunks per shard
    Codecs index_codecs_;
    bool index_at_start_ = false;
    mutable std::filesystem::path known_;  // file that places_ belongs to
    mutable std::vector<ShardRange> places_;
};

// Reads metadata. Returns std::nullopt if the file does not exist. Throws Error{bad_file} if it is too large or is not
// JSON.
std::optional<nlohmann::json> read_json(const std::filesystem::path& path);

// Use it from one thread at a time.
class ZarrArray {
  public:
    // Opens the array in `folder`, which is part of `store`; links must not lead out of the store. Throws
    // Error{bad_file} naming the folder if it holds no array, or an array with an unsupported type or invalid sizes.
    ZarrArray(std::filesystem::path folder, std::filesystem::path store);

    const std::vector<std::int64_t>& sizes() const { return sizes_; }
    // Size of a chunk in voxels.
    const std::vector<std::int64_t>& chunk() const { return chunk_; }
    StoredType stored() const { return stored_; }

    // Reads a box, given by one interval per axis. Returns voxels without gaps, the last axis fastest, of type stored()
    // in this machine's byte order.
    std::vector<std::byte> read(const std::vector<Interval>& box) const;

  private:
    void read_zarr2(const nlohmann::json& array);
    void read_zarr3(const nlohmann::json& array);
    void check_sizes() const;
    std::filesystem::path place_of(const std::vector<std::int64_t>& index) const;
    void require_in_store(const std::filesystem::path& chunk) const;
    std::optional<std::vector<std::byte>> read_chunk(const std::vector<std::int64_t>& index) const;
    std::size_t chunk_bytes() const;
    [[noreturn]] void refuse(const std::string& what, const std::string& remedy = {}) const;

    std::filesystem::path folder_, store_;
    mutable std::filesystem::path known_folder_;  // last chunk folder that was found to be inside the store
    std::vector<std::int64_t> sizes_, chunk_;
    StoredType stored_ = StoredType::u8;
    Codecs codecs_;
    std::optional<Shards> shards_;
    std::string separator_ = "/";
    std::string key_begins_;           // "c" in Zarr 3
    bool first_axis_fastest_ = false;  // within a chunk
    std::vector<std::byte> fill_;      // of one voxel
};

}  // namespace echolux::zarr
