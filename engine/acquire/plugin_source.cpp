// Spectra from a plugin (plugins/echolux_source.h). Posted buffers are owned here and become blocks when the plugin
// returns them. Buffers lent by the plugin are returned with the last copy of the block. All data from the plugin is
// checked.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "compute/counted.h"
#include "compute/error.h"
#include "engine/acquire/plugin_device.h"
#include "engine/acquire/plugin_stream.h"
#include "engine/acquire/source_kinds.h"
#include "engine/block_pool.h"
#include "engine/memory_budget.h"

namespace echolux {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

// Buffers lent by the plugin. Keepers of blocks share ownership, so that the device stays open while its memory is in
// use.
class Loans {
  public:
    explicit Loans(std::shared_ptr<PluginDevice> device) : device_(std::move(device)) {}

    // Returns false if the buffer is already lent.
    bool take(std::uint64_t token) {
        const std::lock_guard lock(mutex_);
        return tokens_.insert(token).second;
    }
    std::int64_t count() {
        const std::lock_guard lock(mutex_);
        return static_cast<std::int64_t>(tokens_.size());
    }
    void give_back(std::uint64_t token) {
        {
            const std::lock_guard lock(mutex_);
            tokens_.erase(token);
        }
        device_->release(token);
    }

  private:
    std::shared_ptr<PluginDevice> device_;
    std::mutex mutex_;
    std::set<std::uint64_t> tokens_;
};

class PluginSource : public Source {
  public:
    explicit PluginSource(const SourceWanted& wanted);
    ~PluginSource() override { stop(); }

    const Scan& scan() const override { return scan_; }
    std::int64_t block_b_scans() const override { return stream_.block_b_scans; }
    std::int64_t pool_blocks() const override { return stream_.blocks; }
    const SourceCapabilities& capabilities() const override { return capabilities_; }
    std::string name() const override { return device_->name(); }
    void start() override;
    Arrival next(milliseconds patience) override;
    void stop() noexcept override;

  private:
    void open(const SourceName& name, Scan& scan, const SourceSettings& settings);
    void make_pool(MemoryKind memory);
    void post_free_buffers();
    BlockMemory returned(const echolux_block& sent);
    BlockMemory lent(const echolux_block& sent);
    void check(const echolux_block& sent) const;
    void check_leap(std::int64_t from, std::int64_t to, std::int64_t blocks_in_volume) const;
    void place(const echolux_block& sent, Block& block);
    Block accepted(const echolux_block& sent);

    Scan scan_;
    SourceCapabilities capabilities_;
    echolux_stream stream_{};
    std::shared_ptr<PluginDevice> device_;
    std::shared_ptr<Loans> loans_;
    std::int64_t position_bytes_ = 0;  // per B-scan position
    std::optional<BlockPool> pool_;    // for posted buffers
    std::map<std::uint64_t, BlockMemory> posted_;
    std::uint64_t next_token_ = 0;

