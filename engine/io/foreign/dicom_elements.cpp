#include "engine/io/foreign/dicom_elements.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <string_view>

#include "compute/counted.h"
#include "compute/error.h"

namespace echolux {
namespace {

constexpr std::int64_t unknown_length = -1;
constexpr std::uint32_t item = 0xFFFEE000, item_end = 0xFFFEE00D, sequence_end = 0xFFFEE0DD;
constexpr std::uint32_t shared_groups = 0x52009229, frame_groups = 0x52009230;  // of multi-frame files

bool is_voxels(std::uint32_t tag) {
    return tag == 0x7FE00008 || tag == 0x7FE00009 || tag == 0x7FE00010;
}

// Value representations with two reserved bytes and a 4-byte length.
bool is_long(std::string_view kind) {
    constexpr std::array<std::string_view, 14> kinds{"OB", "OD", "OF", "OL", "OV", "OW", "SQ",
                                                     "SV", "UC", "UN", "UR", "UT", "UV", "OX"};
    return std::ranges::find(kinds, kind) != kinds.end();
}

}  // namespace

DicomElements::DicomElements(FileBytes& file) : file_(file) {
    constexpr std::int64_t preamble = 128, magic_bytes = 4;
    if (file.size() < preamble + magic_bytes || file.text(preamble, magic_bytes) != "DICM") {
        file.fail("is not a DICOM file");
    }
    place_ = preamble + magic_bytes;
    read_meta();
    is_explicit_ = transfer_syntax_ != "1.2.840.10008.1.2";
    big_endian_ = transfer_syntax_ == "1.2.840.10008.1.2.2";
}

// The meta header (group 2) is first, and is always explicit little-endian.
void DicomElements::read_meta() {
    while (place_ + 8 <= file_.size() && file_.number<std::uint16_t>(place_) == 2) {
        const DicomElement element = read_element();
        if (element.bytes == unknown_length) file_.fail("is damaged: its meta header has no end");
        if (element.tag == 0x00020010) transfer_syntax_ = text(element);
        place_ = element.place + element.bytes;
    }
    if (transfer_syntax_.empty()) file_.fail("does not tell how it is encoded", "it has no transfer syntax");
}

// Reads tag and length. Explicit encodings have the value representation in between; delimiters never do.
DicomElement DicomElements::read_element() {
    const auto number = [&]<class T>(T, std::int64_t place) {
        const T value = file_.number<T>(place);
        if (!big_endian_) return value;
        return static_cast<T>(sizeof(T) == 2 ? __builtin_bswap16(static_cast<std::uint16_t>(value))
                                             : __builtin_bswap32(static_cast<std::uint32_t>(value)));
    };
    DicomElement element;
    element.tag =
        static_cast<std::uint32_t>(number(std::uint16_t{}, place_)) << 16 | number(std::uint16_t{}, place_ + 2);
    std::uint32_t length = 0;
    const bool is_delimiter = element.tag >> 16 == 0xFFFE;
    if (!is_explicit_ || is_delimiter) {
        length = number(std::uint32_t{}, place_ + 4);
        element.place = place_ + 8;
    } else if (is_long(file_.text(place_ + 4, 2))) {
        length = number(std::uint32_t{}, place_ + 8);
        element.place = place_ + 12;
    } else {
        length = number(std::uint16_t{}, place_ + 6);
        element.place = place_ + 8;
    }
    element.bytes = length == 0xFFFFFFFF ? unknown_length : static_cast<std::int64_t>(length);
    if (element.bytes > file_.size() - element.place) {
        file_.fail(fmt::format("ends too early: element {:08X} claims {}, {} follow", element.tag,
                               counted(element.bytes, "bytes"), file_.size() - element.place),
                   "copy the file again");
    }
    return element;
}

void DicomElements::leave_ended_levels() {
    while (!levels_.empty() && levels_.back().end >= 0 && place_ >= levels_.back().end) levels_.pop_back();
}

// Enters a sequence or item if needed and returns whether it did.
bool DicomElements::enters(const DicomElement& element) {
    const bool is_of_frames = element.tag == shared_groups || element.tag == frame_groups ||
                              (!levels_.empty() && levels_.back().is_of_frames);
    // Sequences with the position, spacing and value scaling of each frame.
    constexpr std::array<std::uint32_t, 5> wanted{shared_groups, frame_groups, 0x00289110, 0x00209113, 0x00289145};
    const bool is_orientation = element.tag == 0x00209116;
    const bool is_wanted = std::ranges::find(wanted, element.tag) != wanted.end() || is_orientation;
    if (element.tag != item && element.bytes != unknown_length && !(is_of_frames && is_wanted)) return false;
    constexpr std::size_t deepest = 32;
    if (levels_.size() == deepest) file_.fail("is damaged: its sequences are nested without end");
    const std::int64_t end = element.bytes == unknown_length ? -1 : element.place + element.bytes;
    levels_.push_back({end, is_of_frames});
    return true;
}

std::optional<DicomElement> DicomElements::next() {
    while (true) {
        leave_ended_levels();
        if (place_ + 8 > file_.size()) return std::nullopt;
        DicomElement element = read_element();
        place_ = element.place;
        if (element.tag == item_end || element.tag == sequence_end) {
            if (!levels_.empty()) levels_.pop_back();
            continue;
        }
        if (is_voxels(element.tag) && levels_.empty()) return element;
        if (enters(element)) continue;
        if (element.bytes > 0) place_ += element.bytes;
        element.is_at_top = levels_.empty() || levels_.back().is_of_frames;
        return element;
    }
}

std::int64_t DicomElements::number(const DicomElement& element) {
    if (element.bytes == 4) {
        const auto value = file_.number<std::uint32_t>(element.place);
        return big_endian_ ? __builtin_bswap32(value) : value;
    }
    if (element.bytes < 2) return 0;
    const auto value = file_.number<std::uint16_t>(element.place);
    return big_endian_ ? __builtin_bswap16(value) : value;
}

std::string DicomElements::text(const DicomElement& element) {
    constexpr std::int64_t longest = 1024;
    std::string text = file_.text(element.place, std::min(std::max<std::int64_t>(element.bytes, 0), longest));
    // Texts of odd length end with a zero byte.
    std::ranges::replace_if(
        text, [](char c) { return static_cast<unsigned char>(c) < ' '; }, ' ');
    text.resize(text.find_last_not_of(' ') + 1);  // npos + 1 is 0: removes everything
    text.erase(0, text.find_first_not_of(' '));
    return text;
}

std::vector<double> DicomElements::numbers(const DicomElement& element) {
    const std::string all = text(element);
    std::vector<double> numbers;
    for (std::size_t start = 0; start <= all.size() && !all.empty();) {
        const std::size_t end = std::min(all.find('\\', start), all.size());
        const std::string one = all.substr(start, end - start);
        const double value = std::strtod(one.c_str(), nullptr);
        numbers.push_back(std::isfinite(value) ? value : 0);
        start = end + 1;
    }
    return numbers;
}

}  // namespace echolux
