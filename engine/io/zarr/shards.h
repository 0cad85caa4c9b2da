// Shards of Zarr 3 (codec sharding_indexed): files with many chunks and an index at their start or end with the offset
// and length of each chunk (zarr-specs.readthedocs.io).
#pragma once

#include <cstdint>
#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/io/zarr/codecs.h"

namespace echolux::zarr {

// Returns the settings of the codec sharding_indexed in an array's metadata, or null if it is not used.
const nlohmann::json* sharding_of(const nlohmann::json& array);

// Caches the index of the last shard. Use it from one thread at a time.
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
    using Place = std::pair<std::uint64_t, std::uint64_t>;  // offset, length

    std::size_t place_in_shard(const std::vector<std::int64_t>& index) const;
    void read_index(const std::filesystem::path& file, std::uintmax_t file_bytes) const;

    std::vector<std::int64_t> chunk_, chunks_;  // voxels per chunk, chunks per shard, for each axis
    std::size_t count_ = 1;                     // chunks per shard
    Codecs index_codecs_;
    bool index_at_start_ = false;
    mutable std::filesystem::path known_;  // file that places_ belongs to
    mutable std::vector<Place> places_;
};

}  // namespace echolux::zarr