    // State since start().
    bool is_running_ = false;
    steady_clock::time_point started_;
    std::int64_t next_block_ = 0;  // counted over volumes, including lost blocks
    std::uint64_t sequence_ = 0;
};

// The name has the form "plugin:PATH,OPTIONS".
PluginSource::PluginSource(const SourceWanted& wanted) {
    const SourceName name(wanted.name);
    if (name.id.empty()) {
        throw Error(ErrorCode::bad_setting, "names no file", "source " + wanted.name, "expected plugin:PATH[,OPTIONS]");
    }
    scan_ = describe_scan(wanted.scan, wanted.assignments, [&](Scan& scan) { open(name, scan, wanted.settings); });
    position_bytes_ = frame_stride(scan_) * scan_.geometry.b_repeats;
    if (stream_.buffers == ECHOLUX_POSTED) make_pool(wanted.memory);
    if (device_->plays()) play_pattern(*device_, scan_);
}

void PluginSource::open(const SourceName& name, Scan& scan, const SourceSettings& settings) {
    stream_ = wanted_stream(scan, settings);
    device_ = std::make_shared<PluginDevice>(name.id, name.options, stream_);
    loans_ = std::make_shared<Loans>(device_);
    accept_stream(stream_, scan, "plugin " + device_->name(),
                  "report this to the maker of the plugin, see docs/plugins.md");
    if (stream_.buffers == ECHOLUX_POSTED && !device_->takes_buffers())
        device_->fail("asks for posted buffers but has no post()");
    if (stream_.buffers == ECHOLUX_RING && !device_->takes_back())
        device_->fail("lends buffers of a ring but has no release()");
    capabilities_.sets_line_rate = stream_.sets_line_rate != 0;
    capabilities_.sets_exposure = stream_.sets_exposure != 0;
    capabilities_.sets_samples = stream_.sets_samples != 0;
    capabilities_.plays_patterns = device_->plays();
}

// Checks one block first, because the size of all could overflow for absurd block counts.
void PluginSource::make_pool(MemoryKind memory) {
    const std::int64_t bytes = position_bytes_ * stream_.block_b_scans;
    for (const std::int64_t blocks : {std::int64_t{1}, stream_.blocks}) {
        require_memory(bytes * blocks, "the blocks of plugin " + device_->name(),
                       "choose a smaller scan, source.block_b_scans or source.pool_blocks");
    }
    pool_.emplace(bytes, memory);
}

void PluginSource::start() {
    stop();
    next_block_ = 0;
    sequence_ = 0;
    started_ = steady_clock::now();
    is_running_ = true;
    try {
        post_free_buffers();
        device_->start();
    } catch (...) {
        stop();
        throw;
    }
}

void PluginSource::stop() noexcept {
    const bool may_still_write = is_running_ && !device_->stop();
    is_running_ = false;
    if (may_still_write) device_->keep(std::make_shared<decltype(posted_)>(std::move(posted_)));
    posted_.clear();
}

Arrival PluginSource::next(milliseconds patience) {
    if (!is_running_) device_->fail("is not started");
    try {
        if (!device_->is_in_next()) post_free_buffers();
        echolux_block sent{};
        sent.struct_size = sizeof sent;
        sent.volume = sent.first_b_scan = -1;
        sent.b_scans = stream_.block_b_scans;
        sent.time_s = -1;
        switch (device_->next(patience, sent)) {
            case ECHOLUX_OK: return {Arrival::Kind::block, accepted(sent)};
            case ECHOLUX_ENDED: stop(); return {Arrival::Kind::ended, {}};
            default: return {};
        }
    } catch (...) {
        stop();
        throw;
    }
}

// Posts all free buffers of the pool, so that the device can fill several blocks in advance.
void PluginSource::post_free_buffers() {
    if (!pool_) return;
    while (std::optional<BlockMemory> memory = pool_->take_below(stream_.blocks)) {
        echolux_buffer buffer{};
        buffer.struct_size = sizeof buffer;
        buffer.memory = memory->kind == MemoryKind::pinned ? ECHOLUX_PINNED : ECHOLUX_HOST;
        buffer.bytes = memory->data;
        buffer.size = memory->bytes;
        buffer.token = next_token_++;
        posted_.emplace(buffer.token, std::move(*memory));
        device_->post(buffer);
    }
}

Block PluginSource::accepted(const echolux_block& sent) {
    const BlockMemory memory = stream_.buffers == ECHOLUX_POSTED ? returned(sent) : lent(sent);
    check(sent);
    Block block;
    block.data = memory.data;
    block.bytes = sent.size;
    block.memory = memory.kind;
    block.keeper = memory.keeper;
    block.frames.offset_bytes = stream_.frame_offset_bytes;
    if (stream_.frame_offset_bytes > 0 || stream_.flyback_lines > 0) block.frames.stride_bytes = frame_stride(scan_);
    block.b_scans = sent.b_scans;
    place(sent, block);
    block.sequence = sequence_++;
    block.time_s =
        sent.time_s >= 0 ? sent.time_s : std::chrono::duration<double>(steady_clock::now() - started_).count();
    return block;
}

// Identifies a posted buffer by its token. It must be one that the plugin currently owns.
BlockMemory PluginSource::returned(const echolux_block& sent) {
    auto posted = posted_.extract(sent.token);
    if (posted.empty()) {
        device_->fail(fmt::format("block {}: token {} is not that of a posted buffer", sequence_, sent.token));
    }
    if (sent.bytes != posted.mapped().data) {
        device_->fail(fmt::format("block {}: its address is not that of the buffer with this token", sequence_));
    }
    return posted.mapped();
}

// Wraps a buffer of the plugin's ring. Destroying the last copy of the keeper calls release().
BlockMemory PluginSource::lent(const echolux_block& sent) {
    if (!loans_->take(sent.token)) {
        device_->fail(fmt::format("block {}: token {} is already lent", sequence_, sent.token));
    }
    constexpr MemoryKind kinds[] = {MemoryKind::host, MemoryKind::pinned, MemoryKind::device};
    BlockMemory memory;
    memory.data = static_cast<std::byte*>(const_cast<void*>(sent.bytes));  // blocks are never written to
    memory.bytes = sent.size;
    memory.kind = kinds[stream_.memory];
    memory.keeper = {sent.bytes, [loans = loans_, token = sent.token](const void*) { loans->give_back(token); }};
    if (loans_->count() > stream_.blocks) {
        device_->fail(
            fmt::format("block {}: lends more than the {} it declared", sequence_, counted(stream_.blocks, "blocks")));
    }
    return memory;
}

void PluginSource::check(const echolux_block& sent) const {
    const auto refuse = [&](const std::string& problem) {
        device_->fail(fmt::format("block {}: {}", sequence_, problem));
    };
    if (sent.bytes == nullptr) refuse("has no address");
    if (sent.b_scans < 1 || sent.b_scans > stream_.block_b_scans) {
        refuse(fmt::format("has {}, expected 1 to {}", counted(sent.b_scans, "B-scans"), stream_.block_b_scans));
    }
    if (sent.size != sent.b_scans * position_bytes_) {
        refuse(fmt::format("has {}, expected {}", counted(sent.size, "bytes"), sent.b_scans * position_bytes_));
    }
    constexpr std::int64_t max = std::int64_t{1} << 40;  // far beyond any session, far from overflow
    if (sent.lost_before < 0 || sent.lost_before > max) {
        refuse(fmt::format("lost_before is {}, expected 0 or more", sent.lost_before));
    }
    if (sent.volume < -1 || (sent.volume < 0) != (sent.first_b_scan < 0)) {
        refuse(fmt::format("volume {} with first B-scan {} is not a valid position", sent.volume, sent.first_b_scan));
    }
    if (!std::isfinite(sent.time_s)) refuse("its time stamp is not a finite number");
}

void PluginSource::check_leap(std::int64_t from, std::int64_t to, std::int64_t blocks_in_volume) const {
    constexpr std::int64_t max_volumes = std::int64_t{1} << 20;
    constexpr std::int64_t max_blocks = std::int64_t{1} << 60;  // keeps block numbers far from overflow
    if (std::abs(to - from) <= max_volumes && to < max_blocks / blocks_in_volume) return;
    device_->fail(fmt::format("block {}: volume {} after volume {} is too large a jump, expected at most {}", sequence_,
                              to, from, counted(max_volumes, "volumes")));
}

// If the plugin does not count, blocks are consecutive. The marker VOLUME_STARTS continues with the next volume.
void PluginSource::place(const echolux_block& sent, Block& block) {
    const std::int64_t b_scans = scan_.geometry.b_scans;
    const std::int64_t in_volume = (b_scans + stream_.block_b_scans - 1) / stream_.block_b_scans;
    std::int64_t count = next_block_ + sent.lost_before;
    if ((sent.markers & ECHOLUX_VOLUME_STARTS) != 0) count = (count + in_volume - 1) / in_volume * in_volume;
    block.volume = sent.volume >= 0 ? sent.volume : count / in_volume;
    block.first_b_scan = sent.volume >= 0 ? sent.first_b_scan : count % in_volume * stream_.block_b_scans;
    check_leap(next_block_ / in_volume, block.volume, in_volume);
    if (block.b_scans > b_scans - block.first_b_scan) {
        device_->fail(fmt::format("block {}: {} from {} on exceed the {} of a volume", sequence_,
                                  counted(block.b_scans, "B-scans"), block.first_b_scan, b_scans));
    }
    const std::int64_t number = block.volume * in_volume + block.first_b_scan / stream_.block_b_scans;
    block.lost_before = std::max(sent.lost_before, number - next_block_);
    next_block_ = number + 1;
}

}  // namespace

std::unique_ptr<Source> open_plugin(const SourceWanted& wanted) {
    return std::make_unique<PluginSource>(wanted);
}

}  // namespace echolux
