// Writes the files of a recording: raw spectra, index, TOML and calibration. Whatever is on the disk at any moment can
// be opened up to the last whole block. The order ensures this: bytes first, then their row in the index; both are
// flushed together at least once per second; a TOML that promises less is written first, and the one that promises
// everything last.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "compute/voxel_target.h"
#include "engine/io/durable_file.h"
#include "engine/live/recording_files.h"
#include "engine/live/threads.h"
#include "engine/scan/recording.h"
#include "engine/scan/scan.h"

namespace echolux {

// Parameters of a recording.
struct RecordingRequest {
    // NAME.toml. NAME.raw, NAME.index.csv and calibration files are created next to it.
    std::filesystem::path scan_toml;
    Scan scan;                // scan of the source; blocks are laid out in the file accordingly
    double line_rate_hz = 0;  // line rate of the source; 0: unknown, the disks are not tested
    std::vector<std::filesystem::path> played_files{};  // files of the source; must not be overwritten
    // Expected size, for which room is required at the start. 0: unknown.
    std::int64_t expected_bytes = 0;
    std::int64_t max_blocks_held = 8;                     // max blocks of the source's pool in use
    std::int64_t held_bytes = 0;                          // size of these blocks, 0 if unknown
    bool replace = false;                                 // replace an existing recording of this name
    std::int64_t volumes = 0;                             // recorded from its begin on; 0: until it is ended
    std::string subject{}, note{};                        // as entered by the user
    std::string look{};                                   // more sections for the TOML: the display settings
    std::string continues{};                              // name of the recording that this one continues
    std::vector<std::filesystem::path> stripe_folders{};  // on additional disks, one stripe each
    std::int64_t stripe_bytes = usual_stripe_bytes;
};

// Dependencies of recordings. Tests replace disks and clocks.
struct RecordingTools {
    std::function<std::unique_ptr<DurableFile>(const std::filesystem::path&)> open_raw;  // opens a new file
    std::function<std::unique_ptr<DurableFile>(const std::filesystem::path&)> open_index;
    std::function<double()> seconds;     // a steady clock
    Threads* threads = &real_threads();  // threads of the recorder

    // Returns the disks, clock and threads of the machine.
    static RecordingTools real();
};

// A block at its position in the recording (Block::volume counts from the recording's first), or what is known about
// blocks that were not kept.
struct BlockToRecord {
    Block block;
    // If above 0, this many blocks from this one on are missing, and the block's memory was released.
    std::int64_t missing = 0;
    std::int64_t interruptions = 0;  // interruptions of the source before this block

    // Merges a later missing block that follows directly.
    void add_missing(const BlockToRecord& later);
};

// Counts that are known only at the end.
struct EndOfRecording {
    std::int64_t lost_blocks = 0;     // after the last block
    std::int64_t refused_blocks = 0;  // did not fit the recording
    std::int64_t unrecorded = 0;      // missing from the index for lack of memory
    std::int64_t interruptions = 0;   // interruptions of the source after the last block
};

struct WrittenStats {
    std::int64_t blocks = 0;
    std::int64_t bytes = 0;
    std::int64_t durable_blocks = 0;   // number flushed to the disk
    std::int64_t doubtful_blocks = 0;  // number written after the disk failed to flush
    std::int64_t failed_blocks = 0;    // could not be written
    std::int64_t lost_b_scans = 0;     // positions without a block
    std::int64_t interruptions = 0;    // interruptions of the source
    std::int64_t syncs = 0;
    double longest_write_s = 0;     // longest write of a block
    double longest_unsynced_s = 0;  // longest time until a written block was flushed to the disk

    WrittenStats& operator+=(const WrittenStats& later);
};

// Writes one set of files. Use from one thread.
class RecordingWriter {
  public:
    // Creates and locks the files. Throws Error{output} if they exist and may not be replaced, belong to a running
    // recording, cannot be written, or need more space than is free, and Error{bad_setting} for impossible file sizes.
    RecordingWriter(RecordingRequest wanted, RecordingTools tools);
    ~RecordingWriter();  // removes the files if no block was written, and restores an earlier recording
    RecordingWriter(const RecordingWriter&) = delete;
    RecordingWriter& operator=(const RecordingWriter&) = delete;

    const RecordingLayout& layout() const { return layout_; }
    const std::filesystem::path& raw_path() const { return scan_.spectra; }
    const std::string& disk_rate() const { return disk_rate_; }  // result of check_disk_rate()
    const WrittenStats& stats() const { return stats_; }
    bool is_empty() const { return end_.is_empty(); }  // contains no block

    // Returns the folder of the recording to be replaced. Empty if there was none, or if it was removed or restored.
    const std::filesystem::path& earlier() const { return earlier_.folder(); }

    // Returns one line about stripes of the replaced recording that still exist, and why. Empty if there are none.
    std::string stripes_left() const { return earlier_.stripes_left(); }

    // Returns whether file names are durable. If false, the file system cannot flush folders, and after a power cut the
    // names may be missing.
    bool keeps_names() const { return keeps_names_; }

    // Writes the block. Blocks must come in the order of the file. Throws Error{output} and others; the block is then
    // missing, and the next one may succeed.
    void take(BlockToRecord block);

    double seconds_to_sync() const;  // until sync_when_due() flushes; at most half a second

    // Flushes the files if it is time. Throws Error{output}; has_failed() is true from then on.
    void sync_when_due();

    // Returns whether the disk has failed to flush. Linux reports this once and may then forget the data. Nothing
    // written since the last successful flush is trusted, even if later flushes succeed (A. Rebello et al., USENIX ATC
    // 2020).
    bool has_failed() const { return has_failed_; }

    // Truncates the files to their true length and completes the TOML. Without a block, removes the files and restores
    // the earlier recording. Throws Error{output}; the files then open as an interrupted recording.
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
    Scan scan_;  // as written to the TOML
    std::string look_;
    std::string disk_rate_;
    RecordingLayout layout_;
    std::vector<std::filesystem::path> made_;  // created files
    EarlierRecording earlier_;
    std::unique_ptr<DurableFile> raw_;
    std::unique_ptr<DurableFile> index_;
    std::int64_t raw_end_ = 0;
    std::int64_t index_end_ = 0;
    std::int64_t durable_bytes_ = 0;  // flushed bytes of the raw file
    std::int64_t next_position_ = 0;  // B-scan position after the last block
    bool has_failed_ = false;         // the disk has failed to flush
    bool keeps_names_ = true;
    bool is_finished_ = false;
    RecordingEnd end_;                      // after the last whole block
    std::optional<BlockToRecord> missing_;  // not yet in the index
    std::optional<double> unsynced_since_;  // nullopt if everything is on the disk
    std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
    std::chrono::system_clock::time_point start_utc_ = std::chrono::system_clock::now();
    WrittenStats stats_;
};

}  // namespace echolux
