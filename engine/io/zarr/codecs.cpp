// Codecs through c-blosc, zstd and zlib.
#include "engine/io/zarr/zarr_array.h"

#include <blosc.h>
#include <zstd.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <new>
#include <nlohmann/json.hpp>
#include <optional>

#include "compute/error.h"
#include "engine/io/file_bytes.h"

namespace echolux::zarr {
namespace {

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

using nlohmann::json;
using Bytes = std::vector<std::byte>;

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

// ---- packing --------------------------------------------------------------------------------------------------------

Bytes packed_by_blosc(std::span<const std::byte> bytes, std::size_t number_bytes) {
    Bytes out(bytes.size() + BLOSC_MAX_OVERHEAD);
    const int shuffle = number_bytes > 1 ? BLOSC_SHUFFLE : BLOSC_NOSHUFFLE;
    const int done = blosc_compress_ctx(level, shuffle, number_bytes, bytes.size(), bytes.data(), out.data(),
                                        out.size(), BLOSC_ZSTD_COMPNAME, 0, 1);
    if (done <= 0) throw std::bad_alloc();  // the only possible failure
    out.resize(static_cast<std::size_t>(done));
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

// ---- unpacking ------------------------------------------------------------------------------------------------------

std::optional<Bytes> unpacked_by_blosc(std::span<const std::byte> bytes, std::size_t size) {
    std::size_t says = 0;
    const bool sound = bytes.size() >= BLOSC_MIN_HEADER_LENGTH &&
                       blosc_cbuffer_validate(bytes.data(), bytes.size(), &says) == 0 && says == size;
    if (!sound) return std::nullopt;
    Bytes out(size);
    const int done = blosc_decompress_ctx(bytes.data(), out.data(), out.size(), 1);
    return done >= 0 && static_cast<std::size_t>(done) == size ? std::optional(std::move(out)) : std::nullopt;
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

}  // namespace

// ---- metadata -------------------------------------------------------------------------------------------------------

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
    if (packers > 1 || codecs.chain.size() > max) refuse("has chunks that are compressed twice", where);
    return codecs;
}

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

}  // namespace echolux::zarr
