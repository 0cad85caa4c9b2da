#include "bench/memory_source.h"

#include <algorithm>
#include <thread>
#include <utility>

namespace echolux {

MemorySource::MemorySource(const ReconstructionSpec& spec, std::vector<Block> blocks, double lines_per_s)
    : block_b_scans_(spec.block_b_scans), blocks_(std::move(blocks)), lines_per_s_(lines_per_s) {
    scan_.path = "memory";
    scan_.format = spec.format;
    scan_.geometry = spec.geometry;
    scan_.geometry.line_rate_hz = lines_per_s;
    scan_.calibration = spec.calibration;
    take_recipe(spec, scan_);
}

void MemorySource::start() {
    start_ = Clock::now();
    sent_ = 0;
    lines_ = 0;
    volume_ = -1;
}

Arrival MemorySource::next(std::chrono::milliseconds timeout) {
    const auto count = static_cast<std::uint64_t>(blocks_.size());
    Block block = blocks_[static_cast<std::size_t>(sent_ % count)];
    const std::int64_t lines = lines_ + block.b_scans * scan_.geometry.b_repeats * scan_.geometry.lines_per_b_scan();
    const auto due = start_ + std::chrono::duration_cast<Clock::duration>(
                                  std::chrono::duration<double>(static_cast<double>(lines) / lines_per_s_));
    const auto now = Clock::now();
    if (due > now + timeout) {
        std::this_thread::sleep_for(timeout);
        return {};
    }
    if (due > now) std::this_thread::sleep_until(due);
    if (block.first_b_scan == 0) ++volume_;
    block.volume = volume_;
    block.sequence = sent_++;
    block.time_s = static_cast<double>(lines_) / lines_per_s_;
    lines_ = lines;
    return {Arrival::Kind::block, block};
}

}  // namespace echolux
