// Positions of the acquired B-scans (frames) in a raw file, in 64-bit bytes. Computes and checks all sizes before the
// first sample is read.
#pragma once

#include <cstdint>
#include <string>

#include "compute/plan/params.h"
#include "engine/scan/striping.h"

namespace echolux {

// Keys of [scan] that locate the samples.
struct SpectraFile {
    std::string file;     // relative to the TOML file
    std::string stripes;  // further files of a striped scan: names separated by semicolons
    std::int64_t stripe_bytes = usual_stripe_bytes;
    std::int64_t offset_bytes = 0;        // before the first frame
    std::int64_t frame_offset_bytes = 0;  // before the first line of each frame
    std::int64_t trailer_bytes = 0;       // after the last line
};

// Sizes in bytes.
struct SpectraLayout {
    std::int64_t offset_bytes = 0;        // before the first frame
    std::int64_t frame_offset_bytes = 0;  // before the first line of each frame
    std::int64_t line_bytes = 0;          // distance between lines, with all channels
    std::int64_t frame_bytes = 0;         // lines of a frame, including gaps
    std::int64_t flyback_bytes = 0;       // lines after them, while the beam returns
    std::int64_t frames_per_volume = 0;   // including flyback frames
    std::int64_t frames = 0;              // in the file
    std::int64_t trailer_bytes = 0;       // after the last line

    std::int64_t frame_stride() const { return frame_offset_bytes + frame_bytes + flyback_bytes; }
    std::int64_t volume_bytes() const { return frame_stride() * frames_per_volume; }
    std::int64_t lines_of_frame(std::int64_t frame) const {  // first byte
        return offset_bytes + frame * frame_stride() + frame_offset_bytes;
    }
    std::int64_t file_bytes() const { return offset_bytes + frames * frame_stride() + trailer_bytes; }
};

// Computes the layout. Throws Error{bad_setting}, naming `where` and the key, if sizes are zero, too small for a line,
// or exceed 64 bits.
SpectraLayout spectra_layout(const SpectraFile& file, const RawFormat& format, const ScanGeometry& geometry,
                             const std::string& where);

// Compares the layout with the size of the raw file, which may hold additional whole volumes. Throws Error{bad_file}
// naming `spectra`; if the file is too short, also the volume, B-scan and A-scan at which it ends.
void check_file_size(const SpectraLayout& layout, const ScanGeometry& geometry, std::int64_t size,
                     const std::string& spectra);

}  // namespace echolux
