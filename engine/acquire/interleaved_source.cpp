#include "engine/acquire/interleaved_source.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "compute/error.h"
#include "compute/parallel_for.h"
#include "engine/acquire/alike_sources.h"
#include "engine/acquire/block_size.h"

namespace echolux {
namespace {

// What is known of single lines would have to be taken apart and put together.
void require_plain_lines(const Source& part) {
    const Scan& scan = part.scan();
    const auto refuse = [&](const char* what, const char* remedy) {
        throw Error(ErrorCode::bad_setting, what, part.name(), remedy);
    };
    if (scan.geometry.a_repeats > 1) refuse("repeated lines cannot be interleaved", "set scan.a_repeats = 1");
    if (!scan.calibration.fast_axis.empty() || !scan.calibration.k_jitter.empty())
        refuse("calibration of single lines cannot be interleaved", "leave out fast_axis and k_jitter");
}

Scan scan_of_all(const std::vector<std::unique_ptr<Source>>& parts) {
    require_alike(parts);
    for (const auto& part : parts) require_plain_lines(*part);
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
    : scan_(scan_of_all(parts)), of_part_(layout_of(parts.front()->scan())), of_all_(layout_of(scan_)),
      pool_blocks_(pool_size(settings, scan_, parts.front()->block_b_scans())),
      blocks_((scan_.geometry.b_scans + parts.front()->block_b_scans() - 1) / parts.front()->block_b_scans()),
      pool_(parts.front()->block_b_scans() * scan_.geometry.b_repeats * of_all_.frame_stride(), memory) {
    for (auto& part : parts) parts_.push_back({std::move(part), {}});
}

std::string InterleavedSource::name() const {
    std::string names;
    for (const Part& part : parts_) names += (names.empty() ? "" : " + ") + part.source->name();
    return names + ", line by line";
}

double InterleavedSource::line_rate_hz() const {
    double all = 0;
    for (const Part& part : parts_) all += part.source->line_rate_hz();
    return all;
}

std::vector<std::filesystem::path> InterleavedSource::played_files() const {
    std::vector<std::filesystem::path> files;
    for (const Part& part : parts_) {
        for (std::filesystem::path& file : part.source->played_files()) files.push_back(std::move(file));
    }
    return files;
}

void InterleavedSource::start() {
    try {
        for (Part& part : parts_) {
            part.waits.reset();
            part.source->start();
        }
    } catch (...) {
        stop();
        throw;
    }
}

void InterleavedSource::stop() noexcept {
    for (Part& part : parts_) part.source->stop();
}

Arrival InterleavedSource::next(std::chrono::milliseconds patience) {
    try {
        return next_of_all(patience);
    } catch (...) {  // without one of them there are no B-scans
        stop();
        throw;
    }
}

Arrival InterleavedSource::next_of_all(std::chrono::milliseconds patience) {
    for (Part& part : parts_) {
        if (part.waits) continue;
        Arrival arrival = part.source->next(patience);
        if (arrival.kind == Arrival::Kind::ended) stop();
        if (arrival.kind != Arrival::Kind::block) return arrival;
        part.waits = std::move(arrival.block);
    }
    if (drop_what_others_lost()) return {};
    Arrival arrival = fit_together() ? together() : Arrival{};
    for (Part& part : parts_) part.waits.reset();
    return arrival;
}

// What does not fit is lost.
bool InterleavedSource::fit_together() const {
    const std::int64_t b_scans = parts_.front().waits->b_scans;
    const std::int64_t frames = b_scans * scan_.geometry.b_repeats;
    const std::int64_t lines = of_part_.frame_bytes + of_part_.flyback_bytes;
    return b_scans >= 1 && b_scans <= block_b_scans() && std::ranges::all_of(parts_, [&](const Part& part) {
               const Block& block = *part.waits;
               const std::int64_t last = frame_offset(block.frames, frames - 1, of_part_.frame_bytes);
               return block.memory != MemoryKind::device && block.b_scans == b_scans &&
                      block.frames.offset_bytes >= 0 && block.frames.stride_bytes >= 0 && last + lines <= block.bytes;
           });
}

// By its place, since instruments may count what they lose or not.
std::uint64_t InterleavedSource::number_of(const Block& block) const {
    return static_cast<std::uint64_t>(block.volume * blocks_ + block.first_b_scan / block_b_scans());
}

// Whether there was anything.
bool InterleavedSource::drop_what_others_lost() {
    std::uint64_t newest = 0;
    for (const Part& part : parts_) newest = std::max(newest, number_of(*part.waits));
    bool dropped = false;
    for (Part& part : parts_) {
        if (number_of(*part.waits) == newest) continue;
        part.waits.reset();
        dropped = true;
    }
    return dropped;
}

Arrival InterleavedSource::together() {
    Arrival arrival;
    if (std::optional<BlockMemory> memory = pool_.take_below(pool_blocks_)) {
        copy_lines(memory->data);
        Block block = *parts_.front().waits;
        block.sequence = number_of(block);
        block.lost_before = 0;
        block.data = memory->data;
        block.bytes = block.b_scans * scan_.geometry.b_repeats * of_all_.frame_stride();
        block.frames = {0, of_all_.frame_stride()};
        block.memory = memory->kind;
        block.keeper = std::move(memory->keeper);
        arrival = {Arrival::Kind::block, std::move(block)};
    }
    return arrival;
}

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
