// Heidelberg Spectralis .vol files (HSF-OCT-1xx). They contain a 2048-byte header, an image of the fundus, and B-scans.
// Each B-scan is a header and f32 reflectivities, row by row with A-scans fastest, with FLT_MAX for missing values.
// Voxels stay linear as stored; missing values become NaN. The parts scan.vol:surfaces and scan.vol:fundus are the
// lines that the instrument drew and its picture of the fundus. The layout and the names of the lines follow
// Heidelberg's description of the export and existing readers (heyex, eyepy).
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <limits>

#include "compute/indexing.h"
#include "engine/io/file_bytes.h"
#include "engine/io/file_name.h"
#include "engine/io/formats.h"
#include "engine/io/volume_file.h"

namespace echolux {
namespace {

constexpr std::int64_t header_bytes = 2048;
constexpr std::int64_t max_side = 1 << 20;

// Byte offsets in the header. Counts are i32, lengths in mm are f64.
constexpr std::int64_t at_a_scans = 12, at_b_scans = 16, at_depth = 20, at_a_pitch = 24, at_b_pitch = 32,
                       at_depth_pitch = 40, at_fundus_width = 48, at_fundus_height = 52, at_fundus_pitch = 56,
                       at_eye = 84, at_time = 88, at_pattern = 96, at_b_scan_header = 100;

constexpr float missing = std::numeric_limits<float>::quiet_NaN();

// Missing voxels and positions are stored as FLT_MAX.
bool is_missing(float value) {
    return !(std::abs(value) < std::numeric_limits<float>::max());
}

// Converts a Windows time (100 ns since 1601) to ISO 8601. Returns "" for implausible times.
std::string time_text(std::uint64_t ticks) {
    constexpr std::uint64_t ticks_a_second = 10'000'000, from_1601_to_1970 = 11'644'473'600, year_2200 = 18'900'000'000;
    const std::uint64_t seconds = ticks / ticks_a_second;
    if (seconds < from_1601_to_1970 || seconds > year_2200) return {};
    using namespace std::chrono;
    const sys_seconds time{std::chrono::seconds(seconds - from_1601_to_1970)};
    const year_month_day day{floor<days>(time)};
    const hh_mm_ss clock{time - floor<days>(time)};
    return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}Z", static_cast<int>(day.year()),
                       static_cast<unsigned>(day.month()), static_cast<unsigned>(day.day()), clock.hours().count(),
                       clock.minutes().count(), clock.seconds().count());
}

// Header of the file and offsets of its parts.
class HeidelbergFile {
  public:
    explicit HeidelbergFile(const std::filesystem::path& path) : bytes(path) {
        if (bytes.size() < header_bytes || bytes.text(0, 8) != "HSF-OCT-") {
            bytes.fail("is not a Heidelberg .vol file", ".vol files begin with HSF-OCT");
        }
        header.size = {side(at_a_scans, "A-scans"), side(at_depth, "depth rows"), side(at_b_scans, "B-scans")};
        header.spacing_mm = {pitch(at_a_pitch), pitch(at_depth_pitch), pitch(at_b_pitch)};
        header.type = VoxelType::f32;
        add_texts();
        lay_out(path);
    }

    std::int64_t b_scan(std::int64_t number) const { return first_ + number * stride_; }  // offset of its header

    FileBytes bytes;
    ImageHeader header;  // of the volume
    std::int64_t b_scan_header_bytes = 0;
    std::array<std::int64_t, 2> fundus_size{};
    std::array<double, 2> fundus_mm{};  // size of a pixel

  private:
    std::int64_t side(std::int64_t place, const char* name) {
        const auto value = bytes.number<std::int32_t>(place);
        if (value < 1 || value > max_side) bytes.fail(fmt::format("is damaged: it claims {} {}", value, name));
        return value;
    }

    double pitch(std::int64_t place) {
        const auto mm = bytes.number<double>(place);
        return std::isfinite(mm) && mm > 0 ? mm : 0;  // single B-scans have no distance
    }

    void add_texts() {
        add_provenance(header, "instrument", "Heidelberg, " + version());
        const std::string eye = bytes.text(at_eye, 2);
        if (eye == "OD" || eye == "OS") add_provenance(header, "eye", eye);
        add_provenance(header, "time", time_text(bytes.number<std::uint64_t>(at_time)));
        add_provenance(header, "scan_pattern", fmt::format("{}", bytes.number<std::int32_t>(at_pattern)));
    }

