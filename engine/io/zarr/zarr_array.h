// One array of Zarr 2 (.zarray) or Zarr 3 (zarr.json): a grid of chunks, each a file of its own or a part of a shard; a
// chunk that is not there is made of the fill value.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "engine/interval.h"
#include "engine/io/image_header.h"
#include "engine/io/zarr/codecs.h"
#include "engine/io/zarr/shards.h"

namespace echolux::zarr {

// A file of metadata. Nothing: there is none. Throws Error{bad_file}: too large, or no JSON.
std::optional<nlohmann::json> read_json(const std::filesystem::path& path);

class ZarrArray {
  public:
    // An array in the store `store`, out of which nothing may lead. Throws Error{bad_file} naming the folder: no array,
    // of a kind that is not known, or sizes that cannot be.
    ZarrArray(std::filesystem::path folder, std::filesystem::path store);

    const std::vector<std::int64_t>& sizes() const { return sizes_; }
    const std::vector<std::int64_t>& chunk() const { return chunk_; }
    StoredType stored() const { return stored_; }

    // A box, one interval an axis, packed, last axis fastest; as the voxels are stored, in this machine's byte order.
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
    mutable std::filesystem::path known_folder_;  // of chunks, that lies in the store
    std::vector<std::int64_t> sizes_, chunk_;
    StoredType stored_ = StoredType::u8;
    Codecs codecs_;
    std::optional<Shards> shards_;
    std::string separator_ = "/";
    std::string key_begins_;           // "c" of Zarr 3
    bool first_axis_fastest_ = false;  // within a chunk
    std::vector<std::byte> fill_;      // one voxel
};

}  // namespace echolux::zarr
