#include "compute/cpu/runner.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <memory>
#include <new>
#include <numeric>
#include <utility>
#include <vector>

#include "compute/cpu/background.h"
#include "compute/error.h"
#include "compute/fft/fft.h"
#include "compute/indexing.h"
#include "compute/invalid_lines.h"
#include "compute/missing_voxels.h"
#include "compute/parallel_for.h"
#include "compute/plural.h"
#include "compute/reconstructor.h"
#include "compute/repeat_report.h"
#include "compute/steps/sample.h"
#include "compute/voxel_target.h"

namespace echolux::cpu {
namespace {

constexpr std::int64_t run_of_flow = 32;  // A-scans that share the steps of their windows
// long enough to make the counter's cost negligible, short enough to balance the load
constexpr std::int64_t run_of_lines = 16;

void require_no_order(const CallerOrder& order) {
    if (order.kind == CallerOrder::Kind::none) return;
    throw Error(ErrorCode::bad_setting, "GPU streams and events cannot order work on the CPU", "block");
}

}  // namespace

Runner::Worker::Worker(std::unique_ptr<LineMethod> chosen, const VoxelTables& tables, const BlockShape& shape,
                       const std::optional<FlowTables>& flow_tables)
    : method(std::move(chosen)), voxels(tables), raw(index(method->lines_at_once())), column(index(shape.frame_lines)) {
    constexpr std::int64_t mixed = 2;  // recorded positions per A-scan if the beam moves unevenly
    lines.reserve(index(mixed * shape.joined));
    weights.reserve(lines.capacity());
    if (flow_tables) flow.emplace(*flow_tables);
    if (flow_tables && flow_tables->aligns) aligner.emplace(*flow_tables);
}

Runner::Runner(const ReconstructionSpec& spec, decltype(PipelineHooks::bins) on_bins)
    : spec_(spec), grid_(planned_grid(spec)), flow_grid_(planned_flow_grid(spec)), format_(spec.format, spec.geometry),
      plain_(plain_tables(spec)), kept_(kept_depth(spec.recipe, plain_.lengths.bins)),
      make_method_(line_methods(spec, plain_, format_, kept_)),
      voxel_tables_(voxel_tables(spec, plain_.weight.sum, kept_)),
      shape_(block_shape(spec, grid_)), order_{spec.geometry.a_scans, spec.geometry.bidirectional},
      mixes_(line_mixes(spec.geometry, spec.calibration)),
      background_(chosen_background(spec.recipe, spec.calibration), format_, spec.geometry, spec.calibration,
                  spec.recipe.running_alpha, shape_.frames),
      on_bins_(std::move(on_bins)) {
    if (flow_grid_) flow_tables_ = flow_tables(spec, plain_.weight.sum, kept_);
    const auto threads = index(thread_count());
    workers_.reserve(threads);
    for (std::size_t i = 0; i < threads; ++i)
        workers_.emplace_back(make_method_(), voxel_tables_, shape_, flow_tables_);
    if (needs_whole_b_scans(spec.recipe) || !mixes_.empty() || flow_grid_ || on_bins_) {
        bins_.resize(index(shape_.lines() * voxel_tables_.depth));
    }
    if (needs_frame_range(spec.recipe)) {
        values_.resize(index(spec.block_b_scans * shape_.outputs_per_b_scan * voxel_tables_.depth));
    }
    if (!flow_tables_) return;
    const std::int64_t positions = spec.block_b_scans * spec.geometry.a_scans;
    if (flow_tables_->removes_bulk) bulk_.resize(index(positions * flow_tables_->repeats.pairs()));
    if (flow_tables_->unwraps) phases_.resize(index(positions * voxel_tables_.depth));
    if (flow_tables_->method == FlowMethod::complex_decorrelation)
        decorrelations_.resize(index(positions * voxel_tables_.depth));
    compared_.assign(index(spec.block_b_scans), flow_tables_->repeats);
}

std::string Runner::backend_description() const {
    return fmt::format("cpu ({} thread{}, {})", workers_.size(), workers_.size() == 1 ? "" : "s", Fft::library());
}

void Runner::prime(const Block& block) {
    check(block);
    background_.find(block, find_invalid(block));
}

const std::vector<std::uint8_t>& Runner::find_invalid(const Block& block) {
    if (find_invalid_lines(spec_.format, spec_.geometry, block, invalid_) == 0) invalid_.clear();
    return invalid_;
}

Completion Runner::submit(const Block& block, const VoxelTargets& targets) {
    check(block, targets);
    background_.find(block, find_invalid(block));
    if (is_missing(block)) {
        store_missing(spec_, grid_, flow_grid_, block, targets);
    } else if (!bins_.empty()) {
        lines_to_bins(block);
        if (spec_.recipe.fixed_pattern != FixedPattern::none) remove_fixed_patterns(block);
        if (on_bins_) show_bins(block);
        bins_to_voxels(block, targets);
    } else {
        lines_to_voxels(block, targets);
    }
    if (!values_.empty() && !is_missing(block)) store_frames(block, targets);
    if (flow_tables_ && targets.flow && !is_missing(block)) bins_to_flow(block, targets);
    return {block.sequence + 1};
}

// A shared counter distributes runs dynamically, which balances the load between threads.
template <class Body>
void Runner::deal(std::int64_t count, std::int64_t run, const Body& body) {
    std::atomic<std::int64_t> next{0};
    parallel_for(0, std::ssize(workers_), [&](std::int64_t w) {
        Worker& worker = workers_[index(w)];
        for (std::int64_t first = next.fetch_add(run); first < count; first = next.fetch_add(run)) {
            for (std::int64_t i = first; i < std::min(first + run, count); ++i) body(worker, i);
        }
    });
}

template <class Use>
void Runner::reconstruct_lines(const Block& block, const Use& use) {
    const std::int64_t lines = block.b_scans * spec_.geometry.b_repeats * shape_.frame_lines;
    const std::int64_t group = workers_.front().method->lines_at_once();
    const std::int64_t groups = (lines + group - 1) / group;
    const std::int64_t frame_bytes = shape_.frame_lines * format_.line_bytes();
    const std::int64_t b_scans_before = block.volume * spec_.geometry.b_scans + block.first_b_scan;
    const std::int64_t lines_before = b_scans_before * spec_.geometry.b_repeats * shape_.frame_lines;
    deal(groups, std::max<std::int64_t>(1, run_of_lines / group), [&](Worker& worker, std::int64_t i) {
        const std::int64_t first = i * group;
        const auto count = index(std::min(group, lines - first));
        for (std::size_t l = 0; l < count; ++l) {
            const std::int64_t line = first + static_cast<std::int64_t>(l);
            const std::int64_t frame = line / shape_.frame_lines;
            const std::int64_t in_frame = line % shape_.frame_lines * format_.line_bytes();
            worker.raw[l] = {block.data + frame_offset(block.frames, frame, frame_bytes) + in_frame,
                             background_.of(frame), lines_before + line};
        }
        const auto bins = worker.method->reconstruct({worker.raw.data(), count});
        for (std::size_t l = 0; l < count; ++l) use(worker, first + static_cast<std::int64_t>(l), bins[l]);
    });
}

void Runner::check(const Block& block) const {
    check_block(block, spec_);
    if (block.memory == MemoryKind::device) {
        throw Error(ErrorCode::bad_setting, "the CPU cannot read GPU memory", "block");
    }
    require_no_order(block.order);
}

void Runner::check(const Block& block, const VoxelTargets& targets) const {
    check(block);
    require_no_order(targets.order);
    const auto is_host = [](const VoxelTarget& voxel_target) { return voxel_target.kind == TargetKind::host_linear; };
    const bool on_host = is_host(targets.structure) && (!targets.flow || is_host(*targets.flow)) &&
                         (!targets.peaks || is_host(targets.peaks->target));
    if (!on_host) throw Error(ErrorCode::bad_setting, "the CPU only writes to host memory", "place");
    if (targets.peaks) check_peaks(*targets.peaks, grid_.type);
}

std::byte* Runner::target(const Block& block, const VoxelTarget& voxel_target, std::int64_t output_line) const {
    const std::int64_t slices_per_b_scan = shape_.outputs_per_b_scan / grid_.a_scans;
    const std::int64_t slice = block.first_b_scan * slices_per_b_scan + output_line / grid_.a_scans;
    return static_cast<std::byte*>(voxel_target.data) +
           (slice - voxel_target.first_b_scan) * voxel_target.b_scan_bytes +
           output_line % grid_.a_scans * voxel_target.a_scan_bytes;
}

bool Runner::is_reversed(const Block& block, std::int64_t frame) const {
    return order_.is_reversed(block.first_b_scan * spec_.geometry.b_repeats + frame);
}

// Maps a recorded line of the block to its output position if every line is kept, and back: the mapping is an
// involution.
std::int64_t Runner::ordered(const Block& block, std::int64_t line) const {
    const std::int64_t frame = line / shape_.frame_lines, in_frame = line % shape_.frame_lines;
    const std::int64_t repeats = spec_.geometry.a_repeats;
    const std::int64_t a = order_.recorded(in_frame / repeats, is_reversed(block, frame));
    return frame * shape_.frame_lines + a * repeats + in_frame % repeats;
}

void Runner::lines_to_voxels(const Block& block, const VoxelTargets& targets) {
    reconstruct_lines(block, [&](Worker& worker, std::int64_t line, const std::complex<float>* bins) {
        const std::int64_t output_line = ordered(block, line);
        worker.lines.assign(is_invalid(line) ? 0 : 1, bins);
        worker.weights.assign(worker.lines.size(), 1.0f);
        store(worker, block, targets, output_line);
    });
}

void Runner::lines_to_bins(const Block& block) {
    reconstruct_lines(block, [&](Worker&, std::int64_t line, const std::complex<float>* bins) {
        std::complex<float>* to = bins_.data() + line * voxel_tables_.depth;
        if (is_invalid(line)) {
            std::fill_n(to, voxel_tables_.depth, std::complex<float>{});
        } else {
            std::copy_n(bins, voxel_tables_.depth, to);
        }
    });
}

void Runner::remove_fixed_patterns(const Block& block) {
    const std::int64_t depth = voxel_tables_.depth;
    const std::int64_t frames = block.b_scans * spec_.geometry.b_repeats;
    deal(frames * depth, run_of_lines, [&](Worker& worker, std::int64_t i) {
        remove_fixed_pattern(spec_.recipe.fixed_pattern, spec_.recipe.fixed_pattern_segments,
                             bins_.data() + i / depth * shape_.frame_lines * depth, shape_.frame_lines, depth,
                             i % depth, worker.column.data(),
                             invalid_.empty() ? nullptr : invalid_.data() + i / depth * shape_.frame_lines);
    });
}

void Runner::show_bins(const Block& block) {
    on_bins_({{block.volume, block.first_b_scan, block.b_scans},
              bins_.data(),
              voxel_tables_.depth,
              static_cast<double>(voxel_tables_.scale)});
}

void Runner::bins_to_voxels(const Block& block, const VoxelTargets& targets) {
    deal(block.b_scans * shape_.outputs_per_b_scan, run_of_lines, [&](Worker& worker, std::int64_t line) {
        join(worker, block, line);
        store(worker, block, targets, line);
    });
}

// Points worker.lines at the inputs of output line `output_line` of the block. Lines without a value are left out.
void Runner::join(Worker& worker, const Block& block, std::int64_t output_line) const {
    worker.lines.clear();
    worker.weights.clear();
    const std::int64_t b = output_line / grid_.a_scans;
    const std::int64_t a = output_line % grid_.a_scans;
    if (spec_.recipe.average != Average::none) {
        const std::int64_t repeats = spec_.geometry.b_repeats;
        const float share = 1.0f / static_cast<float>(repeats * spec_.geometry.a_repeats);
        for (std::int64_t frame = b * repeats; frame < (b + 1) * repeats; ++frame) {
            join_position(worker, block, frame, a, share);
        }
    } else if (!mixes_.empty()) {
        join_position(worker, block, b, a, 1);
    } else {
        const std::int64_t line = ordered(block, output_line);
        if (is_invalid(line)) return;
        worker.lines.push_back(bins_.data() + line * voxel_tables_.depth);
        worker.weights.push_back(1);
    }
    if (invalid_.empty()) return;
    const float sum = std::accumulate(worker.weights.begin(), worker.weights.end(), 0.0f);
    for (float& weight : worker.weights) weight /= sum;
}

// Adds the lines of frame `frame` that contribute to A-scan `a`, each position with all its repeats.
void Runner::join_position(Worker& worker, const Block& block, std::int64_t frame, std::int64_t a, float share) const {
    const RecordedPositions from = order_.positions(a, is_reversed(block, frame), mixes());
    const auto add = [&](std::int64_t position, float weight) {
        if (weight == 0) return;
        const std::int64_t first = frame * shape_.frame_lines + position * spec_.geometry.a_repeats;
        for (std::int64_t line = first; line < first + spec_.geometry.a_repeats; ++line) {
            if (is_invalid(line)) continue;
            worker.lines.push_back(bins_.data() + line * voxel_tables_.depth);
            worker.weights.push_back(weight);
        }
    };
    add(from.first, share * (1 - from.next));
    add(from.second, share * from.next);
}

void Runner::store(Worker& worker, const Block& block, const VoxelTargets& targets, std::int64_t output_line) {
    const Recipe& recipe = spec_.recipe;
    if (worker.lines.empty()) return store_missing_line(block, targets, output_line);
    if (recipe.quantity == Quantity::complex) {
        return worker.voxels.store_complex(worker.joined(), target(block, targets.structure, output_line));
    }
    const std::span<const float> values = worker.voxels.values(worker.joined());
    if (!values_.empty()) {
        std::copy(values.begin(), values.end(), values_.data() + output_line * voxel_tables_.depth);
        return;
    }
    store_codes(worker, values, {static_cast<float>(recipe.low), static_cast<float>(recipe.high)}, block, targets,
                output_line);
}

void Runner::store_missing_line(const Block& block, const VoxelTargets& targets, std::int64_t output_line) {
    if (!values_.empty()) {
        std::fill_n(values_.data() + output_line * voxel_tables_.depth, voxel_tables_.depth,
                    std::numeric_limits<float>::quiet_NaN());
    }
    const VoxelCode code = missing_structure_code(spec_.recipe, grid_.type, false);
    store_line(target(block, targets.structure, output_line), grid_.depth, grid_.type, code);
    if (!targets.peaks) return;
    store_line(target(block, targets.peaks->target, output_line), peaks_of(grid_.depth, targets.peaks->depths),
               grid_.type, code);
}

void Runner::store_codes(const Worker& worker, std::span<const float> values, CodeRange range, const Block& block,
                         const VoxelTargets& targets, std::int64_t output_line) const {
    std::byte* codes = target(block, targets.structure, output_line);
    worker.voxels.store(values, range, codes);
    if (!targets.peaks) return;
    store_peaks(grid_.type, codes, grid_.depth, targets.peaks->depths,
                target(block, targets.peaks->target, output_line));
}

// levels = frame: the codes of each B-scan span its min to max.
void Runner::store_frames(const Block& block, const VoxelTargets& targets) {
    const std::int64_t depth = voxel_tables_.depth;
    const std::int64_t slice_values = grid_.a_scans * depth;
    deal(block.b_scans * shape_.outputs_per_b_scan / grid_.a_scans, 1, [&](Worker& worker, std::int64_t slice) {
        const float* first = values_.data() + slice * slice_values;
        CodeRange range{std::numeric_limits<float>::infinity(), -std::numeric_limits<float>::infinity()};
        for (const float* value = first; value != first + slice_values; ++value) {
            range.low = *value < range.low ? *value : range.low;  // NaN compares false
            range.high = *value > range.high ? *value : range.high;
        }
        for (std::int64_t a = 0; a < grid_.a_scans; ++a) {
            if (std::isnan(first[a * depth])) continue;  // stored already
            store_codes(worker, {first + a * depth, index(depth)}, range, block, targets, slice * grid_.a_scans + a);
        }
    });
}

PositionBins Runner::position_bins(std::int64_t b) const {
    const std::int64_t lines = spec_.geometry.b_repeats * shape_.frame_lines;
    const std::int64_t pairs = flow_tables_->repeats.pairs();
    return {bins_.data() + b * lines * voxel_tables_.depth, voxel_tables_.depth, compared_[index(b)],
            bulk_.empty() ? nullptr : bulk_.data() + b * spec_.geometry.a_scans * pairs, pairs};
}

// Returns whether a repeat that the flow at `position` compares has no value.
bool Runner::has_invalid_repeat(std::int64_t b, std::int64_t position) const {
    const Repeats& repeats = flow_tables_->repeats;
    const std::int64_t first = b * spec_.geometry.b_repeats * shape_.frame_lines;
    for (std::int64_t series = 0; series < repeats.series; ++series) {
        for (std::int64_t repeat = 0; repeat < repeats.count; ++repeat) {
            if (is_invalid(first + repeats.line(position, series, repeat))) return true;
        }
    }
    return false;
}

// Zeroes all repeats of a position if one of them has no value, so that windows of neighbours ignore the position. If
// repeats are neighbouring A-scans, their other pairs keep their values.
void Runner::silence_invalid_repeats(const Block& block) {
    const Repeats& repeats = flow_tables_->repeats;
    if (repeats.step == repeats.position_step) return;
    deal(block.b_scans * repeats.positions, run_of_lines, [&](Worker&, std::int64_t i) {
        const std::int64_t b = i / repeats.positions, position = i % repeats.positions;
        if (!has_invalid_repeat(b, position)) return;
        const std::int64_t first = b * spec_.geometry.b_repeats * shape_.frame_lines;
        for (std::int64_t series = 0; series < repeats.series; ++series) {
            for (std::int64_t repeat = 0; repeat < repeats.count; ++repeat) {
                const std::int64_t line = first + repeats.line(position, series, repeat);
                std::fill_n(bins_.data() + line * voxel_tables_.depth, voxel_tables_.depth, std::complex<float>{});
            }
        }
    });
}

void Runner::store_missing_flow(const Block& block, const VoxelTarget& voxel_target) {
    const VoxelCode code = missing_flow_code(flow_grid_->type, false);
    deal(block.b_scans * grid_.a_scans, run_of_lines, [&](Worker&, std::int64_t line) {
        const std::int64_t b = line / grid_.a_scans;
        const RecordedPositions from =
            order_.positions(line % grid_.a_scans, is_reversed(block, b * spec_.geometry.b_repeats), mixes());
        const bool is_missing =
            has_invalid_repeat(b, from.first) || (from.next > 0 && has_invalid_repeat(b, from.second));
        if (is_missing) store_line(target(block, voxel_target, line), flow_grid_->depth, flow_grid_->type, code);
    });
}

void Runner::bins_to_flow(const Block& block, const VoxelTargets& targets) {
    if (!invalid_.empty()) silence_invalid_repeats(block);
    if (flow_tables_->aligns) align_repeats(block, targets.repeats);
    if (flow_tables_->removes_bulk) find_bulk_motion(block);
    const VoxelTarget& voxel_target = *targets.flow;
    const std::int64_t runs = (grid_.a_scans + run_of_flow - 1) / run_of_flow;
    deal(block.b_scans * runs, 1, [&](Worker& worker, std::int64_t run) {
        const std::int64_t b = run / runs, first = run % runs * run_of_flow;
        const bool reversed = is_reversed(block, b * spec_.geometry.b_repeats);
        worker.flow->begin(position_bins(b));
        for (std::int64_t a = first; a < std::min(first + run_of_flow, grid_.a_scans); ++a) {
            const RecordedPositions from = order_.positions(a, reversed, mixes());
            const std::int64_t line = b * grid_.a_scans + a;
            if (!is_compared(b)) {
                worker.flow->store_empty(target(block, voxel_target, line));
            } else if (flow_tables_->unwraps) {
                worker.flow->phases(from, phases_.data() + line * voxel_tables_.depth);
            } else if (!decorrelations_.empty()) {
                worker.flow->decorrelations(from, decorrelations_.data() + line * voxel_tables_.depth);
            } else {
                worker.flow->store(from, target(block, voxel_target, line));
            }
        }
    });
    if (flow_tables_->unwraps) store_velocities(block, voxel_target);
    if (!decorrelations_.empty()) store_decorrelations(block, targets);
    if (!invalid_.empty()) store_missing_flow(block, voxel_target);
}

// Aligns in place: bins_ holds the aligned repeats afterwards, and compared_ their number.
void Runner::align_repeats(const Block& block, const std::optional<RepeatReports>& reports) {
    deal(block.b_scans, 1, [&](Worker& worker, std::int64_t b) {
        auto* bins = bins_.data() + b * spec_.geometry.b_repeats * shape_.frame_lines * voxel_tables_.depth;
        compared_[index(b)] = worker.aligner->align(bins, reports_of(block, reports, b));
    });
}

RepeatReport* Runner::reports_of(const Block& block, const std::optional<RepeatReports>& reports,
                                 std::int64_t b) const {
    if (!reports || !(flow_tables_->aligns || !decorrelations_.empty())) return nullptr;
    return reports->data + (block.first_b_scan + b - reports->first_b_scan) * spec_.geometry.b_repeats;
}

bool Runner::is_compared(std::int64_t b) const {
    return compared_[index(b)].count >= min_compared(flow_tables_->method);
}

void Runner::find_bulk_motion(const Block& block) {
    const Repeats& repeats = flow_tables_->repeats;
    deal(block.b_scans * repeats.positions, run_of_lines, [&](Worker& worker, std::int64_t i) {
        const std::int64_t b = i / repeats.positions, position = i % repeats.positions;
        if (!is_compared(b)) return;
        Phasor* bulk = bulk_.data() + (b * spec_.geometry.a_scans + position) * repeats.pairs();
        worker.flow->find_bulk(position_bins(b), position, bulk);
    });
}

void Runner::store_velocities(const Block& block, const VoxelTarget& voxel_target) {
    const std::int64_t depth = voxel_tables_.depth;
    deal(block.b_scans, 1, [&](Worker& worker, std::int64_t b) {
        float* phases = phases_.data() + b * grid_.a_scans * depth;
        unwrap(phases, grid_.a_scans, depth);
        for (std::int64_t a = 0; a < grid_.a_scans; ++a) {
            worker.flow->store_velocities(phases + a * depth, target(block, voxel_target, b * grid_.a_scans + a));
        }
    });
}

// The bulk decorrelation of a B-scan is known only after all its voxels, so codes are stored in a second pass.
void Runner::store_decorrelations(const Block& block, const VoxelTargets& targets) {
    const std::int64_t depth = voxel_tables_.depth;
    deal(block.b_scans, 1, [&](Worker& worker, std::int64_t b) {
        if (!is_compared(b)) return;
        const float bulk = bulk_decorrelation(b);
        if (RepeatReport* reports = reports_of(block, targets.repeats, b); reports != nullptr) {
            for (std::int64_t r = 0; r < spec_.geometry.b_repeats; ++r) reports[r].bulk_decorrelation = bulk;
        }
        for (std::int64_t line = b * grid_.a_scans; line < (b + 1) * grid_.a_scans; ++line) {
            std::byte* codes = target(block, *targets.flow, line);
            if (bulk > BulkDecorrelation::max_shown) {
                worker.flow->store_empty(codes);
            } else {
                worker.flow->store_decorrelations(decorrelations_.data() + line * depth, compared_[index(b)], bulk,
                                                  codes);
            }
        }
    });
}

float Runner::bulk_decorrelation(std::int64_t b) const {
    const std::int64_t voxels = grid_.a_scans * voxel_tables_.depth;
    std::array<std::uint32_t, BulkDecorrelation::bins> counts{};
    for (std::int64_t i = b * voxels; i < (b + 1) * voxels; ++i) {
        const std::int32_t bin = BulkDecorrelation::bin_of(decorrelations_[index(i)]);
        if (bin >= 0) ++counts[index(bin)];
    }
    return BulkDecorrelation::median(counts.data());
}

}  // namespace echolux::cpu

