// Where the acquired B-scans (frames) lie in a raw file, in 64-bit bytes: everything that has to be known, and can go
// wrong, before the first sample is read.
#pragma once

#include <cstdint>
#include <string>

#include "compute/plan/params.h"
#include "engine/scan/striping.h"

namespace echolux {

// [scan] keys that say where the samples are.
struct SpectraFile {
    std::string file;     // relative to the TOML file
    std::string stripes;  // further files, where they lie in several: names with semicolons between
    std::int64_t stripe_bytes = usual_stripe_bytes;
    std::int64_t offset_bytes = 0;        // before the first frame
    std::int64_t frame_offset_bytes = 0;  // before the first line of each frame
    std::int64_t trailer_bytes = 0;       // after the last line
};

struct SpectraLayout {
    std::int64_t offset_bytes = 0;        // before the first frame
    std::int64_t frame_offset_bytes = 0;  // before the first line of each frame
    std::int64_t line_bytes = 0;          // from one line to the next, all channels
    std::int64_t frame_bytes = 0;         // the lines of one frame, gaps included
    std::int64_t flyback_bytes = 0;       // the lines after them, while the beam returns
    std::int64_t frames_per_volume = 0;   // those of the flyback included
    std::int64_t frames = 0;              // of the file
    std::int64_t trailer_bytes = 0;       // after the last line

    std::int64_t frame_stride() const { return frame_offset_bytes + frame_bytes + flyback_bytes; }
    std::int64_t volume_bytes() const { return frame_stride() * frames_per_volume; }
    std::int64_t lines_of_frame(std::int64_t frame) const {  // first byte
        return offset_bytes + frame * frame_stride() + frame_offset_bytes;
    }
    std::int64_t file_bytes() const { return offset_bytes + frames * frame_stride() + trailer_bytes; }
};

// Throws Error{bad_setting} naming `where` and the key: sizes that are zero, too small for a line, or whose product no
// file can have.
SpectraLayout spectra_layout(const SpectraFile& file, const RawFormat& format, const ScanGeometry& geometry,
                             const std::string& where);

// Compares with the size of the raw file. A file may hold more whole volumes than described. Throws Error{bad_file}
// naming `spectra` otherwise: a shorter one with the volume, B-scan and A-scan at which it ends.
void check_file_size(const SpectraLayout& layout, const ScanGeometry& geometry, std::int64_t size,
                     const std::string& spectra);

}  // namespace echolux
