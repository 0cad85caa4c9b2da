#include "engine/io/zarr/zarr_array.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <nlohmann/json.hpp>
#include <span>

#include "compute/error.h"
#include "engine/io/zarr/chunk_file.h"

namespace echolux::zarr {
namespace {

using nlohmann::json;

constexpr std::size_t entry_bytes = 16, crc_bytes = 4;
constexpr std::size_t max_chunks = std::size_t{1} << 22;                     // per shard: an index of 64 MiB
constexpr std::uint64_t absent = std::numeric_limits<std::uint64_t>::max();  // marks a missing chunk

[[noreturn]] void refuse_shards(const std::string& what, const std::string& where) {
    throw Error(ErrorCode::bad_file, what, where, "copy the folder again");
}

std::uint64_t number_at(const std::byte* bytes, bool is_big) {
    std::uint64_t number = 0;
    for (std::size_t i = 0; i < 8; ++i) {
        number = number << 8 | std::to_integer<std::uint64_t>(bytes[is_big ? i : 7 - i]);
    }
    return number;
}

}  // namespace

const json* sharding_of(const json& array) {
    const auto codecs = array.find("codecs");
    if (codecs == array.end() || !codecs->is_array() || codecs->size() != 1 || !codecs->front().is_object())
        return nullptr;
    const json& codec = codecs->front();
    if (codec.value("name", "") != "sharding_indexed") return nullptr;
    return &codec.at("configuration");
}

Shards::Shards(const json& settings, const std::vector<std::int64_t>& shard, const std::string& where)
    : index_codecs_(codecs_of_zarr3(json{{"codecs", settings.at("index_codecs")}}, where)) {
    const auto is_packed = [](const Codec& codec) { return codec.kind != Codec::Kind::crc32c; };
    if (std::ranges::any_of(index_codecs_.chain, is_packed)) refuse_shards("has shards with a compressed index", where);
    const std::string location = settings.value("index_location", "end");
    if (location != "start" && location != "end")
        refuse_shards("has shards with their index in an unknown place", where);
    index_at_start_ = location == "start";
    for (const json& size : settings.at("chunk_shape")) {
        chunk_.push_back(size.is_number_integer() ? size.get<std::int64_t>() : 0);
    }
    bool fits = chunk_.size() == shard.size();
    for (std::size_t i = 0; fits && i < shard.size(); ++i) {
        fits = chunk_[i] > 0 && shard[i] > 0 && shard[i] % chunk_[i] == 0;
        if (!fits) break;
        chunks_.push_back(shard[i] / chunk_[i]);
        fits = static_cast<std::uint64_t>(chunks_.back()) <= max_chunks / count_;
        count_ *= static_cast<std::size_t>(chunks_.back());
    }
    if (!fits) refuse_shards("has chunks that do not divide its shards", where);
}

std::vector<std::int64_t> Shards::shard_of(const std::vector<std::int64_t>& index) const {
    std::vector<std::int64_t> shard;
    for (std::size_t i = 0; i < index.size(); ++i) shard.push_back(index[i] / chunks_[i]);
    return shard;
}

std::size_t Shards::place_in_shard(const std::vector<std::int64_t>& index) const {
    std::int64_t place = 0;
    for (std::size_t i = 0; i < index.size(); ++i) place = place * chunks_[i] + index[i] % chunks_[i];
    return static_cast<std::size_t>(place);
}

// Reads offset and length of each chunk, unless the file's index is cached.
void Shards::read_index(const std::filesystem::path& file, std::uintmax_t file_bytes) const {
    if (known_ == file) return;
    const std::size_t size = count_ * entry_bytes, stored = size + crc_bytes * index_codecs_.chain.size();
    if (file_bytes < stored) refuse_shards("ends too early", file.string());
    const std::string packed = file_part(file, index_at_start_ ? 0 : file_bytes - stored, stored);
    const auto bytes = unpacked(index_codecs_, std::as_bytes(std::span(packed)), size, file.string());
    places_.clear();
    for (std::size_t i = 0; i < count_; ++i) {
        const std::byte* entry = bytes.data() + i * entry_bytes;
        places_.emplace_back(number_at(entry, index_codecs_.swapped), number_at(entry + 8, index_codecs_.swapped));
    }
    known_ = file;
}

std::optional<std::string> Shards::read(const std::filesystem::path& file, const std::vector<std::int64_t>& index,
                                        std::uintmax_t max) const {
    const std::optional<std::uintmax_t> size = size_if_there(file);
    if (!size) return std::nullopt;
    read_index(file, *size);
    const auto [offset, length] = places_[place_in_shard(index)];
    if (offset == absent && length == absent) return std::nullopt;
    if (offset > *size || length > *size - offset || length > max) {
        refuse_shards("has an index that points outside of its chunks", file.string());
    }
    return file_part(file, offset, length);
}

}  // namespace echolux::zarr
