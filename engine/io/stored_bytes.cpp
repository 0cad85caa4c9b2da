#include "engine/io/file_bytes.h"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "compute/error.h"
#include "engine/io/regular_file.h"

namespace echolux {

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
        std::vector<std::byte> ignored(static_cast<std::size_t>(std::clamp<std::int64_t>(place - place_, 0, max)));
        while (place_ < place) {
            const auto piece = std::min<std::int64_t>(place - place_, std::ssize(ignored));
            if (!read(std::span(ignored).first(static_cast<std::size_t>(piece)))) return false;
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

}  // namespace echolux
