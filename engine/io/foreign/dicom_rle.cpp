// Run-length encoding (PS3.5, annex G). A frame is an item with up to 15 segments, one per byte of a voxel from the
// highest, encoded like Macintosh PackBits. Not decoded by GDCM, which divides by numbers in the frame.
#include <algorithm>

#include "engine/io/file_bytes.h"
#include "engine/io/foreign/dicom_header.h"

namespace echolux {
namespace {

class RunLengths {
  public:
    explicit RunLengths(const DicomHeader& header)
        : file_(header.path), voxel_bytes_(bytes_of(header.stored)), voxels_(header.columns * header.rows) {}

    // Decodes one frame into little-endian voxels.
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
    // Reads a little-endian 32-bit number.
    static std::int64_t word(const std::vector<std::byte>& bytes, std::int64_t place) {
        std::int64_t value = 0;
        for (std::int64_t i = 3; i >= 0; --i)
            value = value << 8 | std::to_integer<std::int64_t>(bytes[static_cast<std::size_t>(place + i)]);
        return value;
    }

    // Decodes one byte of each voxel. `out` starts at that byte of the first voxel.
    void unpack_plane(std::span<const std::byte> packed, std::span<std::byte> out) const {
        std::int64_t done = 0;
        const auto put = [&](std::byte byte) { out[static_cast<std::size_t>(done++ * voxel_bytes_)] = byte; };
        while (done < voxels_) {
            if (packed.empty()) fail();
            const auto code = static_cast<std::int8_t>(packed.front());
            packed = packed.subspan(1);
            if (code == -128) continue;  // no operation
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
    std::int64_t voxels_;  // per frame
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
