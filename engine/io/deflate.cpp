#include "engine/io/file_bytes.h"

#include <zlib.h>

#include <algorithm>
#include <new>

namespace echolux {
namespace {

constexpr std::size_t max_at_a_time = 1 << 30;  // zlib counts bytes in 32 bits

// Calls `step` (deflate or inflate) until it returns Z_STREAM_END (true), fails or makes no progress (false). The spans
// may be larger than 4 GiB.
template <class Step>
bool run(z_stream& stream, std::span<const std::byte> in, std::span<std::byte> out, const Step& step) {
    std::size_t read = 0, written = 0;
    for (;;) {
        const std::size_t give = std::min(in.size() - read, max_at_a_time);
        const std::size_t take = std::min(out.size() - written, max_at_a_time);
        stream.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(in.data() + read));
        stream.avail_in = static_cast<uInt>(give);
        stream.next_out = reinterpret_cast<Bytef*>(out.data() + written);
        stream.avail_out = static_cast<uInt>(take);
        const int status = step(stream, read + give == in.size());
        read += give - stream.avail_in;
        written += take - stream.avail_out;
        if (status == Z_STREAM_END) return true;
        if (status != Z_OK || (stream.avail_in == give && stream.avail_out == take)) return false;
    }
}

// Values that zlib adds to the window bits: write a gzip frame; detect either frame.
constexpr int gzip = 16, either = 32;

}  // namespace

std::vector<std::byte> deflated(std::span<const std::byte> bytes, DeflateFrame frame, int level) {
    z_stream stream{};
    const int window = 15 + (frame == DeflateFrame::gzip ? gzip : 0);
    if (deflateInit2(&stream, level, Z_DEFLATED, window, 8, Z_DEFAULT_STRATEGY) != Z_OK) throw std::bad_alloc();
    std::vector<std::byte> packed(deflateBound(&stream, bytes.size()));
    run(stream, bytes, packed, [](z_stream& s, bool last) { return deflate(&s, last ? Z_FINISH : Z_NO_FLUSH); });
    packed.resize(stream.total_out);
    deflateEnd(&stream);
    return packed;
}

std::optional<std::vector<std::byte>> inflated(std::span<const std::byte> packed, std::size_t size) {
    z_stream stream{};
    if (inflateInit2(&stream, 15 + either) != Z_OK) throw std::bad_alloc();
    std::vector<std::byte> bytes(size + 1);  // one extra byte detects data beyond `size`
    const bool ended = run(stream, packed, bytes, [](z_stream& s, bool) { return inflate(&s, Z_NO_FLUSH); });
    const bool whole = ended && stream.total_out == size;
    inflateEnd(&stream);
    if (!whole) return std::nullopt;
    bytes.resize(size);
    return bytes;
}

}  // namespace echolux
