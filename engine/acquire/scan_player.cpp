#include "engine/acquire/scan_player.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "compute/error.h"
#include "compute/indexing.h"
#include "engine/acquire/paced_source.h"
#include "engine/acquire/stream.h"
#include "engine/memory.h"

namespace echolux {
namespace {

constexpr std::size_t max_remembered = 256;  // volumes sent; the display is only a few behind
constexpr std::size_t max_problems = 100;
constexpr std::int64_t more_blocks = 4;  // being read, processed or displayed

std::int64_t blocks_of_two_volumes(const Scan& scan, std::int64_t block_b_scans) {
    return 2 * ((scan.geometry.b_scans + block_b_scans - 1) / block_b_scans) + more_blocks;
}

}  // namespace

ScanPlayer::ScanPlayer(Scan scan, MemoryKind memory, std::int64_t block_b_scans)
    : scan_(std::move(scan)), block_b_scans_(block_size({.block_b_scans = block_b_scans}, scan_, 0)),
      max_in_use_(std::min(blocks_of_two_volumes(scan_, block_b_scans_), pool_size({}, scan_, block_b_scans_))),
      keeps_volumes_(max_in_use_ >= blocks_of_two_volumes(scan_, block_b_scans_)), reader_(scan_),
      pool_(block_b_scans_ * reader_.bytes_per_b_scan(), memory) {
    if (!scan_.missing.empty()) problems_.push_back(scan_.path.string() + ": " + text_of_missing(scan_));
}

double volume_seconds(const Scan& scan) {
    const ScanGeometry& geometry = scan.geometry;
    if (!(geometry.line_rate_hz > 0)) return 0;
    const SpectraLayout layout = spectra_layout(scan.file, scan.format, geometry, scan.path.string());
    return static_cast<double>(layout.frames_per_volume * geometry.lines_per_frame()) / geometry.line_rate_hz;
}

void ScanPlayer::start() {
    stop();
    number_ = -1;
    sequence_ = 0;
    lines_ = 0;
    const std::scoped_lock lock(use_->mutex);
    sent_.clear();
    is_wanted_ = runs_ = true;
}

void ScanPlayer::stop() noexcept {
    stream_.reset();
    const std::scoped_lock lock(use_->mutex);
    runs_ = false;
}

void ScanPlayer::show(std::int64_t volume) {
    const std::scoped_lock lock(use_->mutex);
    shown_ = std::clamp<std::int64_t>(volume, 0, scan_.geometry.volumes - 1);
    is_wanted_ = true;
    failed_ = -1;
    use_->changed.notify_all();
}

std::optional<std::int64_t> ScanPlayer::shown_by(std::int64_t number) const {
    const std::scoped_lock lock(use_->mutex);
    const auto found = std::ranges::find(sent_, number, &std::pair<std::int64_t, std::int64_t>::first);
    if (found == sent_.end()) return {};
    return found->second;
}

bool ScanPlayer::has_failed(std::int64_t volume) const {
    const std::scoped_lock lock(use_->mutex);
    return failed_ == volume;
}

std::vector<std::string> ScanPlayer::take_problems() {
    const std::scoped_lock lock(use_->mutex);
    return std::exchange(problems_, {});
}

// Waits for a request and a free block. Read errors are stored for take_problems() and do not end the source.
Arrival ScanPlayer::next(std::chrono::milliseconds timeout) {
    {
        std::unique_lock lock(use_->mutex);
        if (!runs_) return {Arrival::Kind::ended, {}};
        const auto can_continue = [this] { return use_->blocks < max_in_use_ && (stream_ || is_wanted_); };
        if (!use_->changed.wait_for(lock, timeout, can_continue)) return {};
    }
    try {
        if (!stream_) begin();
        std::optional<Block> block = stream_->next();
        if (block) return {Arrival::Kind::block, numbered(std::move(*block))};
        stream_.reset();
    } catch (const Error& error) {
        stream_.reset();
        const std::scoped_lock lock(use_->mutex);
        failed_ = sent_.empty() ? shown_ : sent_.back().second;
        if (problems_.size() < max_problems) problems_.push_back(error.line());
    }
    return {};
}

// Starts reading the last requested volume and records which session volume shows it.
void ScanPlayer::begin() {
    std::unique_lock lock(use_->mutex);
    const std::int64_t volume = shown_;
    is_wanted_ = false;
    sent_.emplace_back(++number_, volume);
    if (sent_.size() > max_remembered) sent_.pop_front();
    lock.unlock();
    stream_.emplace(reader_, pool_, volume, 0, scan_.geometry.b_scans, block_b_scans_, scan_.missing);
}

// Numbers blocks as if all volumes had been sent in order.
Block ScanPlayer::numbered(Block block) {
    const ScanGeometry& geometry = scan_.geometry;
    block.volume = number_;
    block.sequence = sequence_++;
    if (geometry.line_rate_hz > 0) block.time_s = static_cast<double>(lines_) / geometry.line_rate_hz;
    lines_ += block.b_scans * geometry.b_repeats * geometry.lines_per_frame();
    {
        const std::scoped_lock lock(use_->mutex);
        ++use_->blocks;
    }
    block.keeper =
        std::shared_ptr<const void>(block.data, [use = use_, keeper = std::move(block.keeper)](auto) mutable {
            keeper.reset();
            const std::scoped_lock lock(use->mutex);
            --use->blocks;
            use->changed.notify_all();
        });
    return block;
}

// ---- Replays scans from disk at its line rate. Blocks have the layout of the file, with headers and flyback. Each
// block is read during the time in which its lines would be acquired, one block ahead of the consumer.

namespace {

class RecordedVolumes : public BlockFeed {
  public:
    RecordedVolumes(const Scan& scan, std::int64_t block_b_scans, MemoryKind memory)
        : reader_(scan), volumes_(scan.geometry.volumes), missing_(scan.missing),
          pool_(reader_.recorded_bytes(scan.geometry.b_scans - block_b_scans, block_b_scans), memory) {}