    std::string version() {  // HSF-OCT-103
        std::string text = bytes.text(0, 11);
        std::ranges::replace_if(
            text, [](char c) { return c < ' ' || c > '~'; }, '?');
        return text;
    }

    // Computes the positions of the B-scans, which follow the fundus image.
    void lay_out(const std::filesystem::path& path) {
        b_scan_header_bytes = bytes.number<std::int32_t>(at_b_scan_header);
        const std::int64_t width = bytes.number<std::int32_t>(at_fundus_width);
        const std::int64_t height = bytes.number<std::int32_t>(at_fundus_height);
        if (b_scan_header_bytes < 0 || width < 0 || height < 0 || width > max_side || height > max_side) {
            bytes.fail("is damaged: its sizes are negative or implausibly large");
        }
        fundus_size = {width, height};
        fundus_mm = {pitch(at_fundus_pitch), pitch(at_fundus_pitch + 8)};
        first_ = header_bytes + width * height;
        stride_ = b_scan_header_bytes + header.size[0] * header.size[1] * 4;
        const std::int64_t headers = b_scan_header_bytes * header.size[2];
        check_claim(header, StoredType::f32, std::max<std::int64_t>(0, bytes.size() - first_ - headers), false, path);
        add_provenance(header, "b_scans_end_mm", ends_of_b_scans());
    }

    // Returns the ends of the first and last B-scan on the fundus: "x y to x y; x y to x y".
    std::string ends_of_b_scans() {
        constexpr std::int64_t at_start = 16;
        if (b_scan_header_bytes < at_start + 32) return {};
        std::string text;
        for (const std::int64_t slice : {std::int64_t{0}, header.size[2] - 1}) {
            const std::int64_t at = first_ + slice * stride_ + at_start;
            if (!text.empty()) text += "; ";
            text +=
                fmt::format("{:.4g} {:.4g} to {:.4g} {:.4g}", bytes.number<double>(at), bytes.number<double>(at + 8),
                            bytes.number<double>(at + 16), bytes.number<double>(at + 24));
        }
        return text;
    }

    std::int64_t first_ = 0;   // offset of the first B-scan's header
    std::int64_t stride_ = 0;  // bytes per B-scan with its header
};

class HeidelbergVol final : public ImageReader {
  public:
    explicit HeidelbergVol(const std::filesystem::path& path) : file_(path) {
        file_.header.texts["echolux_quantity"] =
            "reflectivity";  // displayed as its fourth root (render/view/curve.cpp)
    }

    const ImageHeader& header() const override { return file_.header; }

    std::vector<std::byte> read(std::int64_t, Interval slices) override {
        const std::int64_t slice_bytes = file_.header.size[0] * file_.header.size[1] * 4;
        std::vector<float> voxels(index((slices.end - slices.begin) * slice_bytes / 4));
        const std::span<std::byte> bytes = std::as_writable_bytes(std::span(voxels));
        for (std::int64_t slice = slices.begin; slice < slices.end; ++slice) {
            file_.bytes.read(file_.b_scan(slice) + file_.b_scan_header_bytes,
                             bytes.subspan(index((slice - slices.begin) * slice_bytes), index(slice_bytes)));
        }
        std::ranges::replace_if(voxels, is_missing, missing);
        return {bytes.begin(), bytes.end()};
    }

  private:
    HeidelbergFile file_;
};

// ---- Lines that the instrument drew: a volume of depths as engine/layers/layers.h describes it, without lines that
// have no position. B-scan headers state their number and offset; each is f32 rows, one per A-scan.

constexpr std::array<std::string_view, 17> line_names{"ILM", "BM",  "RNFL", "GCL", "IPL", "INL", "OPL", "ONL", "ELM",
                                                      "IOS", "OPT", "CHO",  "VIT", "ANT", "PR1", "PR2", "RPE"};

class HeidelbergSurfaces final : public ImageReader {
  public:
    explicit HeidelbergSurfaces(const std::filesystem::path& path) : file_(path) {
        read_lines();
        sort_lines();
        const ImageHeader& volume = file_.header;
        header_.size = {volume.size[0], volume.size[2], std::ssize(lines_)};
        header_.spacing_mm = {volume.spacing_mm[0], volume.spacing_mm[2], 0};
        header_.type = VoxelType::f32;
        header_.texts = volume.texts;
        header_.texts["echolux_quantity"] = "depth";
        header_.texts["echolux_unit"] = volume.spacing_mm[1] > 0 ? "um" : "rows";
        std::string names;
        for (const Line& line : lines_) names += (names.empty() ? "" : " ") + line.name;
        add_provenance(header_, "surfaces", names);
    }

