// A source that misbehaves like real instruments, as scripted: stalls, disconnects, blocks that are cut short,
// repeated, exchanged, too long or lost, and clocks that jump. A stall lasts a number of calls rather than a time, so a
// test ends when the consumer has done its part.
//
//   FaultySource source(scan, 4, {send(3), disconnect(), send(2), repeat(), end()});
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <limits>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "compute/error.h"
#include "compute/indexing.h"
#include "engine/acquire/source.h"
#include "engine/memory.h"
#include "engine/scan/raw_spectra.h"

namespace echolux::test {

struct Fault {
    enum class Kind { send, stall, disconnect, cut_short, repeat, exchange, oversize, misplace, jump, lose, end };
    Kind kind = Kind::end;
    std::int64_t count = 1;
    double seconds = 0;
};

constexpr std::int64_t for_ever = std::numeric_limits<std::int64_t>::max();

inline Fault send(std::int64_t blocks = for_ever) {
    return {Fault::Kind::send, blocks};
}
inline Fault stall(std::int64_t calls) {
    return {Fault::Kind::stall, calls};
}  // returns no blocks
inline Fault disconnect() {
    return {Fault::Kind::disconnect};
}  // until started again
inline Fault cut_short() {
    return {Fault::Kind::cut_short};
}  // half of the bytes are missing
inline Fault repeat() {
    return {Fault::Kind::repeat};
}  // sends the last block again
inline Fault exchange() {
    return {Fault::Kind::exchange};
}  // swaps the next two blocks
inline Fault oversize() {
    return {Fault::Kind::oversize};
}  // more B-scans than a volume has
inline Fault misplace() {
    return {Fault::Kind::misplace};
}  // starts before the volume
inline Fault jump(double seconds) {
    return {Fault::Kind::jump, 1, seconds};
}  // affects all later time stamps
inline Fault lose(std::int64_t blocks) {
    return {Fault::Kind::lose, blocks};
}  // reported with the next block
inline Fault end() {
    return {Fault::Kind::end};
}

class FaultySource : public Source {
  public:
    // Fills the bytes of a block; other bytes are zero.
    using Filling = std::function<void(const Block& block, std::span<std::byte> bytes)>;

    FaultySource(Scan scan, std::int64_t block_b_scans, std::vector<Fault> script, Filling filling = {})
        : scan_(std::move(scan)), block_b_scans_(block_b_scans), script_(std::move(script)),
          filling_(std::move(filling)), layout_(spectra_layout(scan_.file, scan_.format, scan_.geometry, "scan")),
          pool_(bytes_of(block_b_scans) + scan_.geometry.flyback_frames * layout_.frame_stride(), MemoryKind::host) {}

    const Scan& scan() const override { return scan_; }
    std::int64_t block_b_scans() const override { return block_b_scans_; }
    const SourceCapabilities& capabilities() const override { return capabilities_; }
    std::string name() const override { return "faulty source"; }

    // Resumes the script and restarts the block numbers at zero.
    void start() override {
        if (refusals_ > 0) {
            --refusals_;
            throw Error(ErrorCode::device, "is still not there", name());
        }
        running_ = true;
        next_block_ = 0;
        lost_ = 0;
        time_jump_s_ = 0;
        delayed_.reset();
        ++starts_;
    }

    void stop() noexcept override {
        running_ = false;
        wake();
    }

    Arrival next(std::chrono::milliseconds timeout) override {
        if (!running_) throw Error(ErrorCode::device, "is stopped", name());
        if (delayed_) return arrival(*std::exchange(delayed_, std::nullopt));
        while (step_ < script_.size()) {
            Fault& fault = script_[step_];
            switch (fault.kind) {
                case Fault::Kind::send:
                    if (fault.count-- > 0) return arrival(regular(next_block_++));
                    break;
                case Fault::Kind::stall:
                    if (fault.count-- > 0) {
                        return nothing_until([this] { return !running_; }, timeout);
                    }
                    break;
                case Fault::Kind::disconnect:
                    ++step_;
                    running_ = false;
                    throw Error(ErrorCode::device, "was disconnected", name(), "plug it in");
                case Fault::Kind::jump: time_jump_s_ += fault.seconds; break;
                case Fault::Kind::lose:
                    next_block_ += fault.count;
                    lost_ += fault.count;
                    break;
                case Fault::Kind::end: {
                    Arrival last{Arrival::Kind::ended, {}};
                    last.block.lost_before = std::exchange(lost_, 0);
                    return last;
                }
                default: ++step_; return wrong(fault.kind);
            }
            ++step_;
        }
        return {Arrival::Kind::ended, {}};
    }

