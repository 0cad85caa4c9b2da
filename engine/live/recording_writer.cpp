#include "engine/live/recording_writer.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <span>
#include <utility>

#include "compute/error.h"
#include "compute/indexing.h"
#include "engine/build.h"
#include "engine/io/atomic_file.h"
#include "engine/io/durable_file.h"
#include "engine/live/recording_files.h"
#include "engine/scan/raw_spectra.h"
#include "engine/scan/scan.h"

namespace echolux {
namespace {

constexpr double sync_period_s = 0.5;  // half of the allowed loss, because writing a block takes time too
constexpr std::int64_t raw_step_bytes = 256 << 20;
constexpr std::int64_t index_step_bytes = 1 << 20;  // keeps room for the last rows and the TOML on a full disk

using Path = std::filesystem::path;

// Throws if the recording would overwrite the files that are being replayed.
void refuse_own_source(const std::vector<Path>& played_files, const Scan& recorded) {
    std::error_code missing;
    for (const Path& played : played_files) {
        for (const Path& raw : raw_files(recorded)) {
            if (!std::filesystem::equivalent(played, raw, missing)) continue;
            throw Error(ErrorCode::output, "is being replayed", raw.string(), "choose another name");
        }
    }
}

// Returns the free space on the disks of a recording of `bytes`.
std::vector<DiskRoom> rooms_of(const Scan& recorded, std::int64_t bytes) {
    const std::vector<Path> files = raw_files(recorded);
    return disk_rooms(files, Striping(files.size(), recorded.file.stripe_bytes), bytes);
}

// Returns the source's scan as the recording's TOML describes it at the beginning.
Scan recorded(const RecordingRequest& wanted) {
    Scan scan = wanted.scan;
    scan.path = wanted.scan_toml;
    scan.spectra = std::filesystem::absolute(file_of_recording(wanted.scan_toml, ".raw"));
    scan.file.file = scan.spectra.filename().string();
    scan.stripes = stripes_of_recording(wanted.scan_toml, wanted.stripe_folders, wanted.replace);
    scan.file.stripes = text_of_stripes(scan.stripes);
    scan.file.stripe_bytes = wanted.stripe_bytes;
    scan.file.offset_bytes = 0;
    scan.file.trailer_bytes = 0;
    scan.geometry.volumes = 1;
    scan.recording = {};
    scan.recording.index = file_of_recording(wanted.scan_toml, ".index.csv").filename().string();
    scan.recording.continues = wanted.continues;
    scan.recording.subject = wanted.subject;
    scan.recording.note = wanted.note;
    if (!scan.stripes.empty()) scan.recording.folder = scan.spectra.parent_path().lexically_normal().string();
    scan.recording.program = "Echolux " + std::string(version);
    return scan;
}

// Returns the time in ISO 8601 with microseconds.
std::string utc_text(std::chrono::system_clock::time_point time) {
    const auto us = std::chrono::duration_cast<std::chrono::microseconds>(time.time_since_epoch()).count();
    return fmt::format("{:%Y-%m-%dT%H:%M:%S}.{:06}Z", fmt::gmtime(static_cast<std::time_t>(us / 1000000)),
                       us % 1000000);
}

}  // namespace

RecordingTools RecordingTools::real() {
    const auto opener = [](DirectFile::Caching caching) {
        return [caching](const Path& path) -> std::unique_ptr<DurableFile> {
            return std::make_unique<DirectFile>(path, caching);
        };
    };
    const auto seconds = [] {
        return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
    };
    return {opener(DirectFile::Caching::none), opener(DirectFile::Caching::system), seconds};
}

void BlockToRecord::add_missing(const BlockToRecord& later) {
    missing += later.missing;
    interruptions += later.interruptions;
    block.b_scans += later.block.b_scans;
    block.lost_before += later.block.lost_before;
}

WrittenStats& WrittenStats::operator+=(const WrittenStats& later) {
    blocks += later.blocks;
    bytes += later.bytes;
    durable_blocks += later.durable_blocks;
    doubtful_blocks += later.doubtful_blocks;
    failed_blocks += later.failed_blocks;
    lost_b_scans += later.lost_b_scans;
    interruptions += later.interruptions;
    syncs += later.syncs;
    longest_write_s = std::max(longest_write_s, later.longest_write_s);
    longest_unsynced_s = std::max(longest_unsynced_s, later.longest_unsynced_s);
    return *this;
}

RecordingWriter::RecordingWriter(RecordingRequest wanted, RecordingTools tools)
    : tools_(std::move(tools)), scan_(recorded(wanted)), look_(wanted.look), layout_(scan_) {
    {
        const FolderTurn turn(scan_.path);  // no other recorder is between creating and locking a file
        check_recording_name(scan_.path, wanted.replace, wanted.stripe_folders);
    }
    refuse_own_source(wanted.played_files, scan_);
    check_can_be_written(scan_.path);
    const std::vector<DiskRoom> rooms = rooms_of(scan_, wanted.expected_bytes);
    check_room(rooms);
    if (wanted.continues.empty()) disk_rate_ = check_disk_rate(wanted, scan_, rooms, tools_);
    // Another recorder may have started since the name was checked. After this turn, the lock of the spectra keeps
    // others out.
    std::optional<FolderTurn> turn(std::in_place, scan_.path);
    check_recording_name(scan_.path, wanted.replace, wanted.stripe_folders);
    if (wanted.replace) {
        const std::vector<Path> files{scan_.path, scan_.spectra, index_path()};
        earlier_ = EarlierRecording(scan_.path, files, truth_of_recording(scan_.path));
    }
    try {
        create_files();
    } catch (...) {
        remove_files();
        throw;
    }
    turn.reset();
    raw_->reserve(std::max(wanted.expected_bytes, raw_step_bytes));
}

RecordingWriter::~RecordingWriter() {
    if (is_finished_ || !end_.is_empty()) return;
    const FolderTurn turn(scan_.path);
    remove_files();
}

Path RecordingWriter::index_path() const {
    return scan_.path.parent_path() / scan_.recording.index;
}

std::unique_ptr<DurableFile> RecordingWriter::open_spectra() {
    std::vector<std::unique_ptr<DurableFile>> files;
    for (const Path& path : raw_files(scan_)) {
        files.push_back(tools_.open_raw(path));
        made_.push_back(path);
    }
    return as_one(std::move(files), scan_.file.stripe_bytes);
}

// Flushes the folders. Returns false if some file system cannot do this.
bool RecordingWriter::keep_names() const {
    bool all = true;
    for (const Path& stripe : scan_.stripes) all &= make_durable(stripe.parent_path());
    return all & make_durable(scan_.path.parent_path());
}

void RecordingWriter::create_files() {
    raw_ = open_spectra();  // first: its creator owns the names of all other files
    copy_calibration(scan_, made_);
    index_ = tools_.open_index(index_path());
    made_.push_back(index_path());
    append(index_heading());
    sync();
    keeps_names_ = keep_names();  // before the name of the TOML, which needs the other files to open
    scan_.recording.started = utc_text(start_utc_);
    made_.push_back(scan_.path);
    write_toml();
}

// Removes the spectra last and while locked: another recording of this name starts only after all files are gone.
void RecordingWriter::remove_files() noexcept {
    std::error_code ignored;
    const std::vector<Path> made = std::exchange(made_, {});
    for (auto path = made.rbegin(); path != made.rend(); ++path) {
        if (!std::filesystem::remove(*path, ignored) || *path != scan_.path) continue;
        try {
            // A TOML that reappears after a power cut cannot be opened without the others.
            make_durable(scan_.path.parent_path());
        } catch (const std::exception&) {
        }
    }
    raw_.reset();
    index_.reset();
    earlier_.put_back();
}

void RecordingWriter::take(BlockToRecord block) {
    count_hole(block);
    if (block.missing > 0) {
        note_missing(block);
        return;
    }
    try {
        write(block);
    } catch (...) {
        ++stats_.failed_blocks;
        block.missing = 1;
        note_missing(block);
        throw;
    }
}

// Uses positions instead of sequence numbers: the first block of a volume may be lost, and a camera may return without
// sending the rest of a volume.
void RecordingWriter::count_hole(const BlockToRecord& entry) {
    const Block& block = entry.block;
    const std::int64_t position = layout_.position_of(block.volume, block.first_b_scan);
    stats_.lost_b_scans += std::max<std::int64_t>(0, position - next_position_);
    next_position_ = position + block.b_scans;
    stats_.interruptions += entry.interruptions;
    scan_.recording.lost_blocks += block.lost_before;
}

void RecordingWriter::write(const BlockToRecord& entry) {
    const Block& block = entry.block;
    const double begin = tools_.seconds();
    IndexRow row = row_of(entry);
    const std::span bytes(block.data, index(block.bytes));
    raw_->reserve((row.end() / raw_step_bytes + 1) * raw_step_bytes);
    expect_sync();
    raw_->write(row.byte_offset, bytes);
    const std::int64_t end = layout_.place_of(block.volume, block.first_b_scan, block.b_scans).value().end();
    constexpr std::byte zero{};
    // Leave a hole for flyback frames that were not sent.
    if (row.end() < end) raw_->write(end - 1, {&zero, 1});
    raw_end_ = end;
    row.crc32 = crc32_of_many(bytes);
    write_missing();
    append(row);
    end_ = RecordingEnd::after(block.volume, block.first_b_scan + block.b_scans, layout_.b_scans());
    ++stats_.blocks;
    stats_.doubtful_blocks = has_failed_ ? stats_.blocks - stats_.durable_blocks : 0;
    stats_.bytes += block.bytes;
    stats_.longest_write_s = std::max(stats_.longest_write_s, tools_.seconds() - begin);
}

void RecordingWriter::note_missing(const BlockToRecord& block) {
    scan_.recording.missing_blocks += block.missing;
    if (missing_) {
        missing_->add_missing(block);
    } else {
        missing_ = block;
        missing_->block.keeper.reset();
    }
    expect_sync();
}

void RecordingWriter::write_missing() {
    if (!missing_) return;
    append(row_of(*missing_));
    missing_.reset();
}

IndexRow RecordingWriter::row_of(const BlockToRecord& entry) const {
    const Block& block = entry.block;
    IndexRow row;
    row.sequence = block.sequence;
    row.volume = block.volume;
    row.first_b_scan = block.first_b_scan;
    row.b_scans = block.b_scans;
    const std::int64_t placed = entry.missing > 0 ? 1 : block.b_scans;
    row.byte_offset = layout_.place_of(block.volume, block.first_b_scan, placed).value().begin;
    row.bytes = entry.missing > 0 ? 0 : block.bytes;
    row.time_s = block.time_s;
    row.arrived_utc = utc(block.arrived);
    row.lost_before = block.lost_before;
    row.missing = entry.missing;
    row.durable_bytes = durable_bytes_;
    row.interruptions = entry.interruptions;
    return row;
}

std::string RecordingWriter::utc(std::chrono::steady_clock::time_point arrived) const {
    return utc_text(start_utc_ + std::chrono::duration_cast<std::chrono::system_clock::duration>(arrived - start_));
}

void RecordingWriter::append(const IndexRow& row) {
    append(text_of(row));
}

void RecordingWriter::append(std::string_view text) {
    index_->reserve((index_end_ / index_step_bytes + 2) * index_step_bytes);
    index_->write(index_end_, std::as_bytes(std::span(text)));
    index_end_ += std::ssize(text);
}

void RecordingWriter::expect_sync() {
    if (!unsynced_since_) unsynced_since_ = tools_.seconds();
}

double RecordingWriter::seconds_to_sync() const {
    if (!unsynced_since_) return sync_period_s;
    return std::clamp(*unsynced_since_ + sync_period_s - tools_.seconds(), 0.0, sync_period_s);
}

void RecordingWriter::sync_when_due() {
    if (seconds_to_sync() > 0) return;
    // Retry a failed flush after another period.
    const double since = *std::exchange(unsynced_since_, tools_.seconds());
    write_missing_and_sync();
    unsynced_since_.reset();
    stats_.longest_unsynced_s = std::max(stats_.longest_unsynced_s, tools_.seconds() - since);
}

void RecordingWriter::sync() {
    try {
        raw_->sync();
        if (!has_failed_) durable_bytes_ = raw_end_;
        index_->sync();
    } catch (...) {
        has_failed_ = true;
        stats_.doubtful_blocks = stats_.blocks - stats_.durable_blocks;
        throw;
    }
    if (has_failed_) return;
    ++stats_.syncs;
    stats_.durable_blocks = stats_.blocks;
    if (!end_.is_empty()) earlier_.remove();
}

// Flushes written blocks even if the index has no room for the missing ones.
void RecordingWriter::write_missing_and_sync() {
    std::exception_ptr problem;
    try {
        write_missing();
    } catch (const std::exception&) {
        problem = std::current_exception();
    }
    sync();
    if (problem) std::rethrow_exception(problem);
}

void RecordingWriter::close_files() {
    raw_->end_at(raw_end_);
    write_missing();
    index_->end_at(index_end_);
    sync();
}

void RecordingWriter::finish(const EndOfRecording& end) {
    is_finished_ = true;
    if (end_.is_empty()) {
        const FolderTurn turn(scan_.path);
        return remove_files();
    }
    std::exception_ptr problem;
    try {
        close_files();
    } catch (...) {
        if (!has_failed_) throw;
        problem = std::current_exception();
    }
    RecordingNotes& notes = scan_.recording;
    notes.lost_blocks += end.lost_blocks;
    notes.missing_blocks += end.unrecorded;
    notes.refused_blocks = end.refused_blocks;
    notes.interruptions = stats_.interruptions += end.interruptions;
    notes.lost_b_scans = stats_.lost_b_scans;
    notes.doubtful_blocks = stats_.doubtful_blocks;
    if (!has_failed_) {  // after a failure, readers check each doubtful block
        describe_end(scan_, end_, raw_end_);
        notes.finished = true;
        notes.complete = notes.is_complete();
    }
    write_toml();
    if (problem) std::rethrow_exception(problem);
}

// Writes to a temporary name first, so that a power cut leaves either the old or the new TOML, whole.
void RecordingWriter::write_toml() const {
    const std::string look = look_.empty() ? "" : "\n" + look_;
    write_text(scan_.path, scan_toml_heading + ("\n" + scan_toml(scan_)) + look);
}

}  // namespace echolux