    const ImageHeader& header() const override { return header_; }

    std::vector<std::byte> read(std::int64_t, Interval slices) override {
        const double row_um = file_.header.spacing_mm[1] > 0 ? 1000 * file_.header.spacing_mm[1] : 1;
        std::vector<float> depths;
        for (std::int64_t i = slices.begin; i < slices.end; ++i) {
            for (const float row : lines_[index(i)].rows)
                depths.push_back(static_cast<float>(static_cast<double>(row) * row_um));
        }
        const std::span<const std::byte> bytes = std::as_bytes(std::span(depths));
        return {bytes.begin(), bytes.end()};
    }

  private:
    struct Line {
        std::string name;
        std::vector<float> rows;  // [b_scan][a_scan]
        double mean = 0;
    };

    void read_lines() {
        constexpr std::int64_t at_count = 48, at_offset = 52;
        const std::int64_t a_scans = file_.header.size[0], b_scans = file_.header.size[2];
        for (const std::string_view name : line_names) lines_.push_back({std::string(name), {}});
        if (file_.b_scan_header_bytes < at_offset + 4) return;
        for (std::int64_t b = 0; b < b_scans; ++b) {
            const std::int64_t from = file_.b_scan(b);
            const std::int64_t count =
                std::min<std::int64_t>(file_.bytes.number<std::int32_t>(from + at_count), std::ssize(lines_));
            const std::int64_t offset = file_.bytes.number<std::int32_t>(from + at_offset);
            if (count <= 0) continue;
            if (offset < 0 || offset + count * a_scans * 4 > file_.b_scan_header_bytes)
                file_.bytes.fail(fmt::format("is damaged: the lines of B-scan {} are outside its header", b));
            for (std::int64_t i = 0; i < count; ++i) {
                std::vector<float>& all = lines_[index(i)].rows;
                if (all.empty()) all.assign(index(a_scans * b_scans), missing);
                const std::span<float> rows = std::span(all).subspan(index(b * a_scans), index(a_scans));
                file_.bytes.read(from + offset + i * a_scans * 4, std::as_writable_bytes(rows));
            }
        }
    }

    // From the top. Drops lines without a position.
    void sort_lines() {
        for (Line& line : lines_) {
            std::ranges::replace_if(line.rows, is_missing, missing);
            double sum = 0, known = 0;
            for (const float row : line.rows) {
                if (std::isnan(row)) continue;
                sum += static_cast<double>(row);
                ++known;
            }
            line.mean = sum / known;
        }
        std::erase_if(lines_, [](const Line& line) { return std::isnan(line.mean); });
        std::ranges::stable_sort(lines_, {}, &Line::mean);
        if (lines_.empty()) file_.bytes.fail("holds no segmentation lines", "segment it, or export it with its lines");
    }

    HeidelbergFile file_;
    ImageHeader header_;
    std::vector<Line> lines_;
};

// ---- Picture of the fundus: u8, one slice.

class HeidelbergFundus final : public ImageReader {
  public:
    explicit HeidelbergFundus(const std::filesystem::path& path) : file_(path) {
        const auto [width, height] = file_.fundus_size;
        if (width == 0 || height == 0) file_.bytes.fail("holds no picture of the fundus", "export it with the picture");
        header_.size = {width, height, 1};
        header_.spacing_mm = {file_.fundus_mm[0], file_.fundus_mm[1], 0};
        header_.type = VoxelType::u8;
        header_.texts = file_.header.texts;
        header_.texts["echolux_quantity"] = "fundus";
    }

    const ImageHeader& header() const override { return header_; }

    std::vector<std::byte> read(std::int64_t, Interval) override {
        return file_.bytes.bytes(header_bytes, header_.size[0] * header_.size[1]);
    }

  private:
    HeidelbergFile file_;
    ImageHeader header_;
};

}  // namespace

std::unique_ptr<ImageReader> open_heidelberg_vol(const std::filesystem::path& path) {
    const auto [file, part] = file_part(path);
    if (part.empty()) return std::make_unique<HeidelbergVol>(file);
    if (part == "surfaces") return std::make_unique<HeidelbergSurfaces>(file);
    if (part == "fundus") return std::make_unique<HeidelbergFundus>(file);
    throw Error(ErrorCode::bad_setting, "has no part \"" + part + "\"", file.string(),
                "use surfaces or fundus, or none");
}

}  // namespace echolux
