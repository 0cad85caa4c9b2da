// A live recording as read from disk: its notes, the index of its blocks, their byte ranges, the B-scans that it lacks,
// and the end of one that was cut off. engine/live/recording_writer.h writes these files.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/scan/raw_spectra.h"

namespace echolux {

struct Scan;

// ---- Section [recording] of a recording's TOML file (docs/recordings.md).

struct RecordingNotes {
    std::string index;      // CSV file with its blocks, relative to the TOML file; empty: not a live recording
    bool complete = false;  // finished, and nothing is missing
    bool finished = false;  // finished, not cut off
    std::int64_t missing_blocks = 0;       // received but not recorded
    std::int64_t lost_blocks = 0;          // lost by the source, according to its counter and sequence numbers
    std::int64_t lost_b_scans = 0;         // positions without a block, between the first and the last
    std::int64_t refused_blocks = 0;       // received, with the wrong size or order
    std::int64_t interruptions = 0;        // failures of the source
    std::int64_t doubtful_blocks = 0;      // written after the last successful flush
    std::string continues;                 // recording that this one continues; empty: none
    std::int64_t last_volume_b_scans = 0;  // of an incomplete last volume; 0: all are complete
    std::string folder;                    // where a striped recording was made: it owns its stripes only there
    std::string subject;                   // as entered by the user; empty: none
    std::string note;                      // as entered by the user; empty: none
    std::string started;                   // UTC, ISO 8601
    std::string program;                   // name and version

    // Whether a live recording ended without being finished.
    bool was_cut() const { return !index.empty() && !finished && !complete; }
    // Whether no data is missing or doubtful.
    bool is_complete() const;
};

// ---- The index of a recording: a CSV file with one line per block, written after the block's data, and readable by
// any program that reads tables (docs/recordings.md).

// One line of the index.
struct IndexRow {
    std::uint64_t sequence = 0;      // assigned by the source
    std::int64_t volume = 0;         // number in the file
    std::int64_t first_b_scan = 0;   // position within its volume
    std::int64_t b_scans = 0;        // number of positions
    std::int64_t byte_offset = 0;    // in the raw file
    std::int64_t bytes = 0;          // 0 if missing
    double time_s = 0;               // first line, by the source's clock
    std::string arrived_utc;         // ISO 8601
    std::int64_t lost_before = 0;    // blocks lost by the source before this one
    std::int64_t missing = 0;        // number of unrecorded blocks, starting with this one; 0: this block was recorded
    std::uint32_t crc32 = 0;         // of the block's bytes, as in zlib
    std::int64_t durable_bytes = 0;  // size of the raw file known to be on disk when the row was written
    std::int64_t interruptions = 0;  // failures of the source, with recovery, before this block

    std::int64_t end() const { return byte_offset + bytes; }
    bool operator==(const IndexRow&) const = default;
};

// Both texts end with a line feed.
std::string_view index_heading();
std::string text_of(const IndexRow& row);

// Parses one line without its line feed. Returns std::nullopt if the row is incomplete.
std::optional<IndexRow> index_row(std::string_view line);

// Calls `take` for each row until it returns false, the file ends, or a row is incomplete. Rows after an incomplete one
// may have been damaged by a power cut. Throws Error{bad_file} if the file is missing or not an index.
void read_index(const std::filesystem::path& path, const std::function<bool(const IndexRow&)>& take);

// ---- Text about the data that a recording lacks, shown first by all that open it.

// Returns "recording was not finished: 2 blocks missing" or "recording is incomplete: ..." with all counts. Empty if
// nothing is missing or the scan is not a recording.
std::string lack_of(const RecordingNotes& notes);

// ---- Byte range of each block in a recording. It depends only on the block's volume and B-scans, so a missing block
// leaves a hole and does not shift later blocks.

// Range of bytes in the raw file.
struct FileRange {
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
    std::optional<FileRange> place_of(std::int64_t volume, std::int64_t first, std::int64_t b_scans) const;

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

// ---- B-scans of a recording without spectra, because the source lost their blocks or they could not be written. The
// raw file contains zeros instead. Their voxels have no value and are ignored by means and ranges.

// Positions [begin, end) of a volume.
struct MissingBScans {
    std::int64_t volume = 0;
    std::int64_t begin = 0;
    std::int64_t end = 0;

    bool operator==(const MissingBScans&) const = default;
};

// Returns the missing B-scans of `scan`, in order, from the index of its recording. A B-scan is missing if any byte of
// it is. Empty for complete recordings and for scans that are not recordings. Throws Error{bad_file} like read_index().
std::vector<MissingBScans> missing_b_scans(const Scan& scan);

// Sets scan.missing and adds the counts to scan.remarks, or a warning if the index cannot be read.
void find_missing(Scan& scan);

// A run of B-scans that are all missing or all present.
struct BScanRun {
    std::int64_t end = 0;
    bool is_missing = false;
};
BScanRun run_from(const std::vector<MissingBScans>& missing, std::int64_t volume, std::int64_t begin, std::int64_t end);

inline bool is_missing(const std::vector<MissingBScans>& missing, std::int64_t volume, std::int64_t b_scan) {
    return run_from(missing, volume, b_scan, b_scan + 1).is_missing;
}

// Returns the numbers of the volumes with missing B-scans.
std::vector<std::int64_t> incomplete_volumes(const std::vector<MissingBScans>& missing);

// Returns the missing slices of a volume made of the B-scans `part`, with `slices` per B-scan, as "32:64 96:97". Empty
// if none is missing.
std::string missing_slices(const std::vector<MissingBScans>& missing, const MissingBScans& part, std::int64_t slices);

// Returns "recording is incomplete: 2 blocks missing; 32 of 256 B-scans of 1 of 4 volumes have no data". Empty if none
// is missing.
std::string text_of_missing(const Scan& scan);

}  // namespace echolux
