#include "bench/loop.h"

#include <algorithm>
#include <chrono>
#include <deque>
#include <memory>

#include "app/seconds_since.h"

namespace echolux {
namespace {

// Where the voxels of one processor go.
struct Target {
    BlockMemory structure, flow;
    Places places;
};

Target target_of(const BenchProcessor& processor, const Reconstructor& reconstructor, VoxelsGo go) {
    const auto memory = [&](const VolumeGrid& grid) {
        return go == VoxelsGo::nowhere ? processor.voxels(grid.bytes())
                                       : block_memory(grid.bytes(), processor.source());
    };
    const PlaceKind kind = go == VoxelsGo::nowhere ? processor.place() : PlaceKind::host_linear;
    const BlockMemory structure = memory(reconstructor.grid());
    const Place place = packed_place(structure.data, reconstructor.grid(), 0, kind);
    const auto& flow_grid = reconstructor.flow_grid();
    if (!flow_grid) return {structure, {}, place};
    const BlockMemory flow = memory(*flow_grid);
    return {structure, flow, {place, packed_place(flow.data, *flow_grid, 0, kind)}};
}

class VolumeLoop {
  public:
    VolumeLoop(const ReconstructionSpec& plan, const BenchProcessor& processor, VoxelsGo go)
        : reconstructor_(make_reconstructor(plan, processor.choice)) {
        for (const BenchProcessor& one : processor.each()) targets_.push_back(target_of(one, *reconstructor_, go));
    }

    // Each block from and to the memory of the processor whose turn it is.
    void submit(std::span<const BenchSpectra> spectra) {
        for (std::size_t i = 0; i < spectra.front().blocks().size(); ++i) {
            const std::size_t turn = submitted_++ % targets_.size();
            under_way_.push_back(reconstructor_->submit(spectra[turn].blocks()[i], targets_[turn].places));
            if (under_way_.size() > max_under_way) wait_for_oldest();
        }
    }

    void finish() {
        while (!under_way_.empty()) wait_for_oldest();
    }

  private:
    static constexpr std::size_t max_under_way = 64;

    void wait_for_oldest() {
        reconstructor_->wait(under_way_.front());
        under_way_.pop_front();
    }

    std::vector<Target> targets_;
    std::unique_ptr<Reconstructor> reconstructor_;  // goes first: it writes to them
    std::size_t submitted_ = 0;
    std::deque<Completion> under_way_;
};

}  // namespace

std::vector<double> loop_rates(BenchBook& book, const BenchSize& size, const ReconstructionSpec& plan,
                               const BenchProcessor& processor, std::span<const BenchSpectra> spectra, VoxelsGo go) {
    VolumeLoop loop(plan, processor, go);
    const auto volume = [&] {
        book.poll();
        loop.submit(spectra);
    };
    return rates_of(static_cast<double>(size.lines()), book.effort(), volume, [&] { loop.finish(); });
}

std::vector<double> submission_seconds(BenchBook& book, const ReconstructionSpec& plan, const BenchProcessor& processor,
                                       std::span<const BenchSpectra> spectra) {
    constexpr int repetitions = 100;
    VolumeLoop loop(plan, processor, VoxelsGo::nowhere);
    std::vector<double> found;
    for (int i = -2; i < repetitions; ++i) {  // the first ones warm up
        book.poll();
        const auto start = std::chrono::steady_clock::now();
        loop.submit(spectra);
        if (i >= 0) found.push_back(seconds_since(start));
        loop.finish();
    }
    return found;
}

// Whoever submits sleeps while as many blocks are under way as may be, and takes time to wake up. What is under way
// meanwhile has to last longer, or else the operating system's clock is measured: of small blocks there must be more.
int blocks_under_way(std::int64_t lines) {
    constexpr std::int64_t lines_under_way = 65536;  // 0.4 ms at 150 M A-scans/s
    return static_cast<int>(std::clamp<std::int64_t>((lines_under_way + lines - 1) / lines, 3, 16));
}

}  // namespace echolux
