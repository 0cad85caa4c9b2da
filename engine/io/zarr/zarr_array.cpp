#include "engine/io/zarr/zarr_array.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <iterator>
#include <limits>
#include <nlohmann/json.hpp>
#include <utility>

#include "compute/error.h"
#include "engine/io/file_name.h"
#include "engine/io/json_text.h"
#include "engine/io/zarr/chunk_file.h"

namespace echolux::zarr {
namespace {

using nlohmann::json;
using Bytes = std::vector<std::byte>;

struct TypeName {
    const char* zarr2;  // without the byte-order character
    const char* zarr3;
    StoredType type;
};
constexpr TypeName type_names[] = {
    {"u1", "uint8", StoredType::u8},           {"i1", "int8", StoredType::i8},     {"b1", "bool", StoredType::u8},
    {"u2", "uint16", StoredType::u16},         {"i2", "int16", StoredType::i16},   {"u4", "uint32", StoredType::u32},
    {"i4", "int32", StoredType::i32},          {"u8", "uint64", StoredType::u64},  {"i8", "int64", StoredType::i64},
    {"f2", "float16", StoredType::f16},        {"f4", "float32", StoredType::f32}, {"f8", "float64", StoredType::f64},
    {"c8", "complex64", StoredType::complex64}};

// Returns integers, with 0 for anything else. Floats beyond 2^53 must not be converted.
std::vector<std::int64_t> whole_numbers(const json& list) {
    std::vector<std::int64_t> numbers;
    for (const json& entry : list) {
        constexpr double exact = 0x1p53;
        const bool is_real = entry.is_number_float() && std::abs(entry.get<double>()) <= exact;
        numbers.push_back(is_real || entry.is_number_integer() ? entry.get<std::int64_t>() : 0);
    }
    return numbers;
}

// Returns one voxel of fill values, clamped to the type's range. For f16 and complex voxels it is zero.
Bytes fill_of(const json& array, StoredType type) {
    Bytes voxel(static_cast<std::size_t>(bytes_of(type)));
    const auto found = array.find("fill_value");
    if (found == array.end()) return voxel;
    const double number = found->is_number()      ? found->get<double>()
                          : *found == "NaN"       ? std::nan("")
                          : *found == "Infinity"  ? INFINITY
                          : *found == "-Infinity" ? -INFINITY
                          : *found == true        ? 1
                                                  : 0;
    const auto put = [&](auto zero) {
        using Number = decltype(zero);
        const auto limited = [&] {
            if constexpr (std::is_floating_point_v<Number>) return static_cast<Number>(number);
            constexpr double min = static_cast<double>(std::numeric_limits<Number>::min());
            constexpr double max = static_cast<double>(std::numeric_limits<Number>::max());
            if (std::isnan(number)) return Number{};
            if (number >= max) return std::numeric_limits<Number>::max();
            return static_cast<Number>(std::max(number, min));
        };
        const Number value = limited();
        std::memcpy(voxel.data(), &value, sizeof(value));
    };
    switch (type) {
        case StoredType::u8: put(std::uint8_t{}); break;
        case StoredType::i8: put(std::int8_t{}); break;
        case StoredType::u16: put(std::uint16_t{}); break;
        case StoredType::i16: put(std::int16_t{}); break;
        case StoredType::u32: put(std::uint32_t{}); break;
        case StoredType::i32: put(std::int32_t{}); break;
        case StoredType::u64: put(std::uint64_t{}); break;
        case StoredType::i64: put(std::int64_t{}); break;
        case StoredType::f32: put(float{}); break;
        case StoredType::f64: put(double{}); break;
        case StoredType::f16:
        case StoredType::complex64: break;
    }
    return voxel;
}

// Advances `index` within `ranges`, the last axis fastest. Returns false after the last index.
bool advance(std::vector<std::int64_t>& index, const std::vector<Interval>& ranges) {
    for (std::size_t axis = index.size(); axis-- > 0;) {
        if (++index[axis] < ranges[axis].end) return true;
        index[axis] = ranges[axis].begin;
    }
    return false;
}

// Returns the distance of neighbouring voxels along each axis, in bytes.
std::vector<std::int64_t> strides(const std::vector<std::int64_t>& sizes, std::int64_t voxel, bool first_fastest) {
    std::vector<std::int64_t> steps(sizes.size());
    std::int64_t step = voxel;
    for (std::size_t i = 0; i < sizes.size(); ++i) {
        const std::size_t axis = first_fastest ? i : sizes.size() - 1 - i;
        steps[axis] = step;
        step *= sizes[axis];
    }
    return steps;
}

std::int64_t offset(const std::vector<std::int64_t>& index, const std::vector<std::int64_t>& origin,
                    const std::vector<std::int64_t>& steps) {
    std::int64_t at = 0;
    for (std::size_t i = 0; i < index.size(); ++i) at += (index[i] - origin[i]) * steps[i];
    return at;
}

std::vector<std::int64_t> begins_of(const std::vector<Interval>& ranges) {
    std::vector<std::int64_t> begins;
    for (const Interval& range : ranges) begins.push_back(range.begin);
    return begins;
}

}  // namespace

std::optional<json> read_json(const std::filesystem::path& path) {
    constexpr std::uintmax_t max = 16 << 20;
    const auto text = file_if_there(path, max);
    if (!text) return std::nullopt;
    json parsed = parsed_json(*text, path.string(), "copy the folder again");
    if (!parsed.is_object()) {
        throw Error(ErrorCode::bad_file, "is not a JSON object", path.string(), "copy the folder again");
    }
    return parsed;
}

ZarrArray::ZarrArray(std::filesystem::path folder, std::filesystem::path store)
    : folder_(std::move(folder)), store_(std::move(store)) {
    require_within(store_, folder_);
    for (const char* name : {".zarray", "zarr.json"}) require_within(store_, folder_ / name);
    try {
        if (const auto zarr2 = read_json(folder_ / ".zarray")) {
            read_zarr2(*zarr2);
        } else if (const auto zarr3 = read_json(folder_ / "zarr.json")) {
            read_zarr3(*zarr3);
        } else {
            refuse("holds no array of Zarr 2 or 3");
        }
    } catch (const json::exception&) {
        refuse("describes its array in an unknown way", "copy the folder again");
    }
    check_sizes();
}

void ZarrArray::read_zarr2(const json& array) {
    sizes_ = whole_numbers(array.at("shape"));
    chunk_ = whole_numbers(array.at("chunks"));
    if (!array.at("dtype").is_string()) refuse("has several numbers per voxel");
    const std::string type = array.at("dtype").get<std::string>();
    const auto* entry = std::ranges::find_if(
        type_names, [&](const TypeName& each) { return type.size() == 3 && type.substr(1) == each.zarr2; });
    if (entry == std::end(type_names)) refuse("has voxels of type " + type.substr(0, 40));
    stored_ = entry->type;
    codecs_ = codecs_of_zarr2(array, folder_.string());
    codecs_.swapped = type[0] == '>';
    separator_ = array.value("dimension_separator", ".");
    first_axis_fastest_ = array.value("order", "C") == "F";
    fill_ = fill_of(array, stored_);
}

void ZarrArray::read_zarr3(const json& array) {
    if (array.value("node_type", "") != "array") refuse("holds no array");
    sizes_ = whole_numbers(array.at("shape"));
    const json& grid = array.at("chunk_grid");
    if (grid.at("name") != "regular") refuse("has chunks of different sizes");
    chunk_ = whole_numbers(grid.at("configuration").at("chunk_shape"));
    const std::string type = array.at("data_type").is_string() ? array.at("data_type").get<std::string>() : "?";
    const auto* entry =
        std::ranges::find(type_names, type, [](const TypeName& each) { return std::string(each.zarr3); });
    if (entry == std::end(type_names)) refuse("has voxels of type " + type.substr(0, 40));
    stored_ = entry->type;
    if (const json* sharding = sharding_of(array)) {
        shards_.emplace(*sharding, chunk_, folder_.string());
        chunk_ = shards_->chunk();
        codecs_ = codecs_of_zarr3(*sharding, folder_.string());
    } else {
        codecs_ = codecs_of_zarr3(array, folder_.string());
    }
    const json encoding = array.value("chunk_key_encoding", json{{"name", "default"}});
    const bool as_zarr2 = encoding.at("name") == "v2";
    if (!as_zarr2) key_begins_ = "c";
    separator_ = encoding.value("configuration", json::object()).value("separator", as_zarr2 ? "." : "/");
    fill_ = fill_of(array, stored_);
}

void ZarrArray::check_sizes() const {
    const auto in_range = [](std::int64_t size) { return size >= 1 && size < std::int64_t{1} << 40; };
    constexpr std::size_t max_axes = 8;
    const bool sound = !sizes_.empty() && sizes_.size() <= max_axes && sizes_.size() == chunk_.size() &&
                       std::ranges::all_of(sizes_, in_range) && std::ranges::all_of(chunk_, in_range);
    double bytes = static_cast<double>(bytes_of(stored_));
    for (const std::int64_t size : chunk_) bytes *= static_cast<double>(size);
    constexpr double max_bytes = 2147483647;  // blosc's limit: sizes are int
    if (!sound || bytes > max_bytes) refuse("has impossible sizes of array or chunks", "copy the folder again");
    double chunks = 1;
    for (std::size_t i = 0; i < sizes_.size(); ++i)
        chunks *= std::ceil(static_cast<double>(sizes_[i]) / static_cast<double>(chunk_[i]));
    constexpr double many = 1e6, tiny = 4096;  // opening each file would take hours
    if (chunks > many && bytes < tiny) refuse("has millions of tiny chunks", "write it with larger ones");
    if (separator_ != "/" && separator_ != ".") refuse("separates the numbers of its chunks by \"" + separator_ + "\"");
}

std::size_t ZarrArray::chunk_bytes() const {
    std::int64_t bytes = bytes_of(stored_);
    for (const std::int64_t size : chunk_) bytes *= size;
    return static_cast<std::size_t>(bytes);
}

std::filesystem::path ZarrArray::place_of(const std::vector<std::int64_t>& index) const {
    const std::string numbers = fmt::format("{}", fmt::join(index, separator_));
    return folder_ / (key_begins_.empty() ? numbers : key_begins_ + separator_ + numbers);
}

// Checks that no link leads out of the store. Chunks are in few folders, so only the last folder is remembered.
void ZarrArray::require_in_store(const std::filesystem::path& chunk) const {
    std::error_code problem;
    if (std::filesystem::is_symlink(chunk, problem)) require_within(store_, chunk);
    if (chunk.parent_path() == known_folder_) return;
    require_within(store_, chunk.parent_path());
    known_folder_ = chunk.parent_path();
}

std::optional<std::vector<std::byte>> ZarrArray::read_chunk(const std::vector<std::int64_t>& index) const {
    const std::filesystem::path place = place_of(shards_ ? shards_->shard_of(index) : index);
    require_in_store(place);
    // Zstd on zeros, the best compression, reaches a factor of about 30,000.
    constexpr std::size_t tightest = 40000, overhead = 1 << 16;
    const std::uintmax_t max = chunk_bytes() * 2 + overhead;
    const auto file = shards_ ? shards_->read(place, index, max) : file_if_there(place, max);
    if (!file) return std::nullopt;
    if (file->size() * tightest < chunk_bytes()) {
        throw Error(ErrorCode::bad_file, "ends too early", place.string(), "copy the folder again");
    }
    Bytes chunk = unpacked(codecs_, std::as_bytes(std::span(*file)), chunk_bytes(), place.string());
    if (codecs_.swapped) swap_byte_order(stored_, chunk);
    return chunk;
}

// Reads each chunk that intersects the box and copies the common part, row by row.
std::vector<std::byte> ZarrArray::read(const std::vector<Interval>& box) const {
    const std::int64_t voxel = bytes_of(stored_);
    std::vector<std::int64_t> extent;
    std::vector<Interval> chunks;
    std::size_t bytes = static_cast<std::size_t>(voxel);
    for (std::size_t i = 0; i < box.size(); ++i) {
        extent.push_back(box[i].end - box[i].begin);
        chunks.push_back({box[i].begin / chunk_[i], (box[i].end - 1) / chunk_[i] + 1});
        bytes *= static_cast<std::size_t>(extent.back());
    }
    Bytes out(bytes);
    const auto out_steps = strides(extent, voxel, false), in_steps = strides(chunk_, voxel, first_axis_fastest_);
    const auto box_begin = begins_of(box);
    std::vector<std::int64_t> index = begins_of(chunks);
    do {
        const auto chunk = read_chunk(index);
        std::vector<Interval> part;  // part of the box in this chunk
        std::vector<std::int64_t> chunk_begin;
        for (std::size_t i = 0; i < box.size(); ++i) {
            chunk_begin.push_back(index[i] * chunk_[i]);
            part.push_back({std::max(box[i].begin, chunk_begin[i]), std::min(box[i].end, chunk_begin[i] + chunk_[i])});
        }
        const std::size_t last = box.size() - 1;
        const std::int64_t run = part[last].end - part[last].begin;
        part[last].end = part[last].begin + 1;  // rows along the last axis are copied at once
        std::vector<std::int64_t> at = begins_of(part);
        do {
            std::byte* to = out.data() + offset(at, box_begin, out_steps);
            const std::byte* from = chunk ? chunk->data() + offset(at, chunk_begin, in_steps) : fill_.data();
            const std::int64_t step = chunk ? in_steps[last] : 0;
            if (step == voxel) {
                std::copy_n(from, run * voxel, to);
                continue;
            }
            for (std::int64_t i = 0; i < run; ++i, from += step, to += voxel) std::copy_n(from, voxel, to);
        } while (advance(at, part));
    } while (advance(index, chunks));
    return out;
}

void ZarrArray::refuse(const std::string& what, const std::string& remedy) const {
    throw Error(ErrorCode::bad_file, what, folder_.string(), remedy);
}

}  // namespace echolux::zarr
