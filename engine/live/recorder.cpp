#include "engine/live/recorder.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "compute/counted.h"

namespace echolux {
namespace {

std::int64_t checked_share(std::int64_t max_blocks_held) {
    if (max_blocks_held >= 1) return max_blocks_held;
    throw Error(ErrorCode::bad_setting, "a recorder must be able to hold a block", "record",
                "give the pool more blocks");
}

std::string expected_bytes(const BytePlace& place) {
    if (place.flyback_bytes == 0) return fmt::format("{} are expected", place.bytes);
    return fmt::format("{} are expected, or {} without the flyback frames behind the volume", place.bytes,
                       place.bytes - place.flyback_bytes);
}

}  // namespace

Recorder::Recorder(RecordingWanted wanted, RecordingTools tools)
    : max_blocks_held_(checked_share(wanted.max_blocks_held)), threads_(*tools.threads),
      writer_(std::move(wanted), std::move(tools)), layout_(writer_.layout()), path_(writer_.raw_path()),
      thread_(threads_.start([this](const std::stop_token&) { work(); })) {}

Recorder::~Recorder() {
    finish();
}

bool Recorder::offer(const Block& block) {
    if (!has_begun(block)) return true;
    BlockToRecord entry{block, 0};
    entry.block.volume -= *first_volume_;
    std::string refusal = misfit(entry.block);
    const std::scoped_lock lock(mutex_);
    if (is_ending_) return false;
    if (!refusal.empty()) {
        ++stats_.refused_blocks;
        refusal_ = std::move(refusal);
        return false;
    }
    const auto left_out = static_cast<std::int64_t>(block.sequence - next_sequence_);
    entry.block.lost_before = std::max({block.lost_before, left_out, std::int64_t{0}});
    if (next_place_ == 0) entry.block.lost_before = 0;  // before the recording
    if (block.arrived == std::chrono::steady_clock::time_point{})
        entry.block.arrived = std::chrono::steady_clock::now();
    next_sequence_ = block.sequence + 1;
    next_place_ = layout_.place_of(entry.block.volume, block.first_b_scan, block.b_scans).value().end();
    stats_.lost_blocks += entry.block.lost_before;
    const bool has_room = stats_.blocks_held < max_blocks_held_;
    const bool goes_well = has_room && !disk_problem_;
    if (has_room) {
        queue_.push_back(std::move(entry));
        stats_.max_blocks_held = std::max(stats_.max_blocks_held, ++stats_.blocks_held);
    } else {
        leave_out(std::move(entry));
    }
    ready_.notify_one();
    return goes_well;
}

bool Recorder::has_begun(const Block& block) {
    if (first_volume_) return true;
    if (!seen_volume_) seen_volume_ = block.volume;
    if (block.first_b_scan == 0 || block.volume != *seen_volume_) first_volume_ = block.volume;
    return first_volume_.has_value();
}

std::string Recorder::misfit(const Block& block) const {
    if (block.memory == MemoryKind::device) return "lies in a GPU's memory: only host memory is recorded";
    const auto place = layout_.place_of(block.volume, block.first_b_scan, block.b_scans);
    if (!place) {
        return fmt::format("has {} from {} on: a volume has {}", counted(block.b_scans, "B-scans"), block.first_b_scan,
                           layout_.b_scans());
    }
    if (place->begin < next_place_) return "comes again or out of order";
    if (!place->takes(block.bytes))
        return fmt::format("has {}, {}", counted(block.bytes, "bytes"), expected_bytes(*place));
    const bool is_gapless = block.frames.stride_bytes == 0 && layout_.frame_offset_bytes() == 0;
    const std::int64_t stride = is_gapless ? layout_.frame_stride() : block.frames.stride_bytes;
    if (block.frames.offset_bytes != layout_.frame_offset_bytes() || stride != layout_.frame_stride()) {
        return fmt::format("has B-scans with headers of {}, {} apart: {} and {} are expected",
                           counted(block.frames.offset_bytes, "bytes"), stride, layout_.frame_offset_bytes(),
                           layout_.frame_stride());
    }
    return {};
}

void Recorder::leave_out(BlockToRecord block) {
    ++too_slow_blocks_;
    block.missing = 1;
    block.block.keeper.reset();
    if (!queue_.empty() && queue_.back().missing > 0)
        queue_.back().add_missing(block);
    else
        queue_.push_back(std::move(block));
}

void Recorder::work() {
    for (bool goes_on = true; goes_on;) {
        BlockToRecord next;
        bool has_next = false;
        {
            std::unique_lock lock(mutex_);
            const std::chrono::duration<double> to_sync(writer_.seconds_to_sync());
            threads_.wait(lock, ready_, {}, threads_.now() + std::chrono::ceil<Threads::Clock::duration>(to_sync),
                          [this] { return !queue_.empty() || is_ending_; });
            has_next = !queue_.empty();
            goes_on = has_next || !is_ending_;
            if (has_next) {
                next = std::move(queue_.front());
                queue_.pop_front();
            }
        }
        const std::int64_t held = has_next && next.missing == 0 ? 1 : 0;
        if (has_next) attempt([&] { writer_.take(std::move(next)); });  // lets go of its memory
        note_written(held);
        attempt([this] { writer_.sync_when_due(); });
    }
    attempt([this] { writer_.finish(); });
    note_written(0);
}

void Recorder::note_written(std::int64_t blocks_let_go) {
    const std::scoped_lock lock(mutex_);
    static_cast<WrittenStats&>(stats_) = writer_.stats();
    stats_.blocks_held -= blocks_let_go;
}

template <class Work>
void Recorder::attempt(Work&& work) {
    try {
        work();
    } catch (const Error& error) {
        const std::scoped_lock lock(mutex_);
        disk_problem_ = error;
    } catch (const std::exception& error) {
        const std::scoped_lock lock(mutex_);
        disk_problem_ = Error(ErrorCode::output, error.what(), path_.string());
    }
}

RecorderStats Recorder::stats() const {
    RecorderStats stats;
    {
        const std::scoped_lock lock(mutex_);
        stats = stats_;
        stats.missing_blocks = too_slow_blocks_ + stats.failed_blocks;
    }
    stats.problem = problem();
    return stats;
}

std::optional<Error> Recorder::problem() const {
    const std::scoped_lock lock(mutex_);
    if (disk_problem_) return disk_problem_;
    if (too_slow_blocks_ > 0) {
        return Error(ErrorCode::output,
                     fmt::format("the disk is too slow: {} missing", counted(too_slow_blocks_, "blocks")),
                     path_.string(), "record to a faster disk, at a lower rate, or with more blocks");
    }
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

}  // namespace echolux
