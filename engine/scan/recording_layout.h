// Which bytes of a recording belong to which block: a function of the block's volume and B-scans alone, so that a block
// that is missing leaves a hole and nothing behind it shifts.
#pragma once

#include <cstdint>
#include <optional>

#include "engine/scan/scan.h"

namespace echolux {

struct BytePlace {
    std::int64_t begin = 0;
    std::int64_t bytes = 0;
    std::int64_t flyback_bytes = 0;  // of them, at the end: flyback frames, which not every source sends

    std::int64_t end() const { return begin + bytes; }
    bool takes(std::int64_t count) const { return count == bytes || count == bytes - flyback_bytes; }
};

class RecordingLayout {
  public:
    // Of a scan as it stands in a recording's TOML. Throws as spectra_layout().
    explicit RecordingLayout(const Scan& scan);

    // B-scan positions [first, first + b_scans) of `volume`; the flyback frames have their place behind the last of
    // them. Nothing: no such B-scans.
    std::optional<BytePlace> place_of(std::int64_t volume, std::int64_t first, std::int64_t b_scans) const;

    std::int64_t b_scans() const { return b_scans_; }

    // Of a B-scan, counted from the first one of the file.
    std::int64_t position_of(std::int64_t volume, std::int64_t b_scan) const { return volume * b_scans_ + b_scan; }
    std::int64_t frame_offset_bytes() const { return layout_.frame_offset_bytes; }
    std::int64_t frame_stride() const { return layout_.frame_stride(); }

  private:
    SpectraLayout layout_;
    std::int64_t b_scans_;
    std::int64_t b_repeats_;
};

// Where a recording ends: `volumes` whole ones, then a volume of which only the first B-scans are there.
struct RecordingEnd {
    std::int64_t volumes = 0;
    std::int64_t b_scans = 0;  // of the volume after them

    static RecordingEnd after(std::int64_t volume, std::int64_t next_b_scan, std::int64_t b_scans_a_volume);
    bool is_empty() const { return volumes == 0 && b_scans == 0; }
};

// Makes `scan` describe what there is of a raw file of `file_bytes`: its whole volumes, the rest as a trailer. Where no
// volume is whole, the B-scans that are there are the volume.
void describe_end(Scan& scan, const RecordingEnd& end, std::int64_t file_bytes);

// Makes `scan`, of a recording that was cut off (the program killed, a power cut, a full disk), end with its last whole
// block: sets volumes, or B-scans where no volume is whole, and the notes. Rows of the index that say more than was
// known to be on the disk are checked against the bytes. Throws Error{bad_file}: index missing; not one whole block.
void end_at_last_whole_block(Scan& scan);

// Of a recording in stripes: whether its first blocks, with a stripe of every file if these are not too large, are
// those of its index. Nothing is checked without one. Throws Error{bad_file}: files belong to different recordings, or
// are named in another order than they were written.
void check_stripes(const Scan& scan);

}  // namespace echolux
