#include "engine/io/foreign/dicom_header.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "compute/error.h"
#include "compute/indexing.h"
#include "compute/plural.h"
#include "engine/io/file_bytes.h"
#include "engine/io/regular_file.h"

namespace echolux {
namespace {

// ---- elements -------------------------------------------------------------------------------------------------------

// Position of an element.
struct DicomElement {
    std::uint32_t tag = 0;   // 0xGGGGEEEE
    std::int64_t place = 0;  // offset of the value
    std::int64_t bytes = 0;  // -1: unknown, ends with a delimiter
    bool is_at_top = true;   // not in a sequence, or in one that describes frames
};

// Iterates over the elements of a DICOM file (PS3.5, section 7): tag, kind, length, value. Enters sequences that have
// unknown length or describe frames, and skips all others.
class DicomElements {
  public:
    // Reads the meta header. Throws Error{bad_file} if the file is not a DICOM file.
    explicit DicomElements(FileBytes& file);

    const std::string& transfer_syntax() const { return transfer_syntax_; }
    bool big_endian() const { return big_endian_; }

    // Returns the next element, or std::nullopt at the end. The voxels are the last element. Throws Error{bad_file}.
    std::optional<DicomElement> next();

    // Returns a binary number of two or four bytes: US, SS, UL, ...
    std::int64_t number(const DicomElement& element);

    // Returns the trimmed text. Backslashes separate multiple values.
    std::string text(const DicomElement& element);
    std::vector<double> numbers(const DicomElement& element);  // of a text with decimal numbers

  private:
    struct Level {
        std::int64_t end = 0;  // -1: ends with a delimiter
        bool is_of_frames = false;
    };

    void read_meta();
    DicomElement read_element();
    void leave_ended_levels();
    bool enters(const DicomElement& element);

    FileBytes& file_;
    std::string transfer_syntax_;
    bool big_endian_ = false;
    bool is_explicit_ = true;
    std::int64_t place_ = 0;
    std::vector<Level> levels_;
};

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
        if (element.bytes == unknown_length) file_.fail("is damaged: its meta header does not end");
        if (element.tag == 0x00020010) transfer_syntax_ = text(element);
        place_ = element.place + element.bytes;
    }
    if (!transfer_syntax_.empty() && !transfer_syntax_.starts_with("1.2.840.10008.1.2"))
        file_.fail("has the unknown transfer syntax " + transfer_syntax_, "save it with another transfer syntax");
    if (transfer_syntax_.empty()) file_.fail("does not state its encoding", "it has no transfer syntax");
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
                               plural(element.bytes, "bytes"), file_.size() - element.place),
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
    if (levels_.size() == deepest) file_.fail("is damaged: its sequences are nested too deeply");
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

// ---- headers --------------------------------------------------------------------------------------------------------
// Tags are those of PS3.6.

// Unchecked numbers from the file.
struct Claims {
    std::int64_t samples = 1, frames = 1, bits = 0, bits_stored = 0, high_bit = 0;
    bool is_signed = false;
    std::string photometric;
    std::uint32_t voxel_tag = 0;
    double slope = 1, intercept = 0, thickness_mm = 0, between_mm = 0;
    std::vector<Vector3> positions;
    std::vector<std::array<double, 2>> scalings;  // per frame: slope, intercept
};

class Reader {
  public:
    explicit Reader(const std::filesystem::path& path) : file_(path), elements_(file_) {
        header_.path = path;
        header_.transfer_syntax = elements_.transfer_syntax();
        header_.big_endian = elements_.big_endian();
        if (header_.transfer_syntax == "1.2.840.10008.1.2.1.99") {
            file_.fail("uses the deflated transfer syntax", "save it with another transfer syntax");
        }
    }

    DicomHeader read() {
        while (const auto element = elements_.next()) {
            if ((element->tag & 0xFFFF0000) == 0x7FE00000 && element->is_at_top) {
                claims_.voxel_tag = element->tag;
                header_.voxels_at = element->place;
                header_.packed = element->bytes < 0;
                header_.voxel_bytes = header_.packed ? file_.size() - element->place : element->bytes;
                break;
            }
            if (element->is_at_top && element->bytes > 0) take(*element);
        }
        check();
        return std::move(header_);
    }

  private:
    void take(const DicomElement& element) {
        switch (element.tag) {
            case 0x00280002: claims_.samples = elements_.number(element); break;
            case 0x00280004: claims_.photometric = elements_.text(element); break;
            case 0x00280008: claims_.frames = std::llround(first(element)); break;
            case 0x00280010: header_.rows = elements_.number(element); break;
            case 0x00280011: header_.columns = elements_.number(element); break;
            case 0x00280100: claims_.bits = elements_.number(element); break;
            case 0x00280101: claims_.bits_stored = elements_.number(element); break;
            case 0x00280102: claims_.high_bit = elements_.number(element); break;
            case 0x00280103: claims_.is_signed = elements_.number(element) == 1; break;
            case 0x00281052: claims_.scalings.push_back({1, first(element)}); break;
            case 0x00281053: take_slope(first(element)); break;
            case 0x00280030:
            case 0x00181164: take_pitch(elements_.numbers(element)); break;
            case 0x00180050: claims_.thickness_mm = first(element); break;
            case 0x00180088: claims_.between_mm = std::abs(first(element)); break;
            case 0x00181063: header_.frame_time_s = std::max(0.0, first(element)) / 1000; break;
            case 0x00200032: take_position(elements_.numbers(element)); break;
            case 0x00200037: take_orientation(elements_.numbers(element)); break;
            case 0x0020000E: header_.series = elements_.text(element); break;
            case 0x0008103E: header_.description = elements_.text(element); break;
            case 0x00080060: header_.modality = elements_.text(element); break;
            case 0x00080070: header_.manufacturer = elements_.text(element); break;
            case 0x00080020: header_.study_date = elements_.text(element); break;
            case 0x00200011: header_.series_number = std::llround(first(element)); break;
            case 0x00200012: header_.acquisition = std::llround(first(element)); break;
            case 0x00200013: header_.instance = std::llround(first(element)); break;
            default: break;
        }
    }

