#include "engine/io/file_bytes.h"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <new>
#include <utility>
#include <vector>

#include "compute/error.h"
#include "compute/indexing.h"
#include "compute/plural.h"
#include "engine/io/regular_file.h"

namespace echolux {

// ---- random access --------------------------------------------------------------------------------------------------

FileBytes::FileBytes(const std::filesystem::path& path) : where_(path.string()) {
    std::error_code problem;
    if (!std::filesystem::is_regular_file(path, problem)) fail("does not exist or is not a file", "check the name");
    size_ = static_cast<std::int64_t>(std::filesystem::file_size(path, problem));
    stream_.open(path, std::ios::binary);
    if (problem || !stream_) fail("cannot be opened", "check its permissions");
}

void FileBytes::fail(const std::string& what, const std::string& remedy) const {
    throw Error(ErrorCode::bad_file, what, where_, remedy);
}

void FileBytes::check(std::int64_t place, std::int64_t count) const {
    if (place >= 0 && count >= 0 && place <= size_ && count <= size_ - place) return;
    fail(fmt::format("ends too early: it refers to byte {} of {}", place, plural(size_, "bytes")),
         "copy the file again");
}

void FileBytes::read_unbuffered(std::int64_t place, std::span<std::byte> out) {
    stream_.clear();
    stream_.seekg(place);
    stream_.read(reinterpret_cast<char*>(out.data()), static_cast<std::streamsize>(out.size()));
    if (!stream_) fail("cannot be read", "copy the file again");
}

// Reads a larger window for small requests, because parsers read many neighbouring numbers.
void FileBytes::read(std::int64_t place, std::span<std::byte> out) {
    constexpr std::int64_t window_bytes = 1 << 14;
    const auto count = std::ssize(out);
    check(place, count);
    if (count > window_bytes / 4) {
        read_unbuffered(place, out);
        return;
    }
    const std::int64_t window_end = window_place_ + std::ssize(window_);
    if (place < window_place_ || place + count > window_end) {
        window_.resize(index(std::min(window_bytes, size_ - place)));
        window_place_ = place;
        read_unbuffered(place, window_);
    }
    std::copy_n(window_.begin() + (place - window_place_), count, out.begin());
}

std::vector<std::byte> FileBytes::bytes(std::int64_t place, std::int64_t count) {
    check(place, count);
    std::vector<std::byte> result(index(count));
    read(place, result);
    return result;
}

std::string FileBytes::text(std::int64_t place, std::int64_t count) {
    check(place, count);
    std::string result(index(count), '\0');
    read(place, std::as_writable_bytes(std::span(result)));
    return result;
}

// ---- decompression --------------------------------------------------------------------------------------------------

// Decompresses a stream sequentially.
class Inflater {
  public:
    explicit Inflater(std::ifstream& in) : in_(in) {
        constexpr int gzip_or_zlib = 15 + 32;
        ready_ = inflateInit2(&stream_, gzip_or_zlib) == Z_OK;
    }
    ~Inflater() { inflateEnd(&stream_); }
    Inflater(const Inflater&) = delete;
    Inflater& operator=(const Inflater&) = delete;

    std::int64_t place() const { return place_; }

    // Returns false if the data is damaged or ends too early.
    bool read(std::span<std::byte> out) {
        while (!out.empty()) {
            const std::size_t piece = std::min<std::size_t>(out.size(), 1 << 30);  // zlib counts bytes in 32 bits
            stream_.next_out = reinterpret_cast<Bytef*>(out.data());
            stream_.avail_out = static_cast<uInt>(piece);
            if (!advance()) return false;
            const std::size_t done = piece - stream_.avail_out;
            place_ += static_cast<std::int64_t>(done);
            out = out.subspan(done);
        }
        return true;
    }

    // Decompresses and discards bytes up to `place`.
    bool skip_to(std::int64_t place) {
        constexpr std::int64_t max = 1 << 18;
        std::vector<std::byte> ignored(index(std::clamp<std::int64_t>(place - place_, 0, max)));
        while (place_ < place) {
            const auto piece = std::min<std::int64_t>(place - place_, std::ssize(ignored));
            if (!read(std::span(ignored).first(index(piece)))) return false;
        }
        return true;
    }

