#include "engine/live/arrivals.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "compute/counted.h"
#include "compute/error.h"
#include "compute/plan/tables.h"

namespace echolux {
namespace {

constexpr std::int64_t max_late = 16;  // blocks in a row
constexpr double max_late_s = 1;       // tolerance beyond the line rate before a clock is reported to leap

// A report is repeated when its count gains a digit.
std::size_t digits(std::int64_t n) {
    return std::to_string(n).size();
}

}  // namespace

Arrivals::Arrivals(const ReconstructionSpec& spec, Report report) : spec_(spec), report_(std::move(report)) {}

bool Arrivals::admit(const Block& block) {
    if (!has_right_shape(block)) return false;
    if (is_late(block)) {
        keep_out_late(block);
        return false;
    }
    late_ = 0;
    // A source that counts its losses may or may not skip their numbers: the larger count is the true one.

    const auto left_out = static_cast<std::int64_t>(block.sequence - next_sequence_);
    const std::int64_t lost = std::max(left_out, block.lost_before);
    if (lost > 0)
        count(stats_.lost, lost, fmt::format("lost {} before block {}", counted(lost, "blocks"), block.sequence),
              "lost");
    next_sequence_ = block.sequence + 1;
    next_place_ = place_of(block) + block.b_scans;
    watch_clock(block, lost);
    ++stats_.blocks;
    if (block.first_b_scan + block.b_scans == spec_.geometry.b_scans) ++stats_.volumes;
    stats_.lines += block.b_scans * spec_.geometry.b_repeats * spec_.geometry.lines_per_b_scan();
    stats_.bytes += block.bytes;
    return true;
}

std::int64_t Arrivals::place_of(const Block& block) const {
    return block.volume * spec_.geometry.b_scans + block.first_b_scan;
}

bool Arrivals::is_late(const Block& block) const {
    return block.sequence < next_sequence_ || place_of(block) < next_place_;
}

// A few blocks may be late or sent twice. Many in a row are new blocks with wrong numbers, which would never recover.
void Arrivals::keep_out_late(const Block& block) {
    count(stats_.repeated, 1, fmt::format("block {} arrived twice or too late: it is left out", block.sequence),
          "repeated");
    const bool goes_on = block.sequence > late_sequence_ && place_of(block) > late_place_;
    late_ = goes_on ? late_ + 1 : 1;
    late_sequence_ = block.sequence;
    late_place_ = place_of(block);
    if (late_ < max_late) return;
    throw Error(
        ErrorCode::device,
        fmt::format("its numbers run backwards: block {} of volume {} came after block {} of volume {}", block.sequence,
                    block.volume, next_sequence_ - 1, (next_place_ - 1) / spec_.geometry.b_scans),
        "source", "check what resets its counter");
}

void Arrivals::note_lost(std::int64_t blocks) {
    if (blocks > 0) count(stats_.lost, blocks, fmt::format("lost {} at the end", counted(blocks, "blocks")), "lost");
}

bool Arrivals::has_right_shape(const Block& block) {
    try {
        check_block(block, spec_);
        return true;
    } catch (const Error& error) {
        count(stats_.misshapen, 1, fmt::format("block {} is left out: {}", block.sequence, error.problem()),
              "misshapen");
        return false;
    }
}

void Arrivals::watch_clock(const Block& block, std::int64_t lost) {
    const double since = block.time_s - time_s_;
    const double expected = block_s_ * static_cast<double>(1 + lost);
    const bool leaps = !std::isfinite(since) || since < 0 || since > 3 * expected + max_late_s;
    if (stats_.blocks > 0 && leaps) {
        count(stats_.time_jumps, 1,
              fmt::format("the source's clock jumps by {:.3g} s at block {}", since, block.sequence), "clock");
    }
    if (std::isfinite(block.time_s)) time_s_ = block.time_s;
    const ScanGeometry& scan = spec_.geometry;
    const std::int64_t lines = block.b_scans * scan.b_repeats * scan.lines_per_frame();
    block_s_ = scan.line_rate_hz > 0 ? static_cast<double>(lines) / scan.line_rate_hz : 0;
}

void Arrivals::count(std::int64_t& of, std::int64_t by, const std::string& line, const std::string& topic) {
    const std::int64_t before = of;
    of += by;
    if (before == 0) return report_(line, topic);
    if (digits(of) > digits(before)) report_(fmt::format("{} ({} so far)", line, of), topic);
}

}  // namespace echolux
