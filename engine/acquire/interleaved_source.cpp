#include "engine/acquire/interleaved_source.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "compute/error.h"
#include "compute/parallel_for.h"
#include "engine/acquire/alike_sources.h"
#include "engine/acquire/block_size.h"

namespace echolux {
namespace {

constexpr std::int64_t misfit_volumes = 2, min_misfits = 16;  // consecutive blocks: more than an instrument loses

// Per-line calibration would have to be split and merged.
void require_plain_lines(const Source& part) {
    const Scan& scan = part.scan();
    const auto refuse = [&](const char* what, const char* remedy) {
        throw Error(ErrorCode::bad_setting, what, part.name(), remedy);
    };
    if (scan.geometry.a_repeats > 1) refuse("repeated lines cannot be interleaved", "set scan.a_repeats = 1");
    if (!scan.calibration.fast_axis.empty() || !scan.calibration.k_jitter.empty())
        refuse("calibration of single lines cannot be interleaved", "leave out fast_axis and k_jitter");
}

// A combined B-scan has the A-scans and flyback lines of all parts, at the sum of their line rates.
Scan interleaved_scan(const std::vector<std::unique_ptr<Source>>& parts) {
    for (const auto& part : parts) require_plain_lines(*part);
    require_alike(parts);
    Scan scan = parts.front()->scan();
    const auto count = static_cast<std::int64_t>(parts.size());
    scan.file.frame_offset_bytes = 0;
    scan.geometry.a_scans *= count;
    scan.geometry.flyback_lines *= count;
    scan.geometry.line_rate_hz *= static_cast<double>(count);
    return scan;
}

SpectraLayout layout_of(const Scan& scan) {
    return spectra_layout(scan.file, scan.format, scan.geometry, scan.path.string());
}

}  // namespace

InterleavedSource::InterleavedSource(std::vector<std::unique_ptr<Source>> parts, const SourceSettings& settings,
                                     MemoryKind memory)
    : SeveralSources(std::move(parts), interleaved_scan), of_part_(layout_of(parts_.front().source->scan())),
      of_all_(layout_of(scan_)), pool_blocks_(pool_size(settings, scan_, block_b_scans())),
      blocks_((scan_.geometry.b_scans + block_b_scans() - 1) / block_b_scans()),
      pool_(block_b_scans() * scan_.geometry.b_repeats * of_all_.frame_stride(), memory) {}

std::string InterleavedSource::name() const {
    return SeveralSources::name() + ", line by line";
}

void InterleavedSource::start() {
    misfits_ = 0;
    SeveralSources::start();
}

// Waits for one block of each part, drops unmatched blocks, and merges the matching ones.
Arrival InterleavedSource::next_of_all(Clock::time_point until) {
    for (Part& part : parts_) {
        if (std::optional<Arrival> other = anything_but_a_block(part, until)) return *std::move(other);
    }
    if (drop_what_others_lost()) return {};
    Arrival arrival;
    if (const Part* part = cut_short()) {
        count_misfit(*part, "are cut short, or not in host memory");
    } else {
        misfits_ = 0;
        arrival = together();
    }
    for (Part& part : parts_) part.waits.reset();
    return arrival;
}

// Computed from the position, because some instruments count lost blocks and some do not.
std::uint64_t InterleavedSource::number_of(const Part& part) const {
    const Block& block = *part.waits;
    return static_cast<std::uint64_t>(block.volume * blocks_ + block.first_b_scan / block_b_scans());
}

// Drops blocks that other instruments have lost. Returns whether there were any.
bool InterleavedSource::drop_what_others_lost() {
    const auto number = [this](const Part& part) { return number_of(part); };
    const Part& newest = *std::ranges::max_element(parts_, {}, number);
    bool dropped = false;
    for (Part& part : parts_) {
        if (number(part) == number(newest)) continue;
        count_misfit(part, fmt::format("are behind those of {}, of volume {} beside {}", newest.source->name(),
                                       part.waits->volume, newest.waits->volume));
        part.waits.reset();
        dropped = true;
    }
    return dropped;
}

// Returns the first part whose block does not have the expected lines, or null.
const InterleavedSource::Part* InterleavedSource::cut_short() const {
    const std::int64_t b_scans = parts_.front().waits->b_scans;
    const std::int64_t frames = b_scans * scan_.geometry.b_repeats;
    const std::int64_t lines = of_part_.frame_bytes + of_part_.flyback_bytes;
    const auto fits = [&](const Part& part) {
        const Block& block = *part.waits;
        const std::int64_t last = frame_offset(block.frames, frames - 1, of_part_.frame_bytes);
        return b_scans >= 1 && b_scans <= block_b_scans() && block.memory != MemoryKind::device &&
               block.b_scans == b_scans && block.frames.offset_bytes >= 0 && block.frames.stride_bytes >= 0 &&
               last + lines <= block.bytes;
    };
    const auto found = std::ranges::find_if_not(parts_, fits);
    return found == parts_.end() ? nullptr : &*found;
}

// Single misfits are normal losses; only a long run is an error.
void InterleavedSource::count_misfit(const Part& part, const std::string& why) {
    if (++misfits_ < std::max(misfit_volumes * blocks_, min_misfits)) return;
    throw Error(ErrorCode::device, fmt::format("{} of its blocks in a row {}", misfits_, why), part.source->name(),
                "check what resets its counter or cuts its blocks short");
}

// Merges the waiting blocks. Without free memory, they are lost.
Arrival InterleavedSource::together() {
    Arrival arrival;
    if (std::optional<BlockMemory> memory = pool_.take_below(pool_blocks_)) {
        copy_lines(memory->data);
        Block block = *parts_.front().waits;
        block.sequence = number_of(parts_.front());
        block.lost_before = 0;
        block.data = memory->data;
        block.bytes = block.b_scans * scan_.geometry.b_repeats * of_all_.frame_stride();
        block.frames = {0, of_all_.frame_stride()};
        block.memory = memory->kind;
        block.near_gpu = {};  // describes the parts' memory, not this one
        block.keeper = std::move(memory->keeper);
        arrival = {Arrival::Kind::block, std::move(block)};
    }
    return arrival;
}

// Line i of the combined frame is line i / N of part i mod N.
void InterleavedSource::copy_lines(std::byte* to) const {
    const auto count = static_cast<std::int64_t>(parts_.size());
    const std::int64_t lines = scan_.geometry.lines_per_frame() / count, bytes = of_all_.line_bytes;
    const std::int64_t frames = parts_.front().waits->b_scans * scan_.geometry.b_repeats;
    parallel_for(0, frames, [&](std::int64_t frame) {
        std::byte* line = to + frame * of_all_.frame_stride();
        for (std::int64_t i = 0; i < lines; ++i) {
            for (const Part& part : parts_) {
                const std::int64_t begin = frame_offset(part.waits->frames, frame, of_part_.frame_bytes);
                std::memcpy(line, part.waits->data + begin + i * bytes, static_cast<std::size_t>(bytes));
                line += bytes;
            }
        }
    });
}

}  // namespace echolux
