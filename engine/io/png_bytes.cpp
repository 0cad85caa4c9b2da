#include "engine/io/png_file.h"

#include <zlib.h>

#include <algorithm>
#include <array>

#include "compute/error.h"
#include "compute/parallel_for.h"

namespace echolux {
namespace {

using Bytes = std::vector<std::byte>;

// Appends a big-endian number.
void put_number(Bytes& to, std::uint32_t number) {
    for (const int shift : {24, 16, 8, 0}) to.push_back(static_cast<std::byte>(number >> shift & 0xFF));
}

void put_chunk(Bytes& to, const char* type, std::span<const std::byte> content) {
    put_number(to, static_cast<std::uint32_t>(content.size()));
    const std::size_t begin = to.size();
    for (int i = 0; i < 4; ++i) to.push_back(static_cast<std::byte>(type[i]));
    to.insert(to.end(), content.begin(), content.end());
    const auto* checked = reinterpret_cast<const Bytef*>(to.data() + begin);
    put_number(to, static_cast<std::uint32_t>(crc32(0, checked, static_cast<uInt>(to.size() - begin))));
}

// Subtracts the pixel above from each byte (PNG filter 2), which turns most of a rendered picture into zeros.
void filter_row(const std::uint8_t* row, const std::uint8_t* above, std::int64_t width, int channels,
                std::uint8_t* to) {
    *to++ = 2;
    for (std::int64_t x = 0; x < width; ++x, row += 4, to += channels) {
        for (int i = 0; i < channels; ++i)
            to[i] = static_cast<std::uint8_t>(row[i] - (above != nullptr ? above[i] : 0));
        if (above != nullptr) above += 4;
    }
}

// Strips are compressed in parallel, each as a separate part of one deflate stream: a full flush ends a part at a byte
// boundary (RFC 1951). The checksums of the strips are combined for the zlib frame.
struct Strip {
    std::vector<std::uint8_t> filtered;
    Bytes packed;
    uLong sum = 1;
    bool is_packed = false;
};

bool pack(Strip& strip, int level, bool is_last) {
    z_stream stream{};
    if (deflateInit2(&stream, level, Z_DEFLATED, -15, 8, Z_DEFAULT_STRATEGY) != Z_OK) return false;
    strip.packed.resize(deflateBound(&stream, static_cast<uLong>(strip.filtered.size())) + 16);
    stream.next_in = strip.filtered.data();
    stream.avail_in = static_cast<uInt>(strip.filtered.size());
    stream.next_out = reinterpret_cast<Bytef*>(strip.packed.data());
    stream.avail_out = static_cast<uInt>(strip.packed.size());
    const int result = deflate(&stream, is_last ? Z_FINISH : Z_FULL_FLUSH);
    strip.packed.resize(stream.total_out);
    deflateEnd(&stream);
    strip.sum = adler32(1, strip.filtered.data(), static_cast<uInt>(strip.filtered.size()));
    return result == (is_last ? Z_STREAM_END : Z_OK) && stream.avail_in == 0;
}

}  // namespace

std::vector<std::byte> png_bytes(std::span<const std::uint8_t> rgba, std::int64_t width, std::int64_t height,
                                 Alpha alpha, int level) {
    if (width < 1 || height < 1 || std::ssize(rgba) != 4 * width * height)
        throw Error(ErrorCode::bad_setting, "the pixels do not fit the size of the picture", "PNG");
    constexpr std::int64_t rows = 64;  // of a strip
    const int channels = alpha == Alpha::kept ? 4 : 3;
    const std::int64_t row_bytes = channels * width + 1;
    std::vector<Strip> strips(static_cast<std::size_t>((height + rows - 1) / rows));
    parallel_for(0, std::ssize(strips), [&](std::int64_t i) {
        Strip& strip = strips[static_cast<std::size_t>(i)];
        const std::int64_t first = i * rows, end = std::min(height, first + rows);
        strip.filtered.resize(static_cast<std::size_t>((end - first) * row_bytes));
        for (std::int64_t y = first; y < end; ++y) {
            const std::uint8_t* row = rgba.data() + 4 * width * y;
            filter_row(row, y > 0 ? row - 4 * width : nullptr, width, channels,
                       strip.filtered.data() + (y - first) * row_bytes);
        }
        strip.is_packed = pack(strip, level, end == height);
    });
    // zlib header: window of 32 KiB, fastest compression.
    Bytes body{std::byte{0x78}, std::byte{0x01}};
    uLong sum = 1;
    for (const Strip& strip : strips) {
        if (!strip.is_packed) throw Error(ErrorCode::out_of_memory, "no memory to pack the picture", "PNG");
        body.insert(body.end(), strip.packed.begin(), strip.packed.end());
        sum = adler32_combine(sum, strip.sum, static_cast<z_off_t>(strip.filtered.size()));
    }
    put_number(body, static_cast<std::uint32_t>(sum));

    constexpr std::array<unsigned char, 8> signature{0x89, 'P', 'N', 'G', '\r', '\n', 0x1A, '\n'};
    Bytes png;
    png.reserve(body.size() + 64);
    for (const unsigned char byte : signature) png.push_back(std::byte{byte});
    Bytes header;
    put_number(header, static_cast<std::uint32_t>(width));
    put_number(header, static_cast<std::uint32_t>(height));
    const int colours = alpha == Alpha::kept ? 6 : 2;  // colour type: RGBA, RGB
    for (const int byte : {8, colours, 0, 0, 0}) header.push_back(static_cast<std::byte>(byte));
    put_chunk(png, "IHDR", header);
    put_chunk(png, "IDAT", body);
    put_chunk(png, "IEND", {});
    return png;
}

}  // namespace echolux
