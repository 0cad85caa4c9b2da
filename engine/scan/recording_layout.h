// Byte range of each block in a recording. It depends only on the block's volume and B-scans, so a missing block leaves
// a hole and does not shift later blocks.
#pragma once

#include <cstdint>
#include <optional>

#include "engine/scan/scan.h"

namespace echolux {

// Range of bytes in the raw file.
struct BytePlace {
    std::int64_t begin = 0;
    std::int64_t bytes = 0;
    std::int64_t flyback_bytes = 0;  // final bytes for flyback frames, which some sources do not send

    std::int64_t end() const { return begin + bytes; }
    bool takes(std::int64_t count) const { return count == bytes || count == bytes - flyback_bytes; }
};

// Computes byte ranges from the layout of a scan.
class RecordingLayout {
  public:
    // `scan` is described by the recording's TOML file. Throws as spectra_layout().
    explicit RecordingLayout(const Scan& scan);

    // Returns the range of B-scan positions [first, first + b_scans) of `volume`. It includes the flyback frames after
    // the last position. Returns std::nullopt if there are no such B-scans.
    std::optional<BytePlace> place_of(std::int64_t volume, std::int64_t first, std::int64_t b_scans) const;

    std::int64_t b_scans() const { return b_scans_; }

    // Returns the position of a B-scan counted from the beginning of the file.
    std::int64_t position_of(std::int64_t volume, std::int64_t b_scan) const { return volume * b_scans_ + b_scan; }
    std::int64_t frame_offset_bytes() const { return layout_.frame_offset_bytes; }
    std::int64_t frame_stride() const { return layout_.frame_stride(); }

  private:
    SpectraLayout layout_;
    std::int64_t b_scans_;
    std::int64_t b_repeats_;
};

// End of a recording: `volumes` complete volumes, followed by the first B-scans of another one.
struct RecordingEnd {
    std::int64_t volumes = 0;
    std::int64_t b_scans = 0;  // of the incomplete volume

    static RecordingEnd after(std::int64_t volume, std::int64_t next_b_scan, std::int64_t b_scans_a_volume);
    bool is_empty() const { return volumes == 0 && b_scans == 0; }
};

// Changes `scan` to describe a raw file of `file_bytes` with this end: complete volumes, with the rest as a trailer. If
// no volume is complete, the existing B-scans become the volume.
void describe_end(Scan& scan, const RecordingEnd& end, std::int64_t file_bytes);

// Limits `scan`, a recording that was cut off (killed program, power cut, full disk), to its last whole block. Sets
// volumes (or B-scans if no volume is complete) and the notes. Blocks beyond the size known to be on disk are verified
// by their checksums. Throws Error{bad_file} if the index is missing or no block is whole.
void end_at_last_whole_block(Scan& scan);

// Checks that the stripes of a recording belong together, by comparing its first blocks with the index. Covers a stripe
// of each file unless stripes are very large. Does nothing without an index. Throws Error{bad_file} if files belong to
// different recordings or are named in the wrong order.
void check_stripes(const Scan& scan);

}  // namespace echolux
