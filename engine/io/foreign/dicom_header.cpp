// Parses the headers of DICOM files. Tags are those of PS3.6.
#include "engine/io/foreign/dicom_header.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <fstream>
#include <string_view>
#include <utility>

#include "compute/counted.h"
#include "compute/error.h"
#include "engine/io/foreign/dicom_elements.h"
#include "engine/io/regular_file.h"

namespace echolux {
namespace {

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
            file_.fail("is deflated as a whole", "save it with another transfer syntax");
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
        if (claims_.samples != 1) file_.fail("is a picture in colours", "only gray pictures can be volumes");
        if (claims_.photometric.starts_with("PALETTE")) file_.fail("is a picture with a palette", "convert it to gray");
        header_.is_inverted = claims_.photometric == "MONOCHROME1";
        check_type();
        const double claimed = static_cast<double>(header_.rows * header_.columns) *
                               static_cast<double>(bytes_of(header_.stored)) * static_cast<double>(claims_.frames);
        constexpr double best_deflate = 1032;
        constexpr std::int64_t item_bytes = 8;  // minimum size of an item; a compressed frame needs one
        const double held = static_cast<double>(header_.voxel_bytes) * (header_.packed ? best_deflate : 1);
        const bool has_items = !header_.packed || claims_.frames <= header_.voxel_bytes / item_bytes;
        if (claims_.frames < 1 || claimed > held || !has_items) {
            file_.fail(fmt::format("ends too early: {} of {} x {} voxels are described, {} follow",
                                   counted(claims_.frames, "frames"), header_.columns, header_.rows,
                                   counted(header_.voxel_bytes, "bytes")),
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
            file_.fail(fmt::format("has voxels of {}", counted(claims_.bits, "bits")), "8, 16 and 32 bits can be read");
        }
        // `usual` means that the stored bits are invalid, so that all bits are used.
        const bool usual = claims_.bits_stored < 1 || claims_.bits_stored > claims_.bits ||
                           claims_.high_bit < claims_.bits_stored - 1 || claims_.high_bit >= claims_.bits;
        header_.bits_stored = static_cast<int>(usual ? claims_.bits : claims_.bits_stored);
        header_.high_bit = static_cast<int>(usual ? claims_.bits - 1 : claims_.high_bit);
    }

    // A single position or scaling applies to all frames.
    void describe_frames() {
        const auto count = static_cast<std::size_t>(claims_.frames);
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
