// An array of Zarr 2 (.zarray) or Zarr 3 (zarr.json): a grid of chunks, each in its own file or in a shard. Missing
// chunks have the fill value.
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

namespace echolux::zarr {

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
