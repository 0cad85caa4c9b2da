#include "engine/scan/spectra_layout.h"

#include <fmt/format.h>
#include <algorithm>

#include "compute/counted.h"
#include "compute/error.h"

namespace echolux {
namespace {

// Integer arithmetic with overflow checks.
class Bytes {
  public:
    explicit Bytes(const std::string& where) : where_(where) {}

    std::int64_t product(std::int64_t a, std::int64_t b) const {
        std::int64_t result = 0;
        if (__builtin_mul_overflow(a, b, &result)) reject();
        return result;
    }

    std::int64_t sum(std::int64_t a, std::int64_t b) const {
        std::int64_t result = 0;
        if (__builtin_add_overflow(a, b, &result)) reject();
        return result;
    }

  private:
    [[noreturn]] void reject() const {
        throw Error(ErrorCode::bad_setting, "describes more bytes than any file can hold", where_ + ", [scan]",
                    "check samples, a_scans, b_scans, volumes and the repeats");
    }

    const std::string& where_;
};

void check_positive(std::int64_t number, const char* key, const std::string& where) {
    if (number > 0) return;
    throw Error(ErrorCode::bad_setting, "is missing or 0", where + ", scan." + key, "give a number of at least 1");
}

// Returns the number of samples per spectrum that fits the file size if everything else is correct; 0 if there is none.
std::int64_t fitting_samples(const SpectraLayout& layout, const ScanGeometry& geometry, std::int64_t size) {
    const std::int64_t lines = layout.frames * geometry.lines_per_frame();
    const std::int64_t bytes =
        size - layout.offset_bytes - layout.trailer_bytes - layout.frames * layout.frame_offset_bytes;
    if (bytes <= 0 || bytes % lines != 0 || layout.line_bytes % geometry.samples != 0) return 0;
    const std::int64_t sample_bytes = layout.line_bytes / geometry.samples;  // of all channels
    return bytes / lines % sample_bytes == 0 ? bytes / lines / sample_bytes : 0;
}

std::string fitting_text(const SpectraLayout& layout, const ScanGeometry& geometry, std::int64_t size) {
    const std::int64_t samples = fitting_samples(layout, geometry, size);
    return samples == 0 ? "" : fmt::format(", which fits scan.samples = {} instead of {}", samples, geometry.samples);
}

}  // namespace

SpectraLayout spectra_layout(const SpectraFile& file, const RawFormat& format, const ScanGeometry& geometry,
                             const std::string& where) {
    check_positive(geometry.samples, "samples", where);
    check_positive(geometry.a_scans, "a_scans", where);
    check_positive(geometry.b_scans, "b_scans", where);
    RawFormat packed = format;
    packed.line_bytes = 0;
    const std::int64_t needed = line_bytes(packed, geometry);
    if (line_bytes(format, geometry) < needed) {
        throw Error(
            ErrorCode::bad_setting,
            fmt::format("expected at least {} (samples and channels of one line), got {}", needed, format.line_bytes),
            where + ", scan.line_bytes", "give 0 when lines follow without a gap");
    }
    const Bytes bytes(where);
    SpectraLayout layout;
    layout.offset_bytes = file.offset_bytes;
    layout.frame_offset_bytes = file.frame_offset_bytes;
    layout.trailer_bytes = file.trailer_bytes;
    layout.line_bytes = line_bytes(format, geometry);
    layout.frame_bytes = bytes.product(layout.line_bytes, bytes.product(geometry.a_scans, geometry.a_repeats));
    layout.flyback_bytes = bytes.product(layout.line_bytes, geometry.flyback_lines);
    layout.frames_per_volume = bytes.sum(bytes.product(geometry.b_scans, geometry.b_repeats), geometry.flyback_frames);
    layout.frames = bytes.product(layout.frames_per_volume, geometry.volumes);
    const std::int64_t stride =
        bytes.sum(bytes.sum(layout.frame_offset_bytes, layout.frame_bytes), layout.flyback_bytes);
    bytes.sum(bytes.sum(file.offset_bytes, file.trailer_bytes), bytes.product(stride, layout.frames));
    return layout;
}

void check_file_size(const SpectraLayout& layout, const ScanGeometry& geometry, std::int64_t size,
                     const std::string& spectra) {
    const std::int64_t expected = layout.file_bytes();
    if (size == expected) return;
    if (size == 0)
        throw Error(ErrorCode::bad_file, fmt::format("is empty, {} are expected", counted(expected, "bytes")), spectra);
    if (size > expected) {
        if (layout.trailer_bytes == 0 && (size - expected) % layout.volume_bytes() == 0) return;
        throw Error(ErrorCode::bad_file,
                    fmt::format("is {} long, {} more than the scan describes{}", counted(size, "bytes"),
                                size - expected, fitting_text(layout, geometry, size)),
                    spectra,
                    "check scan.samples, a_scans, b_scans, volumes and sample_format; skip a header with "
                    "scan.offset_bytes, a footer with scan.trailer_bytes");
    }
    const std::int64_t lines_end = expected - layout.trailer_bytes;
    if (size >= lines_end) {
        throw Error(ErrorCode::bad_file,
                    fmt::format("ends within its last {}: {} of {}", counted(layout.trailer_bytes, "bytes"), size,
                                counted(expected, "bytes")),
                    spectra, "copy the file again");
    }
    if (size < layout.offset_bytes) {
        throw Error(ErrorCode::bad_file,
                    fmt::format("ends before the first spectrum: {} of {}", size, counted(expected, "bytes")), spectra,
                    "check scan.offset_bytes, or copy the file again");
    }
    const std::int64_t frame = (size - layout.offset_bytes) / layout.frame_stride();
    const std::int64_t b_scan = frame % layout.frames_per_volume / geometry.b_repeats;
    const std::int64_t in_lines = std::max<std::int64_t>(0, size - layout.lines_of_frame(frame));
    throw Error(ErrorCode::bad_file,
                fmt::format("ends in volume {}, B-scan {}, A-scan {} (counted from 0): {} of {}{}",
                            frame / layout.frames_per_volume, std::min(b_scan, geometry.b_scans - 1),
                            std::min(in_lines / layout.line_bytes / geometry.a_repeats, geometry.a_scans - 1), size,
                            counted(expected, "bytes"), fitting_text(layout, geometry, size)),
                spectra,
                "check scan.samples and sample_format; set scan.volumes and scan.b_scans to what was recorded, or copy "
                "the file "
                "again");
}

}  // namespace echolux
