#include "compute/cpu/runner.h"

#include <fmt/format.h>

#include <algorithm>
#include <new>

#include "compute/cpu/fixed_pattern.h"
#include "compute/error.h"
#include "compute/parallel_for.h"

namespace echolux {
namespace {

constexpr std::int64_t run_of_lines = 16;  // long enough that the counter costs nothing, short enough to balance

PlainTables plain_tables(const ReconstructionPlan& plan) {
    const KGrid grid = k_grid(plan.calibration, plan.geometry.samples);
    PlainTables tables;
    tables.lengths = lengths_of(plan.geometry, plan.recipe);
    tables.resample =
        resample_table(chosen_resample(plan.recipe, plan.calibration), grid, plan.calibration, tables.lengths);
    tables.weight = spectral_weight(plan.recipe, plan.calibration, grid);
    for (const std::complex<float>& value : tables.weight.values) tables.real_weight.push_back(value.real());
    tables.upsample = plan.recipe.upsample;
    const bool rolling = chosen_background(plan.recipe, plan.calibration) == Background::rolling;
    tables.rolling_width = rolling ? plan.recipe.rolling_width : 0;
    return tables;
}

VoxelTables voxel_tables(const ReconstructionPlan& plan, double weight_sum, DepthRange kept) {
    VoxelTables tables;
    tables.depth = kept.end - kept.begin;
    tables.scale = static_cast<float>(1 / weight_sum);
    if (plan.recipe.noise_floor != NoiseFloor::none) {
        const auto& floor = plan.calibration.noise_floor;
        std::transform(floor.begin() + kept.begin, floor.begin() + kept.end, std::back_inserter(tables.noise_floor),
                       [](double value) { return static_cast<float>(value); });
    }
    if (plan.recipe.levels == Levels::noise_floor) tables.reference_db = plan.recipe.noise_floor_db;
    tables.recipe = plan.recipe;
    tables.depth_flip = plan.geometry.depth_flip;
    return tables;
}

}  // namespace

CpuRunner::Worker::Worker(const PlainTables& plain, const LineFormat& format, const VoxelTables& voxel_tables,
                          std::int64_t lines, std::int64_t repeats)
    : line(plain, format), voxels(voxel_tables), column(static_cast<std::size_t>(lines)),
      joined(static_cast<std::size_t>(repeats)) {}

CpuRunner::CpuRunner(const ReconstructionPlan& plan)
    : plan_(plan), grid_(planned_grid(plan)), format_(plan.format, plan.geometry), plain_(plain_tables(plan)),
      kept_(kept_depth(plan.recipe, plain_.lengths.bins)), frame_lines_(plan.geometry.lines_per_b_scan()),
      block_frames_(plan.block_b_scans * plan.geometry.b_repeats),
      outputs_per_b_scan_(grid_.a_scans * grid_.b_scans / plan.geometry.b_scans),
      background_(chosen_background(plan.recipe, plan.calibration), format_, plan.geometry, plan.calibration,
                  plan.recipe.running_alpha, block_frames_) {
    voxel_tables_ = voxel_tables(plan, plain_.weight.sum, kept_);
    const bool joins = plan.recipe.average != Average::none;
    const std::int64_t repeats = joins ? plan.geometry.a_repeats * plan.geometry.b_repeats : 1;
    const auto threads = static_cast<std::size_t>(thread_count());
    workers_.reserve(threads);
    for (std::size_t i = 0; i < threads; ++i) {
        workers_.emplace_back(plain_, format_, voxel_tables_, frame_lines_, repeats);
    }
    if (needs_whole_b_scans(plan.recipe)) {
        bins_.resize(static_cast<std::size_t>(block_frames_ * frame_lines_ * voxel_tables_.depth));
    }
    if (plan.recipe.levels == Levels::frame) {
        values_.resize(static_cast<std::size_t>(plan.block_b_scans * outputs_per_b_scan_ * voxel_tables_.depth));
    }
}

std::string CpuRunner::backend() const {
    return fmt::format("cpu ({} thread{}, {})", workers_.size(), workers_.size() == 1 ? "" : "s", Fft::library());
}

void CpuRunner::prime(const Block& block) {
    check(block);
    background_.find(block);
}

Completion CpuRunner::submit(const Block& block, const Place& place) {
    check(block);
    if (place.kind != PlaceKind::host_linear) {
        throw Error(ErrorCode::bad_setting, "the CPU writes to host memory only", "place");
    }
    background_.find(block);
    if (!bins_.empty()) {
        lines_to_bins(block);
        if (plan_.recipe.fixed_pattern != FixedPattern::none) remove_fixed_patterns(block);
        bins_to_voxels(block, place);
    } else {
        lines_to_voxels(block, place);
    }
    if (!values_.empty()) store_frames(block, place);
    return {block.sequence + 1};
}

template <class Body>
void CpuRunner::deal(std::int64_t count, std::int64_t run, const Body& body) {
    std::atomic<std::int64_t> next{0};
    parallel_for(0, static_cast<std::int64_t>(workers_.size()), [&](std::int64_t w) {
        Worker& worker = workers_[static_cast<std::size_t>(w)];
        for (std::int64_t first = next.fetch_add(run); first < count; first = next.fetch_add(run)) {
            for (std::int64_t i = first; i < std::min(first + run, count); ++i) body(worker, i);
        }
    });
}

void CpuRunner::check(const Block& block) const {
    const std::int64_t bytes = block.b_scans * plan_.geometry.b_repeats * frame_lines_ * format_.line_bytes();
    const bool in_volume = block.first_b_scan >= 0 && block.first_b_scan + block.b_scans <= plan_.geometry.b_scans;
    const bool fits = block.memory != MemoryKind::device && block.data != nullptr && block.b_scans >= 1 &&
                      block.b_scans <= plan_.block_b_scans && in_volume && block.bytes >= bytes;
    if (!fits) throw Error(ErrorCode::bad_setting, "block and plan differ", "block");
}

const std::byte* CpuRunner::line_at(const Block& block, std::int64_t line) const {
    return block.data + line * format_.line_bytes();
}

const std::complex<float>* CpuRunner::bins_of(Worker& worker, const Block& block, std::int64_t line) const {
    return worker.line.reconstruct(line_at(block, line), background_.of(line / frame_lines_)) + kept_.begin;
}

std::byte* CpuRunner::target(const Block& block, const Place& place, std::int64_t output_line) const {
    const std::int64_t slices_per_b_scan = outputs_per_b_scan_ / grid_.a_scans;
    const std::int64_t slice = block.first_b_scan * slices_per_b_scan + output_line / grid_.a_scans;
    return static_cast<std::byte*>(place.data) + (slice - place.first_b_scan) * place.b_scan_bytes +
           output_line % grid_.a_scans * place.a_scan_bytes;
}

void CpuRunner::lines_to_voxels(const Block& block, const Place& place) {
    const std::int64_t lines = block.b_scans * plan_.geometry.b_repeats * frame_lines_;
    deal(lines, run_of_lines, [&](Worker& worker, std::int64_t line) {
        worker.joined[0] = bins_of(worker, block, line);
        store(worker, line, target(block, place, line));
    });
}

void CpuRunner::lines_to_bins(const Block& block) {
    const std::int64_t lines = block.b_scans * plan_.geometry.b_repeats * frame_lines_;
    deal(lines, run_of_lines, [&](Worker& worker, std::int64_t line) {
        std::copy_n(bins_of(worker, block, line), voxel_tables_.depth, bins_.data() + line * voxel_tables_.depth);
    });
}

void CpuRunner::remove_fixed_patterns(const Block& block) {
    const std::int64_t depth = voxel_tables_.depth;
    const std::int64_t frames = block.b_scans * plan_.geometry.b_repeats;
    deal(frames * depth, run_of_lines, [&](Worker& worker, std::int64_t i) {
        remove_fixed_pattern(plan_.recipe.fixed_pattern, plan_.recipe.fixed_pattern_segments,
                             bins_.data() + i / depth * frame_lines_ * depth, frame_lines_, depth, i % depth,
                             worker.column.data());
    });
}

void CpuRunner::bins_to_voxels(const Block& block, const Place& place) {
    deal(block.b_scans * outputs_per_b_scan_, run_of_lines, [&](Worker& worker, std::int64_t line) {
        join(worker, line);
        store(worker, line, target(block, place, line));
    });
}

// Points worker.joined at the kept lines that become output line `output_line` of the block.
void CpuRunner::join(Worker& worker, std::int64_t output_line) const {
    const std::int64_t depth = voxel_tables_.depth;
    if (plan_.recipe.average == Average::none) {
        worker.joined[0] = bins_.data() + output_line * depth;
        return;
    }
    const std::int64_t b = output_line / grid_.a_scans;
    const std::int64_t a = output_line % grid_.a_scans;
    auto joined = worker.joined.begin();
    for (std::int64_t frame = b * plan_.geometry.b_repeats; frame < (b + 1) * plan_.geometry.b_repeats; ++frame) {
        const std::int64_t first = frame * frame_lines_ + a * plan_.geometry.a_repeats;
        for (std::int64_t line = first; line < first + plan_.geometry.a_repeats; ++line) {
            *joined++ = bins_.data() + line * depth;
        }
    }
}

void CpuRunner::store(Worker& worker, std::int64_t output_line, std::byte* target) {
    const Recipe& recipe = plan_.recipe;
    if (recipe.quantity == Quantity::complex) return worker.voxels.store_complex(worker.joined, target);
    const std::span<const float> values = worker.voxels.values(worker.joined);
    if (!values_.empty()) {
        std::copy(values.begin(), values.end(), values_.data() + output_line * voxel_tables_.depth);
        return;
    }
    worker.voxels.store(values, {static_cast<float>(recipe.low), static_cast<float>(recipe.high)}, target);
}

// levels = frame: the codes of each B-scan span its least to its greatest value.
void CpuRunner::store_frames(const Block& block, const Place& place) {
    const std::int64_t depth = voxel_tables_.depth;
    const std::int64_t slice_values = grid_.a_scans * depth;
    deal(block.b_scans * outputs_per_b_scan_ / grid_.a_scans, 1, [&](Worker& worker, std::int64_t slice) {
        const float* first = values_.data() + slice * slice_values;
        const auto [least, most] = std::minmax_element(first, first + slice_values);
        for (std::int64_t a = 0; a < grid_.a_scans; ++a) {
            worker.voxels.store({first + a * depth, static_cast<std::size_t>(depth)}, {*least, *most},
                                target(block, place, slice * grid_.a_scans + a));
        }
    });
}

std::unique_ptr<Reconstructor> plan_on_cpu(const ReconstructionPlan& plan) {
    try {
        return std::make_unique<CpuRunner>(plan);
    } catch (const std::bad_alloc&) {
        throw Error(ErrorCode::out_of_memory,
                    fmt::format("no memory for blocks of {} B-scans of {} A-scans", plan.block_b_scans,
                                plan.geometry.lines_per_b_scan()),
                    "plan", "reconstruct fewer B-scans at a time");
    }
}

}  // namespace echolux