namespace echolux {

std::unique_ptr<Reconstructor> plan_on_cpu(const ReconstructionSpec& spec) {
    try {
        return std::make_unique<cpu::Runner>(spec);
    } catch (const std::bad_alloc&) {
        throw Error(ErrorCode::out_of_memory,
                    fmt::format("no memory for blocks of {} of {}", plural(spec.block_b_scans, "B-scans"),
                                plural(spec.geometry.lines_per_b_scan(), "A-scans")),
                    "plan", "reconstruct fewer B-scans at a time");
    }
}

}  // namespace echolux

namespace echolux::cpu {

// A Runner with a caller's callbacks: decodes spectra for the spectra callback and passes complete voxels to the voxel
// callback. The inner Runner calls the callback for depth bins.
class HookedRunner : public Reconstructor {
  public:
    HookedRunner(const ReconstructionSpec& spec, std::shared_ptr<const PipelineHooks> hooks);

    const VolumeGrid& grid() const override { return runner_.grid(); }
    const std::optional<VolumeGrid>& flow_grid() const override { return runner_.flow_grid(); }
    Backend backend() const override { return Backend::cpu; }
    std::string backend_description() const override { return runner_.backend_description(); }
    void prime(const Block& block) override { runner_.prime(after_spectra_hook(block)); }
    Completion submit(const Block& block, const VoxelTargets& targets) override;
    void wait(Completion) override {}

