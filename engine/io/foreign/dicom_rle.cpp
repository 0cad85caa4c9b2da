// Run lengths (PS3.5, annex G): a frame is an item with up to 15 segments, one for each byte of a voxel from the
// highest on, packed like Macintosh PackBits. Unpacked by hand: GDCM divides by what a frame claims.
#include <algorithm>

#include "engine/io/foreign/dicom_items.h"
#include "engine/io/foreign/file_bytes.h"

namespace echolux {
namespace {

class RunLengths {
  public:
    explicit RunLengths(const DicomHeader& header)
        : file_(header.path), voxel_bytes_(bytes_of(header.stored)), voxels_(header.columns * header.rows) {}

    // One frame, lowest bytes first.
    void unpack(const DicomItem& item, std::span<std::byte> out) {
        const std::vector<std::byte> packed = file_.bytes(item.place, item.bytes);
        constexpr std::size_t header_bytes = 64;
        if (packed.size() < header_bytes || word(packed, 0) != voxel_bytes_) fail();
        for (std::int64_t i = 0; i < voxel_bytes_; ++i) {
            const std::int64_t begin = word(packed, 4 * (i + 1));
            const std::int64_t end = i + 1 < voxel_bytes_ ? word(packed, 4 * (i + 2)) : std::ssize(packed);
            if (begin < std::ssize(packed) && header_bytes <= static_cast<std::size_t>(begin) && begin <= end &&
                end <= std::ssize(packed)) {
                unpack_plane(
                    std::span(packed).subspan(static_cast<std::size_t>(begin), static_cast<std::size_t>(end - begin)),
                    out.subspan(static_cast<std::size_t>(voxel_bytes_ - 1 - i)));
            } else {
                fail();
            }
        }
    }

  private:
    static std::int64_t word(const std::vector<std::byte>& bytes, std::int64_t place) {
        std::int64_t value = 0;
        for (std::int64_t i = 3; i >= 0; --i)
            value = value << 8 | std::to_integer<std::int64_t>(bytes[static_cast<std::size_t>(place + i)]);
        return value;
    }

    // `out` begins with the plane's byte of the first voxel.
    void unpack_plane(std::span<const std::byte> packed, std::span<std::byte> out) const {
        std::int64_t done = 0;
        const auto put = [&](std::byte byte) { out[static_cast<std::size_t>(done++ * voxel_bytes_)] = byte; };
        while (done < voxels_) {
            if (packed.empty()) fail();
            const auto code = static_cast<std::int8_t>(packed.front());
            packed = packed.subspan(1);
            if (code == -128) continue;  // means nothing
            const std::int64_t count = code >= 0 ? code + 1 : 1 - code;
            const std::size_t used = code >= 0 ? static_cast<std::size_t>(count) : 1;
            if (count > voxels_ - done || used > packed.size()) fail();
            for (std::int64_t i = 0; i < count; ++i) put(packed[code >= 0 ? static_cast<std::size_t>(i) : 0]);
            packed = packed.subspan(used);
        }
    }

    [[noreturn]] void fail() const { file_.fail("has a frame whose run lengths are damaged", "copy the file again"); }

    FileBytes file_;
    std::int64_t voxel_bytes_;
    std::int64_t voxels_;  // of a frame
};

}  // namespace

std::vector<std::byte> unpack_run_lengths(const DicomHeader& header, const std::vector<DicomItem>& items) {
    if (items.size() != header.frames.size()) FileBytes(header.path).fail("its frames do not match its header");
    const std::int64_t frame_bytes = header.columns * header.rows * bytes_of(header.stored);
    std::vector<std::byte> voxels(items.size() * static_cast<std::size_t>(frame_bytes));
    RunLengths run_lengths(header);
    for (std::size_t i = 0; i < items.size(); ++i) {
        run_lengths.unpack(items[i], std::span(voxels).subspan(i * static_cast<std::size_t>(frame_bytes),
                                                               static_cast<std::size_t>(frame_bytes)));
    }
    return voxels;
}

}  // namespace echolux
