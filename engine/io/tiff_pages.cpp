// TIFF 6.0, section 2, and BigTIFF: a chain of directories, each with entries whose values may lie elsewhere.
#include "engine/io/tiff_pages.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <fstream>
#include <map>
#include <string>

#include "compute/error.h"

namespace echolux {
namespace {

class TiffFile {
  public:
    explicit TiffFile(const std::filesystem::path& path)
        : stream_(path, std::ios::binary), size_(std::filesystem::file_size(path)), where_(path.string()) {
        const std::string order = text(0, 2);
        big_endian_ = order == "MM";
        const std::uint64_t version = big_endian_ || order == "II" ? number(2, 2) : 0;
        if (version != 42 && version != 43) throw Error(ErrorCode::bad_file, "is no TIFF file", where_);
        big_ = version == 43;
    }

    void check_pages() {
        std::uint64_t directory = number(big_ ? 8 : 4, pointer_bytes());
        for (; directory != 0; ++page_) {
            constexpr std::uint64_t most_pages = 1 << 24;
            if (page_ > most_pages) throw Error(ErrorCode::bad_file, "has pages without end", where_);
            directory = next_after(directory);
        }
    }

  private:
    using Shape = std::map<std::uint64_t, std::uint64_t>;  // values of the tags that make pages alike
    static constexpr std::uint64_t subfile_type = 254;     // 1: thumbnail, 4: mask
    static constexpr std::uint64_t bits_per_sample = 258;
    static constexpr std::uint64_t date_time = 306;

    std::uint64_t pointer_bytes() const { return big_ ? 8 : 4; }

    std::uint64_t next_after(std::uint64_t directory) {
        const std::uint64_t count_bytes = big_ ? 8 : 2;
        const std::uint64_t entry_bytes = big_ ? 20 : 12;
        const std::uint64_t count = number(directory, count_bytes);
        constexpr std::uint64_t most_entries = 65535;
        if (count > most_entries) throw Error(ErrorCode::bad_file, "has damaged directories", where_);
        const std::uint64_t entries = directory + count_bytes;
        Shape shape;
        for (std::uint64_t i = 0; i < count; ++i) add_entry(entries + i * entry_bytes, shape);
        check_shape(shape);
        return number(entries + count * entry_bytes, pointer_bytes());
    }

    void add_entry(std::uint64_t entry, Shape& shape) {
        constexpr std::array<std::uint64_t, 8> shaping{subfile_type, 256, bits_per_sample, 257, 277, 284, 322, 339};
        constexpr std::array<std::uint64_t, 19> type_bytes{0, 1, 1, 2, 4, 8, 1, 1, 2, 4, 8, 4, 8, 4, 0, 0, 8, 8, 8};
        const std::uint64_t type = number(entry + 2, 2);
        const std::uint64_t count = number(entry + 4, pointer_bytes());
        const std::uint64_t each = type < type_bytes.size() ? type_bytes[type] : 0;
        const std::uint64_t tag = number(entry, 2);
        if (tag == date_time && (type != 2 || count != 20)) {  // ITK reads 20 characters whatever the file says
            throw Error(ErrorCode::bad_file, "has a damaged date", where_, "save it again with another program");
        }
        const bool inside = each > 0 && count <= pointer_bytes() / each;
        if (std::ranges::count(shaping, tag) > 0) shape[tag] = inside ? number(entry + 4 + pointer_bytes(), each) : 0;
        if (inside || each == 0) return;
        const std::uint64_t place = number(entry + 4 + pointer_bytes(), pointer_bytes());
        if (place > size_ || count > (size_ - place) / each) fail();
    }

    void check_shape(const Shape& shape) {
        if (page_ == 0) first_ = shape;
        if (shape != first_) {
            throw Error(ErrorCode::bad_file, fmt::format("page {} differs from page 0 in size or voxel type", page_),
                        where_, "slices of one volume must be alike");
        }
        const auto value = [&](std::uint64_t tag, std::uint64_t otherwise) {
            const auto found = shape.find(tag);
            return found == shape.end() ? otherwise : found->second;
        };
        const std::uint64_t bits = value(bits_per_sample, 1);
        const std::uint64_t subfile = value(subfile_type, 0);
        if ((bits == 8 || bits == 16 || bits == 32) && (subfile == 0 || subfile == 2)) return;
        throw Error(ErrorCode::bad_file, "has no gray voxels of 8, 16 or 32 bits", where_, "convert it first");
    }

    std::uint64_t number(std::uint64_t place, std::uint64_t bytes) {
        const std::string raw = text(place, bytes);
        std::uint64_t value = 0;
        for (std::size_t i = 0; i < raw.size(); ++i) {
            const auto byte = static_cast<unsigned char>(raw[big_endian_ ? i : raw.size() - 1 - i]);
            value = value << 8 | byte;
        }
        return value;
    }

    std::string text(std::uint64_t place, std::uint64_t bytes) {
        if (place > size_ || bytes > size_ - place) fail();
        std::string raw(bytes, '\0');
        stream_.seekg(static_cast<std::streamoff>(place));
        if (!stream_.read(raw.data(), static_cast<std::streamsize>(bytes))) fail();
        return raw;
    }

    [[noreturn]] void fail() const {
        throw Error(ErrorCode::bad_file, fmt::format("ends too early: page {} (counted from 0) is incomplete", page_),
                    where_, "copy the file again");
    }

    std::ifstream stream_;
    std::uint64_t size_;
    std::string where_;
    std::uint64_t page_ = 0;
    Shape first_;  // of page 0
    bool big_endian_ = false;
    bool big_ = false;
};

}  // namespace

void check_tiff_pages(const std::filesystem::path& path) {
    TiffFile(path).check_pages();
}

}  // namespace echolux