    // Decompresses the rest and returns whether it is undamaged.
    bool ends_well() {
        std::array<std::byte, 4096> rest{};
        while (!ended_) {
            stream_.next_out = reinterpret_cast<Bytef*>(rest.data());
            stream_.avail_out = rest.size();
            if (!advance() && !ended_) return false;
        }
        return true;
    }

  private:
    // Decompresses some bytes. Returns false at the end and after an error.
    bool advance() {
        const uInt before = stream_.avail_out;
        while (ready_ && !ended_ && stream_.avail_out == before) {
            if (stream_.avail_in == 0 && !refill()) return false;
            const int status = inflate(&stream_, Z_NO_FLUSH);
            if (status == Z_STREAM_END) {
                ended_ = !next_member();
            } else if (status != Z_OK) {
                return false;
            }
        }
        return stream_.avail_out < before;
    }

    bool refill() {
        in_.read(reinterpret_cast<char*>(packed_.data()), static_cast<std::streamsize>(packed_.size()));
        stream_.next_in = packed_.data();
        stream_.avail_in = static_cast<uInt>(in_.gcount());
        return stream_.avail_in > 0;
    }

    // gzip files may consist of several members. Other data after the end is padding.
    bool next_member() {
        if (stream_.avail_in == 0 && !refill()) return false;
        constexpr Bytef gzip_begins_with = 0x1f;
        return *stream_.next_in == gzip_begins_with && inflateReset(&stream_) == Z_OK;
    }

    std::ifstream& in_;
    z_stream stream_{};
    std::array<Bytef, 1 << 16> packed_{};
    std::int64_t place_ = 0;
    bool ready_ = false;
    bool ended_ = false;
};

StoredBytes::StoredBytes(std::filesystem::path path, std::int64_t begin, bool packed)
    : path_(std::move(path)), begin_(begin), stream_(regular_stream(path_)), packed_(packed) {
    std::error_code problem;
    const auto size = static_cast<std::int64_t>(std::filesystem::file_size(path_, problem));
    if (!stream_ || problem) {
        throw Error(ErrorCode::bad_file, "cannot be opened", path_.string(), "check its name and permissions");
    }
    file_bytes_ = std::max<std::int64_t>(0, size - begin);
}

StoredBytes::~StoredBytes() = default;

void StoredBytes::read(std::int64_t place, std::span<std::byte> out) {
    if (packed_) {
        if (!inflater_ || inflater_->place() > place) {
            stream_.clear();
            stream_.seekg(begin_);
            inflater_ = std::make_unique<Inflater>(stream_);
        }
        if (!inflater_->skip_to(place) || !inflater_->read(out)) fail();
        return;
    }
    stream_.clear();
    stream_.seekg(begin_ + place);
    if (!stream_.read(reinterpret_cast<char*>(out.data()), static_cast<std::streamsize>(out.size()))) fail();
}

void StoredBytes::check_end() {
    if (inflater_ && !inflater_->ends_well()) fail();
}

void StoredBytes::fail() {
    inflater_.reset();  // a damaged stream cannot be continued
    throw Error(ErrorCode::bad_file, "ends within its voxels, or is damaged", path_.string(), "copy the file again");
}

// ---- deflate in memory ----------------------------------------------------------------------------------------------

namespace {

constexpr std::size_t max_at_a_time = 1 << 30;  // zlib counts bytes in 32 bits

// Calls `step` (deflate or inflate) until it returns Z_STREAM_END (true), fails or makes no progress (false). The spans
// may be larger than 4 GiB.
template <class Step>
bool run(z_stream& stream, std::span<const std::byte> in, std::span<std::byte> out, const Step& step) {
    std::size_t read = 0, written = 0;
    for (;;) {
        const std::size_t chunk = std::min(in.size() - read, max_at_a_time);
        const std::size_t take = std::min(out.size() - written, max_at_a_time);
        stream.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(in.data() + read));
        stream.avail_in = static_cast<uInt>(chunk);
        stream.next_out = reinterpret_cast<Bytef*>(out.data() + written);
        stream.avail_out = static_cast<uInt>(take);
        const int status = step(stream, read + chunk == in.size());
        read += chunk - stream.avail_in;
        written += take - stream.avail_out;
        if (status == Z_STREAM_END) return true;
        if (status != Z_OK || (stream.avail_in == chunk && stream.avail_out == take)) return false;
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
