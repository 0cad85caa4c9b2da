// Shards of Zarr 3 (codec sharding_indexed): files of many chunks, found through an index at their start or end that
// holds offset and length of each (zarr-specs.readthedocs.io).
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

// The settings of the codec sharding_indexed where an array's metadata has it; null: it has none.
const nlohmann::json* sharding_of(const nlohmann::json& array);

class Shards {
  public:
    // `settings` of the codec, `shard` the sizes of a shard. Throws Error{bad_file} naming `where`: chunks that do not
    // divide a shard, or a kind of index that is not known.
    Shards(const nlohmann::json& settings, const std::vector<std::int64_t>& shard, const std::string& where);

    const std::vector<std::int64_t>& chunk() const { return chunk_; }

    // Of the chunk at `index`, in chunks of the array.
    std::vector<std::int64_t> shard_of(const std::vector<std::int64_t>& index) const;

    // Its bytes as they are packed; nothing: neither file nor chunk is there. Throws Error{bad_file}: the index is
    // damaged, or names what lies outside of the file or is longer than `max`.
    std::optional<std::string> read(const std::filesystem::path& file, const std::vector<std::int64_t>& index,
                                    std::uintmax_t max) const;

  private:
    using Place = std::pair<std::uint64_t, std::uint64_t>;  // offset, length

    std::size_t place_in_shard(const std::vector<std::int64_t>& index) const;
    void read_index(const std::filesystem::path& file, std::uintmax_t file_bytes) const;

    std::vector<std::int64_t> chunk_, chunks_;  // voxels of a chunk, chunks of a shard
    std::size_t count_ = 1;                     // chunks of a shard
    Codecs index_codecs_;
    bool index_at_start_ = false;
    mutable std::filesystem::path known_;  // whose index this is
    mutable std::vector<Place> places_;
};

}  // namespace echolux::zarr