  private:
    // Decodes the block to f32, calls the spectra callback, and returns the decoded block.
    Block after_spectra_hook(const Block& block);

    ReconstructionSpec spec_;
    std::shared_ptr<const PipelineHooks> hooks_;
    Runner runner_;
    std::vector<float> counts_;  // counts of one block, for the spectra callback
};

}  // namespace echolux::cpu

namespace echolux::cpu {
// The format of decoded spectra.
static RawFormat decoded_format() {
    RawFormat format;
    format.sample_format = SampleFormat::f32;
    return format;
}

// The inner Runner receives decoded spectra if a callback may change them.
static ReconstructionSpec spec_after_spectra_hook(ReconstructionSpec spec, const PipelineHooks& hooks) {
    if (hooks.spectra) spec.format = decoded_format();
    return spec;
}

static std::int64_t lines_of_a_position(const ScanGeometry& geometry) {
    return geometry.b_repeats * geometry.lines_per_b_scan();
}

HookedRunner::HookedRunner(const ReconstructionSpec& spec, std::shared_ptr<const PipelineHooks> hooks)
    : spec_(spec), hooks_(std::move(hooks)), runner_(spec_after_spectra_hook(spec, *hooks_), hooks_->bins) {
    if (!hooks_->spectra) return;
    const std::int64_t lines = spec.block_b_scans * lines_of_a_position(spec.geometry);
    counts_.resize(index(lines * spec.geometry.samples));
}

Block HookedRunner::after_spectra_hook(const Block& block) {
    if (!hooks_->spectra || is_missing(block)) return block;
    check_block(block, spec_);
    if (block.memory == MemoryKind::device) {
        throw Error(ErrorCode::bad_setting, "the CPU cannot read GPU memory", "block");
    }
    const std::int64_t samples = spec_.geometry.samples;
    const std::int64_t lines = block.b_scans * lines_of_a_position(spec_.geometry);
    const LineFormat format(spec_.format, spec_.geometry);
    const std::int64_t frame_lines = spec_.geometry.lines_per_b_scan(), frame_bytes = frame_lines * format.line_bytes();
    format.with_reader([&](const auto& read) {
        parallel_for(0, lines, [&](std::int64_t line) {
            const std::byte* from = block.data + frame_offset(block.frames, line / frame_lines, frame_bytes) +
                                    line % frame_lines * format.line_bytes();
            float* to = counts_.data() + line * samples;
            for (std::int64_t p = 0; p < samples; ++p) to[p] = static_cast<float>(read(from, p));
            // one such sample keeps the line without a value
            if (has_invalid_sample(read, from, samples)) to[0] = std::numeric_limits<float>::quiet_NaN();
        });
    });
    hooks_->spectra({{block.volume, block.first_b_scan, block.b_scans}, counts_.data()});
    Block decoded = block;
    decoded.data = reinterpret_cast<const std::byte*>(counts_.data());
    decoded.bytes = lines * samples * static_cast<std::int64_t>(sizeof(float));
    decoded.frames = {};
    return decoded;
}

Completion HookedRunner::submit(const Block& block, const VoxelTargets& targets) {
    const Completion done = runner_.submit(after_spectra_hook(block), targets);
    if (!hooks_->voxels || is_missing(block)) return done;
    const VoxelTarget& voxel_target = targets.structure;
    const std::int64_t slices = grid().b_scans / spec_.geometry.b_scans;
    const std::int64_t first = block.first_b_scan * slices;
    auto* voxels =
        static_cast<std::byte*>(voxel_target.data) + (first - voxel_target.first_b_scan) * voxel_target.b_scan_bytes;
    hooks_->voxels(
        {block.volume, first, block.b_scans * slices, voxels, voxel_target.a_scan_bytes, voxel_target.b_scan_bytes},
        grid());
    return done;
}

}  // namespace echolux::cpu

namespace echolux {

std::unique_ptr<Reconstructor> plan_on_cpu(const ReconstructionSpec& spec, std::shared_ptr<const PipelineHooks> hooks) {
    if (!hooks) return plan_on_cpu(spec);
    try {
        return std::make_unique<cpu::HookedRunner>(spec, std::move(hooks));
    } catch (const std::bad_alloc&) {
        throw Error(ErrorCode::out_of_memory,
                    fmt::format("no memory for blocks of {} with stages", plural(spec.block_b_scans, "B-scans")),
                    "plan", "reconstruct fewer B-scans at a time");
    }
}

}  // namespace echolux
