#include "engine/io/zarr/zarr_array.h"

#include <blosc.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <zstd.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <memory>
#include <new>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "compute/error.h"
#include "compute/indexing.h"
#include "engine/io/file_bytes.h"
#include "engine/io/file_name.h"
#include "engine/io/json_text.h"
#include "engine/io/regular_file.h"

namespace echolux::zarr {

// ---- codecs ---------------------------------------------------------------------------------------------------------
// Encoded by c-blosc, zstd and zlib.

namespace {

using nlohmann::json;
using Bytes = std::vector<std::byte>;

// Table for CRC-32C (Castagnoli; RFC 3720, appendix B.4), the checksum of Zarr 3's codec crc32c.
constexpr std::array<std::uint32_t, 256> crc_remainders() {
    constexpr std::uint32_t reversed_polynomial = 0x82f63b78;
    std::array<std::uint32_t, 256> table{};
    for (std::uint32_t byte = 0; byte < 256; ++byte) {
        std::uint32_t rest = byte;
        for (int bit = 0; bit < 8; ++bit) rest = rest >> 1 ^ ((rest & 1) != 0 ? reversed_polynomial : 0);
        table[byte] = rest;
    }
    return table;
}

constexpr std::array<std::uint32_t, 256> crc_table = crc_remainders();

std::uint32_t crc32c(std::span<const std::byte> bytes) {
    std::uint32_t crc = 0xffffffff;
    for (const std::byte byte : bytes) crc = crc >> 8 ^ crc_table[(crc ^ std::to_integer<std::uint32_t>(byte)) & 0xff];
    return ~crc;
}

constexpr int level = 3;  // of zstd, also within blosc: fast, and close to the best ratio for noisy voxels

[[noreturn]] void refuse(const std::string& what, const std::string& where, const std::string& remedy = {}) {
    throw Error(ErrorCode::bad_file, what, where, remedy);
}

Codec codec_named(const std::string& name, const std::string& where) {
    if (name == "blosc") return {Codec::Kind::blosc};
    if (name == "zstd") return {Codec::Kind::zstd};
    if (name == "gzip") return {Codec::Kind::deflate, true};
    if (name == "zlib") return {Codec::Kind::deflate, false};
    if (name == "crc32c") return {Codec::Kind::crc32c};
    if (name == "sharding_indexed") {
        refuse("uses nested or compressed shards", where, "write it with one level of shards");
    }
    refuse("has chunks compressed with \"" + name.substr(0, 40) + "\"", where,
           "blosc, zstd, gzip, zlib and crc32c can be read");
}

std::string text_of(const json& object, const char* key) {
    const auto found = object.find(key);
    return found != object.end() && found->is_string() ? found->get<std::string>() : "";
}

Bytes packed_by_blosc(std::span<const std::byte> bytes, std::size_t number_bytes) {
    Bytes out(bytes.size() + BLOSC_MAX_OVERHEAD);
    const int shuffle = number_bytes > 1 ? BLOSC_SHUFFLE : BLOSC_NOSHUFFLE;
    const int done = blosc_compress_ctx(level, shuffle, number_bytes, bytes.size(), bytes.data(), out.data(),
                                        out.size(), BLOSC_ZSTD_COMPNAME, 0, 1);
    if (done <= 0) throw std::bad_alloc();  // the only possible failure
    out.resize(index(done));
    return out;
}

struct FreeContext {
    void operator()(ZSTD_CCtx* context) const { ZSTD_freeCCtx(context); }
};

Bytes packed_by_zstd(std::span<const std::byte> bytes) {
    const std::unique_ptr<ZSTD_CCtx, FreeContext> context(ZSTD_createCCtx());
    if (!context) throw std::bad_alloc();
    ZSTD_CCtx_setParameter(context.get(), ZSTD_c_compressionLevel, level);
    ZSTD_CCtx_setParameter(context.get(), ZSTD_c_checksumFlag, 1);
    Bytes out(ZSTD_compressBound(bytes.size()));
    const std::size_t done = ZSTD_compress2(context.get(), out.data(), out.size(), bytes.data(), bytes.size());
    if (ZSTD_isError(done) != 0) throw std::bad_alloc();
    out.resize(done);
    return out;
}

Bytes with_crc(std::span<const std::byte> bytes) {
    Bytes out(bytes.begin(), bytes.end());
    const std::uint32_t crc = crc32c(bytes);
    for (int shift = 0; shift < 32; shift += 8) out.push_back(static_cast<std::byte>(crc >> shift & 0xff));
    return out;
}

std::optional<Bytes> unpacked_by_blosc(std::span<const std::byte> bytes, std::size_t size) {
    std::size_t declared_bytes = 0;
    const bool sound = bytes.size() >= BLOSC_MIN_HEADER_LENGTH &&
                       blosc_cbuffer_validate(bytes.data(), bytes.size(), &declared_bytes) == 0 &&
                       declared_bytes == size;
    if (!sound) return std::nullopt;
    Bytes out(size);
    const int done = blosc_decompress_ctx(bytes.data(), out.data(), out.size(), 1);
    return done >= 0 && index(done) == size ? std::optional(std::move(out)) : std::nullopt;
}

std::optional<Bytes> unpacked_by_zstd(std::span<const std::byte> bytes, std::size_t size) {
    Bytes out(size);
    const std::size_t done = ZSTD_decompress(out.data(), out.size(), bytes.data(), bytes.size());
    return ZSTD_isError(done) == 0 && done == size ? std::optional(std::move(out)) : std::nullopt;
}

std::optional<Bytes> without_crc(std::span<const std::byte> bytes) {
    if (bytes.size() < 4) return std::nullopt;
    const auto content = bytes.first(bytes.size() - 4);
    return std::ranges::equal(with_crc(content), bytes) ? std::optional(Bytes(content.begin(), content.end()))
                                                        : std::nullopt;
}

// Returns the size of the data that codec `next` decodes to: `size`, plus the checksums of earlier crc32c codecs.
std::size_t size_before(const Codecs& codecs, std::size_t next, std::size_t size) {
    for (std::size_t i = 0; i < next; ++i) {
        if (codecs.chain[i].kind == Codec::Kind::crc32c) size += 4;
    }
    return size;
}

// Parse the codecs in an array's metadata. Throw Error{bad_file} naming `where` if a codec is unsupported.
Codecs codecs_of_zarr2(const json& array, const std::string& where) {
    Codecs codecs;
    const auto filters = array.find("filters");
    if (filters != array.end() && !filters->is_null() && !filters->empty()) {
        refuse("has chunks with filters", where, "write it without filters");
    }
    const auto compressor = array.find("compressor");
    if (compressor == array.end() || compressor->is_null()) return codecs;
    codecs.chain.push_back(codec_named(text_of(*compressor, "id"), where));
    return codecs;
}

Codecs codecs_of_zarr3(const json& array, const std::string& where) {
    Codecs codecs;
    const auto list = array.find("codecs");
    if (list == array.end() || !list->is_array()) refuse("has no list of codecs", where);
    for (const json& entry : *list) {
        const std::string name = entry.is_string() ? entry.get<std::string>() : text_of(entry, "name");
        if (name == "bytes") {
            const auto settings = entry.find("configuration");
            if (settings != entry.end()) codecs.swapped = text_of(*settings, "endian") == "big";
        } else {
            codecs.chain.push_back(codec_named(name, where));
        }
    }
    const auto packers =
        std::ranges::count_if(codecs.chain, [](const Codec& codec) { return codec.kind != Codec::Kind::crc32c; });
    constexpr std::size_t max = 8;
    if (packers > 1 || codecs.chain.size() > max) refuse("has chunks with two compressors", where);
    return codecs;
}

}  // namespace

Codecs chosen_codecs(Compression compression, int zarr_format) {
    Codecs codecs;
    switch (compression) {
        case Compression::automatic:
        case Compression::zstd: codecs.chain = {{Codec::Kind::zstd}}; break;
        case Compression::blosc: codecs.chain = {{Codec::Kind::blosc}}; break;
        case Compression::gzip: codecs.chain = {{Codec::Kind::deflate, true}}; break;
        case Compression::none: break;
    }
    // zstd and gzip have their own checksum. Zarr 2 has none for the others.
    const bool has_none = compression == Compression::none || compression == Compression::blosc;
    if (has_none && zarr_format == 3) codecs.chain.push_back({Codec::Kind::crc32c});
    return codecs;
}

void describe_zarr2(const Codecs& codecs, json& array) {
    array["filters"] = nullptr;
    array["compressor"] = nullptr;
    if (codecs.chain.empty()) return;
    switch (codecs.chain.front().kind) {
        case Codec::Kind::zstd: array["compressor"] = {{"id", "zstd"}, {"level", level}}; break;
        case Codec::Kind::deflate: array["compressor"] = {{"id", "gzip"}, {"level", 1}}; break;
        default:
            array["compressor"] = {
                {"id", "blosc"}, {"cname", "zstd"}, {"clevel", level}, {"shuffle", 1}, {"blocksize", 0}};
    }
}

void describe_zarr3(const Codecs& codecs, std::size_t number_bytes, json& array) {
    json list = json::array();
    list.push_back({{"name", "bytes"}, {"configuration", {{"endian", "little"}}}});
    for (const Codec& codec : codecs.chain) {
        switch (codec.kind) {
            case Codec::Kind::zstd:
                list.push_back({{"name", "zstd"}, {"configuration", {{"level", level}, {"checksum", true}}}});
                break;
            case Codec::Kind::deflate: list.push_back({{"name", "gzip"}, {"configuration", {{"level", 1}}}}); break;
            case Codec::Kind::crc32c: list.push_back({{"name", "crc32c"}}); break;
            case Codec::Kind::blosc:
                list.push_back({{"name", "blosc"},
                                {"configuration",
                                 {{"cname", "zstd"},
                                  {"clevel", level},
                                  {"shuffle", "shuffle"},
                                  {"typesize", number_bytes},
                                  {"blocksize", 0}}}});
                break;
        }
    }
    array["codecs"] = list;
}

std::vector<std::byte> packed(const Codecs& codecs, std::span<const std::byte> bytes, std::size_t number_bytes) {
    Bytes out;
    std::span<const std::byte> now = bytes;
    for (const Codec& codec : codecs.chain) {
        switch (codec.kind) {
            case Codec::Kind::blosc: out = packed_by_blosc(now, number_bytes); break;
            case Codec::Kind::zstd: out = packed_by_zstd(now); break;
            case Codec::Kind::deflate:
                out = deflated(now, codec.is_gzip ? DeflateFrame::gzip : DeflateFrame::zlib, 1);
                break;
            case Codec::Kind::crc32c: out = with_crc(now); break;
        }
        now = out;
    }
    if (codecs.chain.empty()) out.assign(bytes.begin(), bytes.end());
    return out;
}

namespace {

// Decodes a chunk to exactly `size` bytes and never allocates more memory than that needs. Throws Error{bad_file}
// naming `where` if it is damaged, or has a wrong checksum or another size.
std::vector<std::byte> unpacked(const Codecs& codecs, std::span<const std::byte> bytes, std::size_t size,
                                const std::string& where) {
    std::optional<Bytes> out(Bytes(bytes.begin(), bytes.end()));
    for (std::size_t i = codecs.chain.size(); i-- > 0 && out;) {
        const std::size_t next = size_before(codecs, i, size);
        switch (codecs.chain[i].kind) {
            case Codec::Kind::blosc: out = unpacked_by_blosc(*out, next); break;
            case Codec::Kind::zstd: out = unpacked_by_zstd(*out, next); break;
            case Codec::Kind::deflate: out = inflated(*out, next); break;
            case Codec::Kind::crc32c: out = without_crc(*out); break;
        }
    }
    if (!out || out->size() != size) refuse("is damaged, or has a wrong check sum", where, "copy the folder again");
    return std::move(*out);
}

// ---- files of a store -----------------------------------------------------------------------------------------------
// Read completely or in part. A missing file is not an error: its chunks have the fill value.

// Returns the file size, or std::nullopt if the file does not exist. Throws Error{bad_file}.
std::optional<std::uintmax_t> size_if_there(const std::filesystem::path& file) {
    std::error_code problem;
    const std::uintmax_t size = std::filesystem::file_size(file, problem);
    const bool is_absent = problem == std::errc::no_such_file_or_directory || problem == std::errc::not_a_directory ||
                           problem == std::errc::is_a_directory;
    if (is_absent) return std::nullopt;
    if (problem) throw Error(ErrorCode::bad_file, "cannot be read: " + problem.message(), file.string());
    if (!std::filesystem::is_regular_file(file, problem)) return std::nullopt;
    return size;
}

// Returns `size` bytes from `offset`. Throws Error{bad_file}.
std::string file_part(const std::filesystem::path& file, std::uintmax_t offset, std::uintmax_t size) {
    std::string bytes(size, '\0');
    std::ifstream stream = regular_stream(file);
    stream.seekg(static_cast<std::streamoff>(offset));
    if (!stream.read(bytes.data(), static_cast<std::streamsize>(size))) {
        throw Error(ErrorCode::bad_file, "cannot be read", file.string(), "check its permissions");
    }
    return bytes;
}

// Returns the whole file, or std::nullopt if it does not exist. Throws Error{bad_file} if it exceeds `max` bytes.
std::optional<std::string> file_if_there(const std::filesystem::path& file, std::uintmax_t max) {
    const std::optional<std::uintmax_t> size = size_if_there(file);
    if (!size) return std::nullopt;
    if (*size > max) throw Error(ErrorCode::bad_file, "is implausibly large", file.string());
    return file_part(file, 0, *size);
}

// ---- shards ---------------------------------------------------------------------------------------------------------

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

// Returns the settings of the codec sharding_indexed in an array's metadata, or null if it is not used.
const json* sharding_of(const json& array) {
    const auto codecs = array.find("codecs");
    if (codecs == array.end() || !codecs->is_array() || codecs->size() != 1 || !codecs->front().is_object())
        return nullptr;
    const json& codec = codecs->front();
    if (codec.value("name", "") != "sharding_indexed") return nullptr;
    return &codec.at("configuration");
}

}  // namespace

Shards::Shards(const json& settings, const std::vector<std::int64_t>& shard, const std::string& where)
    : index_codecs_(codecs_of_zarr3(json{{"codecs", settings.at("index_codecs")}}, where)) {
    const auto is_packed = [](const Codec& codec) { return codec.kind != Codec::Kind::crc32c; };
    if (std::ranges::any_of(index_codecs_.chain, is_packed)) refuse_shards("has shards with a compressed index", where);
    const std::string location = settings.value("index_location", "end");
    if (location != "start" && location != "end")
        refuse_shards("has shards with their index at an unsupported position", where);
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
        count_ *= index(chunks_.back());
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

// ---- arrays ---------------------------------------------------------------------------------------------------------

namespace {

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
        const double value = entry.is_number_float() ? entry.get<double>() : 0.5;
        const bool is_whole_real = std::abs(value) <= exact && value == std::floor(value);
        numbers.push_back(is_whole_real || entry.is_number_integer() ? entry.get<std::int64_t>() : 0);
    }
    return numbers;
}

// Returns one voxel of fill values, clamped to the type's range. For f16 and complex voxels it is zero.
Bytes fill_of(const json& array, StoredType type) {
    Bytes voxel(index(bytes_of(type)));
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
        refuse("describes its array in an unsupported way", "copy the folder again");
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
    return index(bytes);
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
    std::size_t bytes = index(voxel);
    for (std::size_t i = 0; i < box.size(); ++i) {
        extent.push_back(box[i].end - box[i].begin);
        chunks.push_back({box[i].begin / chunk_[i], (box[i].end - 1) / chunk_[i] + 1});
        bytes *= index(extent.back());
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
