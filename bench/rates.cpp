#include "bench/rates.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <memory>

#include "engine/scan/scan.h"

namespace echolux {
namespace {

// Voxel memory of one processor.
struct Target {
    BlockMemory structure, flow;
    VoxelTargets targets;
};

Target target_of(const BenchProcessor& processor, const Reconstructor& reconstructor, VoxelDestination go) {
    const auto memory = [&](const VolumeGrid& grid) {
        return go == VoxelDestination::none ? processor.voxels(grid.bytes())
                                            : block_memory(grid.bytes(), processor.source());
    };
    const TargetKind kind = go == VoxelDestination::none ? processor.target_kind() : TargetKind::host_linear;
    const BlockMemory structure = memory(reconstructor.grid());
    const VoxelTarget target = packed_target(structure.data, reconstructor.grid(), 0, kind);
    const auto& flow_grid = reconstructor.flow_grid();
    if (!flow_grid) return {structure, {}, target};
    const BlockMemory flow = memory(*flow_grid);
    return {structure, flow, {target, packed_target(flow.data, *flow_grid, 0, kind)}};
}

class VolumeLoop {
  public:
    VolumeLoop(const ReconstructionSpec& spec, const BenchProcessor& processor, VoxelDestination go)
        : reconstructor_(make_reconstructor(spec, processor.choice)) {
        for (const BenchProcessor& one : processor.each()) targets_.push_back(target_of(one, *reconstructor_, go));
    }

    // Submits blocks in turn to the processors, each from and to its own memory.
    void submit(std::span<const BenchSpectra> spectra) {
        for (std::size_t i = 0; i < spectra.front().blocks().size(); ++i) {
            const std::size_t turn = submitted_++ % targets_.size();
            in_flight_.push_back(reconstructor_->submit(spectra[turn].blocks()[i], targets_[turn].targets));
            if (in_flight_.size() > max_in_flight) wait_for_oldest();
        }
    }

    void finish() {
        while (!in_flight_.empty()) wait_for_oldest();
    }

  private:
    static constexpr std::size_t max_in_flight = 64;  // blocks; more than the streams of eight GPUs hold by default

    void wait_for_oldest() {
        reconstructor_->wait(in_flight_.front());
        in_flight_.pop_front();
    }

    std::vector<Target> targets_;
    std::unique_ptr<Reconstructor> reconstructor_;  // last, so that it is destroyed before the memory it writes to
    std::size_t submitted_ = 0;
    std::deque<Completion> in_flight_;
};

constexpr std::int64_t fewest = 16;  // A-scans; the minimum even for expensive methods

std::string location_text(const BenchCase& one, const BenchProcessor& processor) {
    const char* from = one.from_host ? processor.source_name() : processor.home_name();
    return fmt::format("{} to {}", from, one.voxels == VoxelDestination::host ? from : processor.home_name());
}

}  // namespace

std::vector<double> loop_rates(BenchBook& book, const BenchSize& size, const ReconstructionSpec& spec,
                               const BenchProcessor& processor, std::span<const BenchSpectra> spectra,
                               VoxelDestination go) {
    VolumeLoop loop(spec, processor, go);
    const auto volume = [&] {
        book.poll();
        loop.submit(spectra);
    };
    return rates_of(static_cast<double>(size.lines()), book.effort(), volume, [&] { loop.finish(); });
}

std::vector<double> seconds_until(BlockState what, BenchBook& book, const ReconstructionSpec& spec,
                                  const BenchProcessor& processor, std::span<const BenchSpectra> spectra) {
    VolumeLoop loop(spec, processor, VoxelDestination::none);
    // Many repetitions, because a block takes only some tens of microseconds.
    return book.repeated(2, 100, [&](int) {
        const double seconds = seconds_of([&] {
            loop.submit(spectra);
            if (what == BlockState::finished) loop.finish();
        });
        loop.finish();
        return seconds;
    });
}

// The submitting thread sleeps while the queue is full and needs time to wake up. The work in flight must last longer
// than that; otherwise the scheduler is measured. Small blocks therefore need a deeper queue.
int blocks_in_flight(std::int64_t lines) {
    constexpr std::int64_t lines_in_flight = 65536;  // 0.4 ms at 150 M A-scans/s
    return static_cast<int>(std::clamp<std::int64_t>((lines_in_flight + lines - 1) / lines, 3, 16));
}

BenchSize size_of(const BenchCase& one, const BenchSize& run, bool on_gpu) {
    auto lines = static_cast<std::int64_t>(static_cast<double>(run.lines()) / (on_gpu ? 1 : one.cost));
    if (one.b_scans > 0) lines = on_gpu ? one.a_scans * one.b_scans : std::min(lines, one.a_scans * one.b_scans);
    BenchSize size{one.samples, one.a_scans > 0 ? one.a_scans : run.a_scans, 1,
                   one.block_b_scans > 0 ? one.block_b_scans : run.block_b_scans};
    if (!on_gpu) {
        size.a_scans = std::clamp(lines, std::min(fewest, size.a_scans), size.a_scans);
        size.block_b_scans = std::clamp<std::int64_t>(lines / size.a_scans, 1, size.block_b_scans);
    }
    const std::int64_t block = size.a_scans * size.block_b_scans;
    size.b_scans = std::max<std::int64_t>(1, lines / block) * size.block_b_scans;
    return size;
}

ReconstructionSpec spec_of(const BenchCase& one, const BenchSize& size) {
    ReconstructionSpec spec = chain_spec(size);
    spec.block_b_scans = size.block_b_scans;
    Settings settings;
    bind_recipe(settings, spec);
    if (!one.recipe.empty()) {
        for (const std::string& assignment : assignments_of_recipe(one.recipe)) settings.set_assignment(assignment);
    }
    for (const std::string& assignment : one.changes) settings.set_assignment(assignment);
    return spec;
}

std::vector<BenchSpectra> spectra_of(const BenchCase& one, const BenchSize& size, const BenchProcessor& processor) {
    std::vector<BenchSpectra> spectra;
    for (const BenchProcessor& each : processor.each()) {
        spectra.emplace_back(size, SampleFormat::u16, one.from_host ? each.source() : each.home(), each.choice.gpu);
    }
    return spectra;
}

void measure(BenchBook& book, const BenchCase& one, const BenchSize& run, const BenchProcessor& processor,
             std::initializer_list<BenchLimit> limits) {
    const BenchSize size = size_of(one, run, processor.is_gpu());
    BenchProcessor with = processor;
    with.choice.streams = std::max(with.choice.streams, blocks_in_flight(size.a_scans * size.block_b_scans));
    const std::string meaning = fmt::format("{}, {}", one.meaning, location_text(one, with));
    const std::string fewer =
        size.a_scans < one.a_scans ? fmt::format("{} A-scans at a time instead of {}", size.a_scans, one.a_scans) : "";
    if (one.is_batch && !fewer.empty()) return book.skip(one.key, meaning, "a CPU would take " + fewer);
    BenchFigure& figure = book.figure(
        one.key, meaning + (fewer.empty() ? "" : ", " + fewer), "A-scans/s",
        [&] {
            const auto spectra = spectra_of(one, size, with);
            return loop_rates(book, size, spec_of(one, size), with, spectra, one.voxels);
        },
        limits);
    figure.remark = fewer;
}

}  // namespace echolux
