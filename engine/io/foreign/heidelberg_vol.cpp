// Heidelberg Spectralis .vol files (HSF-OCT-1xx). They contain a 2048-byte header, an image of the fundus, and B-scans.
// Each B-scan is a header and f32 reflectivities, row by row with A-scans fastest, with FLT_MAX for missing values.
// Voxels stay linear as stored; missing values become NaN. The fundus image and segmentations are ignored. The layout
// follows Heidelberg's description of the export and existing readers (heyex, eyepy).
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>

#include "compute/indexing.h"
#include "engine/io/file_bytes.h"
#include "engine/io/formats.h"
#include "engine/io/volume_file.h"

namespace echolux {
namespace {

constexpr std::int64_t header_bytes = 2048;
constexpr std::int64_t max_side = 1 << 20;

// Byte offsets in the header. Counts are i32, lengths in mm are f64.
constexpr std::int64_t at_a_scans = 12, at_b_scans = 16, at_depth = 20, at_a_pitch = 24, at_b_pitch = 32,
                       at_depth_pitch = 40, at_fundus_width = 48, at_fundus_height = 52, at_eye = 84, at_time = 88,
                       at_pattern = 96, at_b_scan_header = 100;

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

class HeidelbergVol final : public ImageReader {
  public:
    explicit HeidelbergVol(const std::filesystem::path& path) : file_(path) {
        if (file_.size() < header_bytes || file_.text(0, 8) != "HSF-OCT-") {
            file_.fail("is not a Heidelberg .vol file", ".vol files begin with HSF-OCT");
        }
        header_.size = {side(at_a_scans, "A-scans"), side(at_depth, "depth rows"), side(at_b_scans, "B-scans")};
        header_.spacing_mm = {pitch(at_a_pitch), pitch(at_depth_pitch), pitch(at_b_pitch)};
        header_.type = VoxelType::f32;
        header_.texts["echolux_quantity"] = "reflectivity";  // displayed as its fourth root (render/view/curve.cpp)
        add_texts();
        lay_out(path);
    }

    const ImageHeader& header() const override { return header_; }

    std::vector<std::byte> read(std::int64_t, Interval slices) override {
        const std::int64_t slice_bytes = header_.size[0] * header_.size[1] * 4;
        std::vector<float> voxels(index((slices.end - slices.begin) * slice_bytes / 4));
        const std::span<std::byte> bytes = std::as_writable_bytes(std::span(voxels));
        for (std::int64_t slice = slices.begin; slice < slices.end; ++slice) {
            file_.read(first_ + slice * stride_ + b_scan_header_bytes_,
                       bytes.subspan(index((slice - slices.begin) * slice_bytes), index(slice_bytes)));
        }
        // Invalid voxels are stored as FLT_MAX.
        constexpr float max = std::numeric_limits<float>::max();
        std::ranges::replace_if(
            voxels, [](float value) { return !(std::abs(value) < max); }, std::numeric_limits<float>::quiet_NaN());
        return {bytes.begin(), bytes.end()};
    }

  private:
    std::int64_t side(std::int64_t place, const char* name) {
        const auto value = file_.number<std::int32_t>(place);
        if (value < 1 || value > max_side) file_.fail(fmt::format("is damaged: it claims {} {}", value, name));
        return value;
    }

    double pitch(std::int64_t place) {
        const auto mm = file_.number<double>(place);
        return std::isfinite(mm) && mm > 0 ? mm : 0;  // single B-scans have no distance
    }

    void add_texts() {
        add_provenance(header_, "instrument", "Heidelberg, " + version());
        const std::string eye = file_.text(at_eye, 2);
        if (eye == "OD" || eye == "OS") add_provenance(header_, "eye", eye);
        add_provenance(header_, "time", time_text(file_.number<std::uint64_t>(at_time)));
        add_provenance(header_, "scan_pattern", fmt::format("{}", file_.number<std::int32_t>(at_pattern)));
    }

    std::string version() {  // HSF-OCT-103
        std::string text = file_.text(0, 11);
        std::ranges::replace_if(
            text, [](char c) { return c < ' ' || c > '~'; }, '?');
        return text;
    }

    // Computes the positions of the B-scans, which follow the fundus image.
    void lay_out(const std::filesystem::path& path) {
        b_scan_header_bytes_ = file_.number<std::int32_t>(at_b_scan_header);
        const std::int64_t width = file_.number<std::int32_t>(at_fundus_width);
        const std::int64_t height = file_.number<std::int32_t>(at_fundus_height);
        if (b_scan_header_bytes_ < 0 || width < 0 || height < 0 || width > max_side || height > max_side) {
            file_.fail("is damaged: its sizes are negative or implausibly large");
        }
        first_ = header_bytes + width * height;
        stride_ = b_scan_header_bytes_ + header_.size[0] * header_.size[1] * 4;
        const std::int64_t headers = b_scan_header_bytes_ * header_.size[2];
        check_claim(header_, StoredType::f32, std::max<std::int64_t>(0, file_.size() - first_ - headers), false, path);
        add_provenance(header_, "b_scans_end_mm", ends_of_b_scans());
    }

    // Returns the ends of the first and last B-scan on the fundus: "x y to x y; x y to x y".
    std::string ends_of_b_scans() {
        constexpr std::int64_t at_start = 16;
        if (b_scan_header_bytes_ < at_start + 32) return {};
        std::string text;
        for (const std::int64_t slice : {std::int64_t{0}, header_.size[2] - 1}) {
            const std::int64_t at = first_ + slice * stride_ + at_start;
            if (!text.empty()) text += "; ";
            text +=
                fmt::format("{:.4g} {:.4g} to {:.4g} {:.4g}", file_.number<double>(at), file_.number<double>(at + 8),
                            file_.number<double>(at + 16), file_.number<double>(at + 24));
        }
        return text;
    }

    FileBytes file_;
    ImageHeader header_;
    std::int64_t b_scan_header_bytes_ = 0;
    std::int64_t first_ = 0;   // offset of the first B-scan's header
    std::int64_t stride_ = 0;  // bytes per B-scan with its header
};

}  // namespace

std::unique_ptr<ImageReader> open_heidelberg_vol(const std::filesystem::path& path) {
    return std::make_unique<HeidelbergVol>(path);
}

}  // namespace echolux
