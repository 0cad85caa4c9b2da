#include "engine/live/recorder.h"

#include <fmt/format.h>
#include <algorithm>
#include <chrono>
#include <new>
#include <utility>

#include "compute/plan/describe_stats.h"
#include "compute/plural.h"
#include "engine/live/recording_files.h"

namespace echolux {

namespace {

std::int64_t checked_share(std::int64_t max_blocks_held) {
    if (max_blocks_held >= 1) return max_blocks_held;
    throw Error(ErrorCode::bad_setting, "a recorder must hold at least one block", "record",
                "use a pool of more blocks");
}

constexpr double try_again_after_s = 10;  // after a failed flush

// Returns the first unused name of NAME-2.toml, NAME-3.toml, ...
std::filesystem::path next_name(const RecordingRequest& wanted) {
    for (int number = 2;; ++number) {
        std::filesystem::path name = wanted.scan_toml;
        name.replace_filename(fmt::format("{}-{}.toml", wanted.scan_toml.stem().string(), number));
        std::vector<std::filesystem::path> files = stripes_of_recording(name, wanted.stripe_folders);
        for (const std::filesystem::path& file : files_of_recording(name)) files.push_back(file);
        if (std::ranges::none_of(files, is_taken)) return name;
    }
}

std::string expected_bytes(const FileRange& place) {
    if (place.flyback_bytes == 0) return fmt::format("{} are expected", place.bytes);
    return fmt::format("{} are expected, or {} without the flyback frames behind the volume", place.bytes,
                       place.bytes - place.flyback_bytes);
}

}  // namespace

template <>
const std::vector<Stat<RecorderStats>>& describe_stats<RecorderStats>() {
    using S = RecorderStats;
    static const std::vector<Stat<S>> all = joined_stats<S>({
        statistic<S>("blocks", &S::blocks, "blocks", "in the files"),
        statistic<S>("bytes", &S::bytes, "bytes", "of these blocks"),
        statistic<S>("durable_blocks", &S::durable_blocks, "blocks", "flushed to the disk"),
        statistic<S>("doubtful_blocks", &S::doubtful_blocks, "blocks", "written after the disk failed to flush"),
        statistic<S>("missing_blocks", &S::missing_blocks, "blocks",
                     "received but not recorded: the disk was too slow or full"),
        statistic<S>("lost_blocks", &S::lost_blocks, "blocks", "lost by the source"),
        statistic<S>("lost_b_scans", &S::lost_b_scans, "B-scans", "positions without a block"),
        statistic<S>("interruptions", &S::interruptions, "", "failures of the source"),
        statistic<S>("files", &S::files, "", "recordings: NAME and its continuations after failures of the disk"),
        statistic<S>("refused_blocks", &S::refused_blocks, "blocks", "repeated, out of order, or of the wrong size"),
        statistic<S>("not_recorded_blocks", &S::blocks_not_in_it, "blocks", "missing, lost and rejected"),
        statistic<S>("max_blocks_held", &S::max_blocks_held, "blocks", "max waiting for the disk"),
        statistic<S>("syncs", &S::syncs, "", "flushes of the disk"),
        statistic<S>("longest_write_s", &S::longest_write_s, "s", "of a block"),
        statistic<S>("longest_unsynced_s", &S::longest_unsynced_s, "s",
                     "until a written block was flushed to the disk"),
        statistic<S>(
            "problem", [](const S& s) { return s.problem ? StatValue(s.problem->line()) : StatValue(nullptr); }, "",
            "error of the disk; null: none"),
    });
    return all;
}

Recorder::Recorder(RecordingRequest wanted, RecordingTools tools)
    : max_blocks_held_(checked_share(wanted.max_blocks_held)), tools_(std::move(tools)), threads_(*tools_.threads),
      wanted_(std::move(wanted)), writer_(std::make_unique<RecordingWriter>(wanted_, tools_)),
      layout_(writer_->layout()), path_(writer_->raw_path()), keeps_names_(writer_->keeps_names()),
      disk_rate_(writer_->disk_rate()), raw_files_{path_},
      thread_(threads_.start([this](const std::stop_token&) { work(); })) {}

Recorder::~Recorder() {
    finish();
}

bool Recorder::offer(const Block& block) {
    if (!has_begun(block) || has_all_volumes(block)) return true;
    BlockToRecord entry{block};
    entry.block.volume -= *first_volume_;
    std::string refusal = misfit(entry.block);
    const std::scoped_lock lock(mutex_);
    if (is_ending_) return false;
    if (!refusal.empty()) {
        ++stats_.refused_blocks;
        refusal_ = std::move(refusal);
        note_refused(block);
        return false;
    }
    const auto left_out = static_cast<std::int64_t>(block.sequence - next_sequence_);
    entry.block.lost_before = lost_at_refused_ + std::max({block.lost_before, left_out, lost_since_});
    entry.interruptions = interruptions_since_;
    lost_since_ = lost_at_refused_ = interruptions_since_ = 0;
    // Losses before the recording do not count.
    if (next_place_ == 0) entry.block.lost_before = entry.interruptions = 0;
    if (block.arrived == std::chrono::steady_clock::time_point{})
        entry.block.arrived = std::chrono::steady_clock::now();
    next_sequence_ = block.sequence + 1;
    next_place_ = layout_.place_of(entry.block.volume, block.first_b_scan, block.b_scans).value().end();
    stats_.lost_blocks += entry.block.lost_before;
    if (stats_.blocks_held == 0) {
        backlog_s_ = tools_.seconds();
        backlog_disk_s_ = 0;
        backlog_arrived_bytes_ = backlog_written_bytes_ = 0;
    }
    backlog_arrived_bytes_ += block.bytes;
    const bool has_room = stats_.blocks_held < max_blocks_held_;
    const bool can_continue = has_room && !disk_problem_ && !is_out_of_memory_;
    try {
        if (has_room) {
            queue_.push_back(std::move(entry));
            stats_.max_blocks_held = std::max(stats_.max_blocks_held, ++stats_.blocks_held);
        } else {
            leave_out(std::move(entry));
        }
    } catch (const std::bad_alloc&) {
        ++unrecorded_blocks_;
        return false;
    }
    ready_.notify_one();
    return can_continue;
}

// Counts a refused block as refused and not as lost; losses of the source before it still count.
void Recorder::note_refused(const Block& block) {
    if (block.sequence < next_sequence_) return;
    const auto left_out = static_cast<std::int64_t>(block.sequence - next_sequence_);
    lost_at_refused_ += std::max({block.lost_before, left_out, std::exchange(lost_since_, 0)});
    next_sequence_ = block.sequence + 1;
}

void Recorder::note_lost(std::int64_t blocks) {
    const std::scoped_lock lock(mutex_);
    if (!stats_.has_all_volumes) lost_since_ += blocks;
}

void Recorder::note_interruption() {
    const std::scoped_lock lock(mutex_);
    if (!stats_.has_all_volumes) ++interruptions_since_;
}

// Blocks that were lost before the first surplus one may belong to the last volume.
bool Recorder::has_all_volumes(const Block& block) {
    if (wanted_.volumes == 0 || block.volume - *first_volume_ < wanted_.volumes) return false;
    const std::scoped_lock lock(mutex_);
    const auto left_out = static_cast<std::int64_t>(block.sequence - next_sequence_);
    if (!stats_.has_all_volumes) lost_since_ = std::max({block.lost_before, left_out, lost_since_});
    stats_.has_all_volumes = true;
    return true;
}

// Compares the rate at which the disk accepts data with that at which it arrives, since blocks began to wait. If the
// writing thread did not get to the disk, the computer is the reason.
bool Recorder::is_disk_behind() const {
    const double now_s = tools_.seconds(), backlog_s = now_s - backlog_s_;
    const double disk_s = backlog_disk_s_ + (disk_since_s_ ? now_s - std::max(*disk_since_s_, backlog_s_) : 0);
    if (backlog_written_bytes_ == 0) return disk_since_s_.has_value();
    return static_cast<double>(backlog_written_bytes_) * backlog_s <
           static_cast<double>(backlog_arrived_bytes_) * disk_s;
}

bool Recorder::has_begun(const Block& block) {
    if (first_volume_) return true;
    if (!seen_volume_) seen_volume_ = block.volume;
    if (block.first_b_scan == 0 || block.volume != *seen_volume_) first_volume_ = block.volume;
    return first_volume_.has_value();
}

std::string Recorder::misfit(const Block& block) const {
    if (block.memory == MemoryKind::device) return "is in GPU memory: only host memory can be recorded";
    const auto place = layout_.place_of(block.volume, block.first_b_scan, block.b_scans);
    if (!place) {
        return fmt::format("has {} from {} on: a volume has {}", plural(block.b_scans, "B-scans"), block.first_b_scan,
                           layout_.b_scans());
    }
    if (place->begin < next_place_) return "is repeated or out of order";
    if (!place->takes(block.bytes))
        return fmt::format("has {}, {}", plural(block.bytes, "bytes"), expected_bytes(*place));
    const bool is_gapless = block.frames.stride_bytes == 0 && layout_.frame_offset_bytes() == 0;
    const std::int64_t stride = is_gapless ? layout_.frame_stride() : block.frames.stride_bytes;
    if (block.frames.offset_bytes != layout_.frame_offset_bytes() || stride != layout_.frame_stride()) {
        return fmt::format("has B-scans with headers of {}, {} apart: {} and {} are expected",
                           plural(block.frames.offset_bytes, "bytes"), stride, layout_.frame_offset_bytes(),
                           layout_.frame_stride());
    }
    return {};
}

// Marks the block as missing and releases its memory.
void Recorder::leave_out(BlockToRecord block) {
    block.missing = 1;
    block.block.keeper.reset();
    if (!queue_.empty() && queue_.back().missing > 0)
        queue_.back().add_missing(block);
    else
        queue_.push_back(std::move(block));
    ++too_slow_blocks_;
    disk_is_behind_ = disk_is_behind_ || is_disk_behind();
}

void Recorder::work() {
    for (bool runs = true; runs;) {
        BlockToRecord next;
        bool has_next = false;
        {
            std::unique_lock lock(mutex_);
            const std::chrono::duration<double> to_sync(writer_->seconds_to_sync());
            threads_.wait(lock, ready_, {}, threads_.now() + std::chrono::ceil<Threads::Clock::duration>(to_sync),
                          [this] { return !queue_.empty() || is_ending_; });
            has_next = !queue_.empty();
            runs = has_next || !is_ending_;
            if (has_next) {
                next = std::move(queue_.front());
                queue_.pop_front();
            }
            disk_since_s_ = tools_.seconds();
        }
        const std::int64_t held = has_next && next.missing == 0 ? 1 : 0;
        if (has_next) attempt([&] { take(std::move(next)); });  // also releases its memory
        note_written(held);
        attempt([this] { writer_->sync_when_due(); });
        const std::scoped_lock lock(mutex_);
        backlog_disk_s_ += tools_.seconds() - std::max(*std::exchange(disk_since_s_, std::nullopt), backlog_s_);
    }
    end_files(end_of_recording());
    note_written(0);
}

void Recorder::take(BlockToRecord block) {
    const double now = tools_.seconds();
    const bool has_worked = writer_->stats().durable_blocks > 0 && !has_tried_new_files_;
    if (writer_->has_failed() && (has_worked || now - tried_again_s_ > try_again_after_s)) {
        tried_again_s_ = now;
        has_tried_new_files_ = true;
        attempt([&] { continue_in_new_files(block.block.volume); });
    }
    block.block.volume -= files_volume_;
    writer_->take(std::move(block));
}

// Continues with new files from the current volume on. Earlier blocks of this volume are in the previous files.
void Recorder::continue_in_new_files(std::int64_t volume) {
    RecordingRequest next = wanted_;
    next.scan_toml = next_name(wanted_);
    next.expected_bytes = 0;
    next.replace = false;
    next.continues = wanted_.scan_toml.filename().string();
    auto writer = std::make_unique<RecordingWriter>(std::move(next), tools_);
    end_files({});
    before_ += writer_->stats();
    writer_ = std::move(writer);
    has_tried_new_files_ = false;
    files_volume_ = volume;
    const std::scoped_lock lock(mutex_);
    raw_files_.push_back(writer_->raw_path());
}

// Completes the current files. Files without a block are removed.
void Recorder::end_files(const EndOfRecording& end) {
    attempt([&] { writer_->finish(end); });
    attempt([this] {
        const std::scoped_lock lock(mutex_);
        if (writer_->is_empty()) std::erase(raw_files_, writer_->raw_path());
        if (writer_->raw_path() != path_) return;
        kept_before_ = writer_->earlier();
        stats_.stripes_left = writer_->stripes_left();
    });
}

EndOfRecording Recorder::end_of_recording() const {
    const std::scoped_lock lock(mutex_);
    return {lost_at_refused_ + lost_since_, stats_.refused_blocks, unrecorded_blocks_, interruptions_since_};
}

void Recorder::note_written(std::int64_t released_blocks) {
    const std::scoped_lock lock(mutex_);
    WrittenStats& written = stats_;
    const std::int64_t bytes_before = written.bytes;
    written = before_;
    written += writer_->stats();
    stats_.files = std::max<std::int64_t>(1, std::ssize(raw_files_));
    stats_.blocks_held -= released_blocks;
    backlog_written_bytes_ += written.bytes - bytes_before;
}

template <class Work>
// Runs `work` and stores its exception as the problem.
void Recorder::attempt(Work&& work) {
    const bool had_failed = writer_->has_failed();
    try {
        work();
    } catch (const std::exception& problem) {
        try {
            note(problem, had_failed);
        } catch (const std::bad_alloc&) {
            const std::scoped_lock lock(mutex_);
            is_out_of_memory_ = true;
        }
    }
}

// The first failure of a flush stays the reported problem, because later ones follow from it.
void Recorder::note(const std::exception& what, bool had_failed) {
    const auto* const error = dynamic_cast<const Error*>(&what);
    Error problem = error != nullptr ? *error : Error(ErrorCode::output, what.what(), path_.string());
    const std::scoped_lock lock(mutex_);
    if (is_of_flush_ || (had_failed && disk_problem_)) return;
    disk_problem_ = std::move(problem);
    is_of_flush_ = writer_->has_failed();
    if (is_of_flush_) kept_before_ = writer_->earlier();
}

// Describes what remains after a failed flush.
std::string Recorder::rest_after_failed_flush() const {
    std::string rest = "its last blocks may be damaged; ";
    rest += raw_files_.size() > 1 ? "the recording continues in " + raw_files_.back().string() : "check the disk";
    if (!kept_before_.empty()) rest += "; the recording that was to be replaced is kept in " + kept_before_.string();
    return rest;
}

std::string Recorder::notice() const {
    if (keeps_names_) return disk_rate_;
    return path_.parent_path().string() +
           ": the file system cannot flush folders: after a power cut the names of the files may be missing" +
           (disk_rate_.empty() ? "" : "; " + disk_rate_);
}

RecorderStats Recorder::stats() const {
    RecorderStats stats;
    {
        const std::scoped_lock lock(mutex_);
        stats = stats_;
        stats.missing_blocks = too_slow_blocks_ + stats.failed_blocks + unrecorded_blocks_;
    }
    stats.problem = problem();
    return stats;
}

std::optional<Error> Recorder::problem() const {
    const std::scoped_lock lock(mutex_);
    if (disk_problem_ && is_of_flush_) {
        const Error& problem = *disk_problem_;
        return Error(problem.code(), problem.problem(), problem.where(), rest_after_failed_flush());
    }
    if (disk_problem_) return disk_problem_;
    if (too_slow_blocks_ > 0 && !disk_is_behind_) {
        return Error(
            ErrorCode::output,
            fmt::format("{} missing: the computer was too busy to write them", plural(too_slow_blocks_, "blocks")),
            path_.string(), "close other programs, record at a lower rate, or with more blocks");
    }
    if (too_slow_blocks_ > 0) {
        return Error(ErrorCode::output,
                     fmt::format("the disk is too slow: {} missing", plural(too_slow_blocks_, "blocks")),
                     path_.string(), "record to a faster disk, at a lower rate, or with more blocks");
    }
    if (is_out_of_memory_) return Error(ErrorCode::out_of_memory, "memory ran out", path_.string());
    if (unrecorded_blocks_ > 0)
        return Error(ErrorCode::out_of_memory, plural(unrecorded_blocks_, "blocks") + " missing", path_.string());
    if (!refusal_.empty()) return Error(ErrorCode::bad_setting, "a block " + refusal_, path_.string());
    return {};
}

void Recorder::finish() noexcept {
    {
        const std::scoped_lock lock(mutex_);
        is_ending_ = true;
    }
    ready_.notify_one();
    thread_.join();
}

// Marks a recorder that creates its files, without blocking offer() and stats().
class Recording::Beginning {
  public:
    explicit Beginning(Recording& recording) : recording_(recording) {
        const std::scoped_lock lock(recording_.mutex_);
        if (recording_.recorder_ || recording_.is_beginning_)
            throw Error(ErrorCode::bad_setting, "a recording is already running", "record", "stop it first");
        recording_.is_beginning_ = true;
    }
    ~Beginning() {
        const std::scoped_lock lock(recording_.mutex_);
        recording_.is_beginning_ = false;
    }
    Beginning(const Beginning&) = delete;
    Beginning& operator=(const Beginning&) = delete;