    // Blocks that are missing in the recording are lost again, not sent as zeros.
    std::optional<BlockMemory> fill(const BlockContent& content) override {
        const std::int64_t end = content.first_b_scan + content.b_scans;
        const BScanRun run = run_from(missing_, content.volume % volumes_, content.first_b_scan, end);
        if (run.is_missing || run.end < end) return {};
        BlockMemory memory = pool_.take();
        memory.bytes = reader_.recorded_bytes(content.first_b_scan, content.b_scans);
        reader_.read_recorded(content.volume % volumes_, content.first_b_scan, content.b_scans,
                              {memory.data, index(memory.bytes)});
        return memory;
    }

  private:
    SpectraReader reader_;
    std::int64_t volumes_;
    std::vector<MissingBScans> missing_;
    BlockPool pool_;
};

}  // namespace

std::unique_ptr<Source> open_replay(const SourceRequest& wanted, std::shared_ptr<PacingClock> clock) {
    const std::string path = SourceName(wanted.name).rest;
    Scan scan = open_scan(path, wanted.assignments);
    const double wanted_hz = wanted.settings.line_rate_hz;
    const double own_hz = scan.geometry.line_rate_hz;
    Pacing pacing = paced(wanted.settings, scan, wanted_hz > 0 ? wanted_hz : own_hz);
    if (own_hz == 0) scan.geometry.line_rate_hz = pacing.line_rate_hz;  // keep the recorded rate if there is one
    if (!wanted.settings.loop) pacing.volumes = scan.geometry.volumes;
    auto feed = std::make_unique<RecordedVolumes>(scan, pacing.block_b_scans, wanted.memory);
    const SourceCapabilities capabilities{.sets_line_rate = true, .replays = true};
    return std::make_unique<PacedSource>("replay of " + path, std::move(scan), capabilities, pacing, std::move(feed),
                                         std::move(clock));
}

}  // namespace echolux
