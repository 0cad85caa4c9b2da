// The files of a recording: raw spectra, index, TOML and calibration, written so that at any moment what is on the disk
// opens up to the last whole block. The order that makes it so: bytes, then their row in the index; both are put on the
// disk together at least once a second; the TOML that promises less comes first, the one that promises all comes last.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "compute/place.h"
#include "engine/io/durable_file.h"
#include "engine/live/earlier_recording.h"
#include "engine/live/recording_names.h"
#include "engine/live/threads.h"
#include "engine/scan/recording_index.h"
#include "engine/scan/recording_layout.h"
#include "engine/scan/scan.h"

namespace echolux {

struct RecordingWanted {
    std::filesystem::path scan_toml;  // NAME.toml; NAME.raw, NAME.index.csv and calibration files come beside it
    Scan scan;                        // of the source: its blocks lie in the file as this says
    double line_rate_hz = 0;          // at which the source sends; 0: unknown, and no disk is tried
    std::vector<std::filesystem::path> played_files{};    // of the source, which are not written over
    std::int64_t expected_bytes = 0;                      // 0: unknown; room for them is asked for at once
    std::int64_t max_blocks_held = 8;                     // of the source's pool, at a time
    std::int64_t held_bytes = 0;                          // that these are; 0: unknown
    bool replace = false;                                 // a recording that is there already
    std::string look{};                                   // more sections for the TOML: how it was looked at
    std::string continues{};                              // the recording that this one goes on from
    std::vector<std::filesystem::path> stripe_folders{};  // on further disks, each for stripes of the spectra
    std::int64_t stripe_bytes = usual_stripe_bytes;
};

// What recordings are made with. Tests put other disks and clocks in their place.
struct RecordingTools {
    std::function<std::unique_ptr<DurableFile>(const std::filesystem::path&)> open_raw;  // one that is not there yet
    std::function<std::unique_ptr<DurableFile>(const std::filesystem::path&)> open_index;
    std::function<double()> seconds;     // a steady clock
    Threads* threads = &real_threads();  // of the recorder

    static RecordingTools real();
};

// A block and its place in the recording (Block::volume counts from the recording's first), or what is known of blocks
// that could not be kept.
struct BlockToRecord {
    Block block;
    std::int64_t missing = 0;        // above 0: so many blocks from this one on are missing, and its memory is gone
    std::int64_t interruptions = 0;  // of the source, before this block

    void add_missing(const BlockToRecord& later);
};

// What is known at the end alone.
struct EndOfRecording {
    std::int64_t lost_blocks = 0;     // after the last one
    std::int64_t refused_blocks = 0;  // that did not fit
    std::int64_t unrecorded = 0;      // that no row of the index tells of: there was no memory for it
    std::int64_t interruptions = 0;   // after the last block
};

struct WrittenStats {
    std::int64_t blocks = 0;
    std::int64_t bytes = 0;
    std::int64_t durable_blocks = 0;   // of them, known to be on the disk
    std::int64_t doubtful_blocks = 0;  // of them, written when the disk had failed to flush
    std::int64_t failed_blocks = 0;    // that could not be written
    std::int64_t lost_b_scans = 0;     // positions that no block came for
    std::int64_t interruptions = 0;    // of the source
    std::int64_t syncs = 0;
    double longest_write_s = 0;     // of a block
    double longest_unsynced_s = 0;  // from the writing of a block until it was known to be on the disk

    WrittenStats& operator+=(const WrittenStats& later);
};

class RecordingWriter {
  public:
    // Creates the files. Throws Error{output}: they exist and may not be replaced, cannot be written, or there is not
    // enough room; Error{bad_setting}: sizes that no file can have.
    RecordingWriter(RecordingWanted wanted, RecordingTools tools);
    ~RecordingWriter();  // where no block was written, as if it had never been
    RecordingWriter(const RecordingWriter&) = delete;
    RecordingWriter& operator=(const RecordingWriter&) = delete;

    const RecordingLayout& layout() const { return layout_; }
    const std::filesystem::path& raw_path() const { return scan_.spectra; }
    const std::string& disk_rate() const { return disk_rate_; }  // as check_disk_rate() says it
    const WrittenStats& stats() const { return stats_; }
    bool is_empty() const { return end_.is_empty(); }  // no block is in it

    // Where the recording waits that this one is to replace; empty: there was none, or it is gone, or back.
    const std::filesystem::path& earlier() const { return earlier_.folder(); }

    // Stripes of that one which are still there though it is gone; with the reason, in one line. Empty: there are none.
    std::string stripes_left() const { return earlier_.stripes_left(); }

    // The file system cannot flush folders: after a power cut the names of the files may be missing.
    bool keeps_names() const { return keeps_names_; }

    // Blocks come in the order of the file. Throws Error{output}, or whatever else: the block is missing then; the next
    // one may be written again.
    void take(BlockToRecord block);

    double seconds_to_sync() const;  // at most half a second

    // Does nothing before its time. Throws Error{output}: has_failed() from then on.
    void sync_when_due();

    // The disk could not flush. Linux says so once and may then forget the bytes: nothing written since the last flush
    // that succeeded is trusted any more, whatever later ones say (A. Rebello et al., USENIX ATC 2020).
    bool has_failed() const { return has_failed_; }

    // The files have their true length, and the TOML says all; where no block came, nothing is left, and what was
    // there before is there again. Throws Error{output}: what is there opens as a recording that was cut off.
    void finish(const EndOfRecording& end = {});

  private:
    std::unique_ptr<DurableFile> open_spectra();
    bool keep_names() const;
    void create_files();
    void remove_files() noexcept;
    void count_hole(const BlockToRecord& block);
    IndexRow row_of(const BlockToRecord& block) const;
    void write(const BlockToRecord& entry);
    void note_missing(const BlockToRecord& block);
    void write_missing();
    void append(const IndexRow& row);
    void append(std::string_view text);
    void expect_sync();
    void sync();
    void write_missing_and_sync();
    void close_files();
    void write_toml() const;
    std::filesystem::path index_path() const;
    std::string utc(std::chrono::steady_clock::time_point arrived) const;

    RecordingTools tools_;
    Scan scan_;  // as the TOML says it
    std::string look_;
    std::string disk_rate_;
    RecordingLayout layout_;
    std::vector<std::filesystem::path> made_;  // files
    EarlierRecording earlier_;
    std::unique_ptr<DurableFile> raw_;
    std::unique_ptr<DurableFile> index_;
    std::int64_t raw_end_ = 0;
    std::int64_t index_end_ = 0;
    std::int64_t durable_bytes_ = 0;        // of the raw file
    std::int64_t next_position_ = 0;        // of a B-scan, behind the last block
    bool has_failed_ = false;               // to flush
    bool keeps_names_ = true;               //
    bool is_finished_ = false;              //
    RecordingEnd end_;                      // behind the last block that is whole
    std::optional<BlockToRecord> missing_;  // not in the index yet
    std::optional<double> unsynced_since_;  // nothing: all is on the disk
    std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
    std::chrono::system_clock::time_point start_utc_ = std::chrono::system_clock::now();
    WrittenStats stats_;
};

}  // namespace echolux
