#include "engine/scan/recording_layout.h"

#include "engine/scan/scan_pattern.h"

namespace echolux {

RecordingLayout::RecordingLayout(const Scan& scan)
    : layout_(spectra_layout(scan.file, scan.format, scan.geometry, scan.path.string())),
      b_scans_(scan.geometry.b_scans), b_repeats_(scan.geometry.b_repeats) {}

std::optional<BytePlace> RecordingLayout::place_of(std::int64_t volume, std::int64_t first,
                                                   std::int64_t b_scans) const {
    constexpr std::int64_t largest_file = std::int64_t{1} << 60;
    if (volume < 0 || first < 0 || b_scans < 1 || first >= b_scans_ || b_scans > b_scans_ - first) return {};
    if (volume >= largest_file / layout_.volume_bytes()) return {};
    const std::int64_t b_scan_bytes = layout_.frame_stride() * b_repeats_;
    const std::int64_t begin = first * b_scan_bytes;
    const bool ends_volume = first + b_scans == b_scans_;
    const std::int64_t flyback = ends_volume ? layout_.volume_bytes() - b_scans_ * b_scan_bytes : 0;
    return BytePlace{layout_.offset_bytes + volume * layout_.volume_bytes() + begin, b_scans * b_scan_bytes + flyback,
                     flyback};
}

RecordingEnd RecordingEnd::after(std::int64_t volume, std::int64_t next_b_scan, std::int64_t b_scans_a_volume) {
    if (next_b_scan == b_scans_a_volume) return {volume + 1, 0};
    return {volume, next_b_scan};
}

void describe_end(Scan& scan, const RecordingEnd& end, std::int64_t file_bytes) {
    scan.recording.last_volume_b_scans = end.b_scans;
    scan.geometry.volumes = end.volumes;
    if (end.volumes == 0) {
        scan.geometry.volumes = 1;
        scan.geometry.b_scans = end.b_scans;
        scan.geometry.flyback_frames = 0;                                           // follow the last B-scan
        if (!has_raster(scan.geometry)) scan.geometry.protocol = Protocol::raster;  // others need all their B-scans
    }
    scan.file.trailer_bytes = 0;
    scan.file.trailer_bytes =
        file_bytes - spectra_layout(scan.file, scan.format, scan.geometry, scan.path.string()).file_bytes();
}

}  // namespace echolux
