// Items with compressed frames (PS3.5, A.4): an index, then fragments. Each frame has its own header with its size: SOF
// in JPEG and JPEG-LS (ITU-T T.81), SIZ in JPEG 2000 (ITU-T T.800).
#include <fmt/format.h>

#include "engine/build.h"
#include "engine/io/file_bytes.h"
#include "engine/io/foreign/dicom_header.h"
#include "engine/io/foreign/gdcm/dicom_codec.h"
#include "engine/memory.h"

namespace echolux {
namespace {

class Items {
  public:
    explicit Items(const DicomHeader& header) : header_(header), file_(header.path) {}

    std::vector<DicomItem> read() {
        std::vector<DicomItem> items;
        std::int64_t place = header_.voxels_at;
        for (bool is_index = true;; is_index = false) {
            constexpr std::uint32_t item = 0xE000FFFE, end = 0xE0DDFFFE;  // as stored, in little-endian order
            const auto tag = file_.number<std::uint32_t>(place);
            const std::int64_t bytes = file_.number<std::uint32_t>(place + 4);
            place += 8;
            if (tag == end) return items;
            if (tag != item || bytes > file_.size() - place)
                file_.fail("ends within its voxels", "copy the file again");
            if (!is_index) items.push_back({place, bytes});
            if (!is_index && bytes > 4) check_fragment(place, place + bytes);
            place += bytes;
        }
    }

  private:
    // Reads a big-endian number.
    std::int64_t big(std::int64_t place, int bytes) {
        std::int64_t value = 0;
        for (int i = 0; i < bytes; ++i) value = value << 8 | file_.number<std::uint8_t>(place + i);
        return value;
    }

    // Checks the frame header. Continuation fragments start with other bytes and are accepted.
    void check_fragment(std::int64_t place, std::int64_t end) {
        const std::int64_t start = big(place, 4);
        if (start == 0xFF4FFF51) check_sizes(place + 8, end);
        if (start >> 16 == 0xFFD8) check_jpeg(place + 2, end);
    }

    // Checks SIZ: width and height of the grid, its origin, those of the tiles, number of components.
    void check_sizes(std::int64_t place, std::int64_t end) {
        if (place + 34 > end) file_.fail("has a damaged frame");
        compare(big(place, 4) - big(place + 8, 4), big(place + 4, 4) - big(place + 12, 4));
        if (big(place + 32, 2) != 1) file_.fail("has a frame in colours");
    }

    // Finds the SOF marker and checks its sizes.
    void check_jpeg(std::int64_t place, std::int64_t end) {
        while (place + 9 < end && big(place, 1) == 0xFF) {
            const std::int64_t marker = big(place + 1, 1);
            const bool is_frame =
                (marker >= 0xC0 && marker <= 0xCF && marker != 0xC4 && marker != 0xC8 && marker != 0xCC) ||
                marker == 0xF7;
            if (is_frame) {
                compare(big(place + 7, 2), big(place + 5, 2));
                if (big(place + 9, 1) != 1) file_.fail("has a frame in colours");
                return;
            }
            place += 2 + big(place + 2, 2);
        }
        file_.fail("has a damaged frame", "copy the file again");
    }

    void compare(std::int64_t width, std::int64_t height) const {
        if (width == header_.columns && height == header_.rows) return;
        file_.fail(fmt::format("is damaged: its header gives {} x {} pixels, a frame in it {} x {}", header_.columns,
                               header_.rows, width, height));
    }

    const DicomHeader& header_;
    FileBytes file_;
};

}  // namespace

std::vector<DicomItem> dicom_items(const DicomHeader& header) {
    return Items(header).read();
}

std::vector<std::byte> unpack_dicom(const DicomHeader& header, std::shared_ptr<void>& codec) {
    const std::vector<DicomItem> items = dicom_items(header);
    const auto frames = static_cast<std::int64_t>(header.frames.size());
    constexpr std::int64_t copies = 3;  // compressed, decompressed, result
    require_memory(copies * header.columns * header.rows * frames * bytes_of(header.stored), header.path.string(),
                   "unpack it with another program first");
    const bool by_run_lengths = header.transfer_syntax == "1.2.840.10008.1.2.5";
    if (by_run_lengths) return unpack_run_lengths(header, items);
    if constexpr (has(Part::gdcm)) {
        if (!codec) codec = std::make_shared<DicomCodec>();
        return static_cast<DicomCodec*>(codec.get())->unpack(header, items);
    }
    refuse_missing(Part::gdcm, header.path.string());
}

}  // namespace echolux
