#include "engine/acquire/paced_source.h"

#include <algorithm>
#include <utility>

#include "compute/error.h"
#include "engine/acquire/block_size.h"

namespace echolux {
namespace {

// Blocks that start later, because of a slow disk, are dropped until the schedule is met again.
constexpr double max_late_s = 1;

}  // namespace

Pacing paced(const SourceSettings& settings, const Scan& scan, double line_rate_hz) {
    if (!(line_rate_hz > 0)) {
        throw Error(ErrorCode::bad_setting, "is required: the scan does not give its line rate", "source.line_rate_hz",
                    "for example source.line_rate_hz=70000");
    }
    const std::int64_t b_scans = block_size(settings, scan, line_rate_hz);
    return {line_rate_hz, b_scans, pool_size(settings, scan, b_scans), 0};
}

PacedSource::PacedSource(std::string name, Scan scan, const SourceCapabilities& capabilities, const Pacing& pacing,
                         std::unique_ptr<BlockFeed> feed, std::shared_ptr<PacingClock> clock)
    : name_(std::move(name)), scan_(std::move(scan)), capabilities_(capabilities), pacing_(pacing),
      layout_(spectra_layout(scan_.file, scan_.format, scan_.geometry, scan_.path.string())),
      blocks_per_volume_((scan_.geometry.b_scans + pacing.block_b_scans - 1) / pacing.block_b_scans),
      feed_(std::move(feed)), clock_(std::move(clock)) {}

PacedSource::~PacedSource() {
    stop();
}

void PacedSource::start() {
    stop();
    {
        const std::lock_guard lock(mutex_);
        finished_ = false;
        problem_ = nullptr;
        lost_ = 0;
    }
    feed_->begin();
    sending_ = std::jthread([this, start_s = clock_->now_s()](const std::stop_token& stop) {
        try {
            send(start_s, stop);
            finish();
        } catch (...) {
            finish(std::current_exception());
        }
    });
}

void PacedSource::stop() noexcept {
    sending_ = {};  // requests a stop and joins
    const std::lock_guard lock(mutex_);
    ready_.clear();
    finished_ = true;
}

void PacedSource::finish(std::exception_ptr problem) {
    const std::lock_guard lock(mutex_);
    finished_ = true;
    problem_ = std::move(problem);
    changed_.notify_all();
}

Arrival PacedSource::next(std::chrono::milliseconds patience) {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, patience, [this] { return !ready_.empty() || finished_; });
    if (!ready_.empty()) {
        Arrival arrival{Arrival::Kind::block, std::move(ready_.front())};
        ready_.pop_front();
        return arrival;
    }
    if (problem_) std::rethrow_exception(problem_);
    if (!finished_) return {};
    Arrival end{Arrival::Kind::ended, {}};
    end.block.lost_before = std::exchange(lost_, 0);
    return end;
}

// `number` counts blocks since the start.
BlockContent PacedSource::content(std::int64_t number) const {
    BlockContent content;
    content.volume = number / blocks_per_volume_;
    content.first_b_scan = number % blocks_per_volume_ * pacing_.block_b_scans;
    content.b_scans = std::min(pacing_.block_b_scans, scan_.geometry.b_scans - content.first_b_scan);
    content.first_frame = content.volume * layout_.frames_per_volume + content.first_b_scan * scan_.geometry.b_repeats;
    content.frame_lines = scan_.geometry.lines_per_frame();
    content.line_rate_hz = pacing_.line_rate_hz;
    return content;
}

double PacedSource::end_s(const BlockContent& content) const {
    return content.time_s(content.b_scans * scan_.geometry.b_repeats);
}

// Thread function. Fills each block when its first line is due and sends it when its last line is due. All times are
// relative to start_s, so errors do not accumulate.
void PacedSource::send(double start_s, const std::stop_token& stop) {
    const std::int64_t end = pacing_.volumes * blocks_per_volume_;
    for (std::int64_t number = 0; end == 0 || number < end; ++number) {
        const BlockContent wanted = content(number);
        if (!clock_->sleep_until(start_s + wanted.time_s(), stop)) return;
        const double late_s = clock_->now_s() - start_s - wanted.time_s();
        std::optional<Block> block;
        if (late_s <= max_late_s) block = filled(wanted);
        if (!block) {
            const std::lock_guard lock(mutex_);
            ++lost_;
            continue;
        }
        block->sequence = static_cast<std::uint64_t>(number);
        if (!clock_->sleep_until(start_s + end_s(wanted), stop)) return;
        const std::lock_guard lock(mutex_);
        block->lost_before = std::exchange(lost_, 0);
        ready_.push_back(std::move(*block));
        changed_.notify_all();
    }
}

// Returns std::nullopt if pool_blocks are in use or the feed has no memory. The block's keeper decrements the count.
std::optional<Block> PacedSource::filled(const BlockContent& content) {
    if (in_use_->load(std::memory_order_acquire) >= pacing_.pool_blocks) return std::nullopt;
    std::optional<BlockMemory> memory = feed_->fill(content);
    if (!memory) return std::nullopt;
    in_use_->fetch_add(1, std::memory_order_relaxed);
    Block block;
    block.data = memory->data;
    block.bytes = memory->bytes;
    block.frames = {layout_.frame_offset_bytes, layout_.frame_stride()};
    block.memory = memory->kind;
    block.volume = content.volume;
    block.first_b_scan = content.first_b_scan;
    block.b_scans = content.b_scans;
    block.time_s = content.time_s();
    block.keeper = std::shared_ptr<const void>(
        memory->data, [in_use = in_use_, keeper = std::move(memory->keeper)](const void*) mutable {
            keeper.reset();
            in_use->fetch_sub(1, std::memory_order_release);
        });
    return block;
}

}  // namespace echolux
