// Streams raw spectra. Without gaps between frames, a request is a single read.
#include <fmt/format.h>

#include "compute/counted.h"
#include "compute/error.h"
#include "engine/scan/raw_bytes.h"
#include "engine/scan/scan.h"

namespace echolux {

SpectraReader::SpectraReader(const Scan& scan)
    : geometry_(scan.geometry), layout_(spectra_layout(scan.file, scan.format, scan.geometry, scan.path.string())),
      raw_(std::make_unique<RawBytes>(scan)), path_(scan.spectra.string()), size_(raw_->size()) {
    check_size(scan, layout_, *raw_);
}

SpectraReader::~SpectraReader() = default;

std::int64_t SpectraReader::bytes_per_b_scan() const {
    return layout_.frame_bytes * geometry_.b_repeats;
}

void SpectraReader::read(std::int64_t volume, std::int64_t first, std::int64_t b_scans, std::span<std::byte> out) {
    check_request(volume, first, b_scans, static_cast<std::int64_t>(out.size()) == b_scans * bytes_per_b_scan());
    const bool gapless = layout_.frame_stride() == layout_.frame_bytes;
    const std::int64_t piece = gapless ? static_cast<std::int64_t>(out.size()) : layout_.frame_bytes;
    std::int64_t frame = volume * layout_.frames_per_volume + first * geometry_.b_repeats;
    for (std::size_t done = 0; done < out.size(); ++frame) {
        raw_->read(layout_.lines_of_frame(frame), out.subspan(done, static_cast<std::size_t>(piece)));
        done += static_cast<std::size_t>(piece);
    }
}

std::int64_t SpectraReader::recorded_bytes(std::int64_t first, std::int64_t b_scans) const {
    const bool is_last = first + b_scans == geometry_.b_scans;
    return (b_scans * geometry_.b_repeats + (is_last ? geometry_.flyback_frames : 0)) * layout_.frame_stride();
}

void SpectraReader::read_recorded(std::int64_t volume, std::int64_t first, std::int64_t b_scans,
                                  std::span<std::byte> out) {
    check_request(volume, first, b_scans, static_cast<std::int64_t>(out.size()) == recorded_bytes(first, b_scans));
    const std::int64_t frame = volume * layout_.frames_per_volume + first * geometry_.b_repeats;
    raw_->read(layout_.lines_of_frame(frame) - layout_.frame_offset_bytes, out);
}

void SpectraReader::check_request(std::int64_t volume, std::int64_t first, std::int64_t b_scans, bool fits) const {
    const bool inside =
        volume >= 0 && volume < geometry_.volumes && first >= 0 && b_scans >= 0 && b_scans <= geometry_.b_scans - first;
    if (!inside || !fits) {
        throw Error(
            ErrorCode::bad_setting,
            fmt::format("the scan has no {} from {} on in volume {}", counted(b_scans, "B-scans"), first, volume),
            path_);
    }
    const std::int64_t size = raw_->size();
    if (size != size_) {
        throw Error(ErrorCode::bad_file,
                    fmt::format("changed from {} to {} while it was read", size_, counted(size, "bytes")), path_,
                    "wait until the recording is complete");
    }
}

}  // namespace echolux