    double first(const DicomElement& element) {
        const std::vector<double> numbers = elements_.numbers(element);
        constexpr double max = 1e15;  // limits nonsensical values
        return numbers.empty() ? 0 : std::clamp(numbers.front(), -max, max);
    }

    // In the file, the slope follows its intercept.
    void take_slope(double slope) {
        if (!claims_.scalings.empty() && slope != 0) claims_.scalings.back()[0] = slope;
    }

    void take_pitch(const std::vector<double>& rows_columns) {
        if (rows_columns.size() != 2 || !(rows_columns[0] > 0) || !(rows_columns[1] > 0)) return;
        header_.pitch_mm = {rows_columns[1], rows_columns[0]};
    }

    void take_position(const std::vector<double>& numbers) {
        if (numbers.size() == 3) claims_.positions.push_back({numbers[0], numbers[1], numbers[2]});
    }

    void take_orientation(const std::vector<double>& numbers) {
        if (numbers.size() != 6) return;
        header_.along_row = {numbers[0], numbers[1], numbers[2]};
        header_.along_column = {numbers[3], numbers[4], numbers[5]};
    }

    void check() {
        if (claims_.voxel_tag == 0 || header_.rows < 1 || header_.columns < 1) return;  // not a picture
        constexpr std::int64_t max_side = 65535;
        if (header_.rows > max_side || header_.columns > max_side)
            file_.fail("is damaged: it claims more than 65535 rows or columns");
        if (claims_.samples != 1) file_.fail("is a colour image", "only grayscale images can be volumes");
        if (claims_.photometric.starts_with("PALETTE")) file_.fail("is an image with a palette", "convert it to gray");
        header_.is_inverted = claims_.photometric == "MONOCHROME1";
        check_type();
        const double claimed = static_cast<double>(header_.rows * header_.columns) *
                               static_cast<double>(bytes_of(header_.stored)) * static_cast<double>(claims_.frames);
        constexpr double best_deflate = 1032;   // max compression ratio of the format (zlib.net/zlib_tech.html)
        constexpr std::int64_t item_bytes = 8;  // minimum size of an item; a compressed frame needs one
        const double held = static_cast<double>(header_.voxel_bytes) * (header_.packed ? best_deflate : 1);
        const bool has_items = !header_.packed || claims_.frames <= header_.voxel_bytes / item_bytes;
        if (claims_.frames < 1 || claimed > held || !has_items) {
            file_.fail(fmt::format("ends too early: {} of {} x {} voxels are described, {} follow",
                                   plural(claims_.frames, "frames"), header_.columns, header_.rows,
                                   plural(header_.voxel_bytes, "bytes")),
                       "copy the file again");
        }
        header_.slice_pitch_mm = claims_.between_mm > 0 ? claims_.between_mm : std::max(0.0, claims_.thickness_mm);
        describe_frames();
    }

    // Determines the voxel type. Floating-point voxels have their own tags.
    void check_type() {
        if (claims_.voxel_tag == 0x7FE00008 && claims_.bits == 32) {
            header_.stored = StoredType::f32;
        } else if (claims_.voxel_tag == 0x7FE00009 && claims_.bits == 64) {
            header_.stored = StoredType::f64;
        } else if (claims_.bits == 8) {
            header_.stored = claims_.is_signed ? StoredType::i8 : StoredType::u8;
        } else if (claims_.bits == 16) {
            header_.stored = claims_.is_signed ? StoredType::i16 : StoredType::u16;
        } else if (claims_.bits == 32) {
            header_.stored = claims_.is_signed ? StoredType::i32 : StoredType::u32;
        } else {
            file_.fail(fmt::format("has voxels of {}", plural(claims_.bits, "bits")), "8, 16 and 32 bits can be read");
        }
        // `usual` means that the stored bits are invalid, so that all bits are used.
        const bool usual = claims_.bits_stored < 1 || claims_.bits_stored > claims_.bits ||
                           claims_.high_bit < claims_.bits_stored - 1 || claims_.high_bit >= claims_.bits;
        header_.bits_stored = static_cast<int>(usual ? claims_.bits : claims_.bits_stored);
        header_.high_bit = static_cast<int>(usual ? claims_.bits - 1 : claims_.high_bit);
    }

    // A single position or scaling applies to all frames.
    void describe_frames() {
        const auto count = index(claims_.frames);
        header_.frames.resize(count);
        for (std::size_t i = 0; i < count; ++i) {
            DicomFrame& frame = header_.frames[i];
            if (claims_.positions.size() == count) {
                frame.position = claims_.positions[i];
                frame.has_position = true;
            }
            if (claims_.scalings.empty()) continue;
            const auto& [slope, intercept] = claims_.scalings[claims_.scalings.size() == count ? i : 0];
            frame.slope = slope;
            frame.intercept = intercept;
        }
    }

    FileBytes file_;
    DicomElements elements_;
    DicomHeader header_;
    Claims claims_;
};

}  // namespace

bool is_dicom(const std::filesystem::path& path) {
    std::array<char, 132> start{};
    regular_stream(path).read(start.data(), start.size());
    return std::string_view(start.data() + 128, 4) == "DICM";
}

DicomHeader read_dicom_header(const std::filesystem::path& path) {
    return Reader(path).read();
}

}  // namespace echolux