  private:
    Recording& recording_;
};

std::string Recording::begin(RecordingRequest wanted, const RecordingTools& tools) {
    const Beginning beginning(*this);
    auto recorder = std::make_unique<Recorder>(std::move(wanted), tools);
    std::string notice = recorder->notice();
    const std::scoped_lock lock(mutex_);
    recorder_ = std::move(recorder);
    missing_reported_ = 0;
    return notice;
}

std::optional<RecorderStats> Recording::end() {
    std::unique_ptr<Recorder> ending;
    {
        const std::scoped_lock lock(mutex_);
        ending = std::move(recorder_);
    }
    if (!ending) return {};
    ending->finish();
    return ending->stats();
}

std::optional<Error> Recording::offer(const Block& block) {
    const std::scoped_lock lock(mutex_);
    if (!recorder_ || recorder_->offer(block)) return {};
    const std::int64_t missing = std::max<std::int64_t>(recorder_->stats().missing_blocks, 1);
    if (missing_reported_ > 0 && missing < 10 * missing_reported_) return {};
    missing_reported_ = missing;
    return recorder_->problem();
}

void Recording::note_lost(std::int64_t blocks) {
    const std::scoped_lock lock(mutex_);
    if (recorder_) recorder_->note_lost(blocks);
}

void Recording::note_interruption() {
    const std::scoped_lock lock(mutex_);
    if (recorder_) recorder_->note_interruption();
}

std::optional<RecorderStats> Recording::stats() const {
    const std::scoped_lock lock(mutex_);
    if (!recorder_) return {};
    return recorder_->stats();
}

}  // namespace echolux