    // Makes the next `count` starts fail.
    void refuse_starts(int count) { refusals_ = count; }

    // Ends the wait of next() whose condition has become true.
    void wake() {
        { const std::scoped_lock lock(mutex_); }
        woken_.notify_all();
    }

    int starts() const { return starts_; }
    bool running() const { return running_; }

    // Returns block `number` since the start, without faults.
    Block regular(std::int64_t number) {
        const ScanGeometry& geometry = scan_.geometry;
        const std::int64_t in_volume = (geometry.b_scans + block_b_scans_ - 1) / block_b_scans_;
        Block block{.volume = number / in_volume, .first_b_scan = number % in_volume * block_b_scans_};
        block.b_scans = std::min(block_b_scans_, geometry.b_scans - block.first_b_scan);
        const bool is_last = block.first_b_scan + block.b_scans == geometry.b_scans;
        const BlockMemory memory = pool_.take();
        block.data = memory.data;
        block.bytes = bytes_of(block.b_scans) + (is_last ? geometry.flyback_frames * layout_.frame_stride() : 0);
        block.memory = memory.kind;
        block.keeper = memory.keeper;
        block.frames = {layout_.frame_offset_bytes, layout_.frame_stride()};
        block.sequence = static_cast<std::uint64_t>(number);
        block.lost_before = std::exchange(lost_, 0);
        block.time_s = time_s(block) + time_jump_s_;
        const std::span bytes(memory.data, index(block.bytes));
        std::ranges::fill(bytes, std::byte{0});
        if (filling_) filling_(block, bytes);
        return block;
    }

  protected:
    // Returns no block, when the condition is true or `timeout` is over.
    Arrival nothing_until(const std::function<bool()>& is_so, std::chrono::milliseconds timeout) {
        std::unique_lock lock(mutex_);
        woken_.wait_for(lock, timeout, is_so);
        return {};
    }

  private:
    std::int64_t bytes_of(std::int64_t b_scans) const {
        return b_scans * scan_.geometry.b_repeats * layout_.frame_stride();
    }

    double time_s(const Block& block) const {
        const ScanGeometry& g = scan_.geometry;
        if (g.line_rate_hz == 0) return 0;
        const std::int64_t frames =
            block.volume * (g.frames_per_volume() + g.flyback_frames) + block.first_b_scan * g.b_repeats;
        return static_cast<double>(frames * g.lines_per_frame()) / g.line_rate_hz;
    }

    Arrival arrival(Block block) {
        last_ = block;
        return {Arrival::Kind::block, std::move(block)};
    }

    Arrival wrong(Fault::Kind kind) {
        if (kind == Fault::Kind::repeat) return arrival(last_);
        Block block = regular(next_block_++);
        if (kind == Fault::Kind::exchange) {
            delayed_ = std::move(block);
            return arrival(regular(next_block_++));
        }
        if (kind == Fault::Kind::cut_short) block.bytes /= 2;
        if (kind == Fault::Kind::oversize) block.b_scans = scan_.geometry.b_scans + 1;
        if (kind == Fault::Kind::misplace) block.first_b_scan = -1;
        return arrival(std::move(block));
    }

    Scan scan_;
    std::int64_t block_b_scans_;
    std::vector<Fault> script_;
    Filling filling_;
    SpectraLayout layout_;
    BlockPool pool_;
    SourceCapabilities capabilities_;
    std::size_t step_ = 0;
    std::int64_t next_block_ = 0;
    std::int64_t lost_ = 0;
    double time_jump_s_ = 0;
    Block last_;
    std::optional<Block> delayed_;
    std::atomic<int> refusals_ = 0;
    std::atomic<int> starts_ = 0;
    std::atomic<bool> running_ = false;
    std::mutex mutex_;
    std::condition_variable woken_;
};

}  // namespace echolux::test
