// Executes a plan on the CPU. Lines are distributed to one worker per thread. Each line depends only on its own samples
// and the background of its B-scan, so voxels do not depend on the number of threads or the block size.
//
// There are two paths through a block: directly from line to voxels or, if whole B-scans are required (fixed pattern,
// averaging, uneven fast axis, flow), through complex depth bins in memory.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "compute/cpu/background.h"
#include "compute/cpu/flow.h"
#include "compute/cpu/line_method.h"
#include "compute/cpu/repeat_alignment.h"
#include "compute/cpu/voxels.h"
#include "compute/indexing.h"
#include "compute/plan/tables.h"
#include "compute/reconstructor.h"
#include "compute/repeat_report.h"

namespace echolux::cpu {

// The reference implementation of Reconstructor. All work is done within submit().
class Runner : public Reconstructor {
  public:
    // `on_bins` may be empty.
    explicit Runner(const ReconstructionSpec& spec, decltype(PipelineHooks::bins) on_bins = {});

    const VolumeGrid& grid() const override { return grid_; }
    const std::optional<VolumeGrid>& flow_grid() const override { return flow_grid_; }
    Backend backend() const override { return Backend::cpu; }
    std::string backend_description() const override;
    void prime(const Block& block) override;
    Completion submit(const Block& block, const VoxelTargets& targets) override;
    void wait(Completion) override {}  // submit() is synchronous
    void resume_after(Reconstructor& before) override {
        background_.resume_after(dynamic_cast<const Runner&>(before).background_);
    }

  private:
    // State of one thread.
    struct Worker {
        Worker(std::unique_ptr<LineMethod> chosen, const VoxelTables& tables, const BlockShape& shape,
               const std::optional<FlowTables>& flow_tables);
        std::unique_ptr<LineMethod> method;
        VoxelLine voxels;
        std::vector<RawLine> raw;                       // lines processed together by the method
        std::vector<float> column;                      // scratch memory of a B-scan column, for the fixed pattern
        std::vector<const std::complex<float>*> lines;  // inputs of one output line
        std::vector<float> weights;
        std::optional<FlowLine> flow;
        std::optional<RepeatAligner> aligner;

        JoinedLines joined() const { return {lines, weights}; }
    };

    // Calls body(worker, i) for i in [0, count), in runs of `run` consecutive i.
    template <class Body>
    void deal(std::int64_t count, std::int64_t run, const Body& body);

    // Calls use(worker, line, bins) for every line of the block.
    template <class Use>
    void reconstruct_lines(const Block& block, const Use& use);

    void check(const Block& block) const;
    void check(const Block& block, const VoxelTargets& targets) const;
    std::byte* target(const Block& block, const VoxelTarget& voxel_target, std::int64_t output_line) const;
    // Flags the lines of the block without a value, as input of the background.
    const std::vector<std::uint8_t>& find_invalid(const Block& block);
    bool is_invalid(std::int64_t line) const { return !invalid_.empty() && invalid_[index(line)] != 0; }
    bool is_reversed(const Block& block, std::int64_t frame) const;
    std::int64_t ordered(const Block& block, std::int64_t line) const;
    const LineMix* mixes() const { return mixes_.empty() ? nullptr : mixes_.data(); }

    // The direct path: reconstructs lines and stores them as voxels.
    void lines_to_voxels(const Block& block, const VoxelTargets& targets);
    // The path through memory: reconstructs lines to bins_.
    void lines_to_bins(const Block& block);
    void remove_fixed_patterns(const Block& block);
    void bins_to_voxels(const Block& block, const VoxelTargets& targets);
    void join(Worker& worker, const Block& block, std::int64_t output_line) const;
    void join_position(Worker& worker, const Block& block, std::int64_t frame, std::int64_t a, float share) const;
    void store(Worker& worker, const Block& block, const VoxelTargets& targets, std::int64_t output_line);
    void store_missing_line(const Block& block, const VoxelTargets& targets, std::int64_t output_line);
    void store_codes(const Worker& worker, std::span<const float> values, CodeRange range, const Block& block,
                     const VoxelTargets& targets, std::int64_t output_line) const;
    // Converts values_ to codes, each B-scan over its own range.
    void store_frames(const Block& block, const VoxelTargets& targets);

    PositionBins position_bins(std::int64_t b) const;
    void bins_to_flow(const Block& block, const VoxelTargets& targets);
    bool has_invalid_repeat(std::int64_t b, std::int64_t position) const;
    void silence_invalid_repeats(const Block& block);
    void store_missing_flow(const Block& block, const VoxelTarget& voxel_target);
    void align_repeats(const Block& block, const std::optional<RepeatReports>& reports);
    RepeatReport* reports_of(const Block& block, const std::optional<RepeatReports>& reports, std::int64_t b) const;
    bool is_compared(std::int64_t b) const;
    void find_bulk_motion(const Block& block);
    void store_velocities(const Block& block, const VoxelTarget& voxel_target);
    void store_decorrelations(const Block& block, const VoxelTargets& targets);
    float bulk_decorrelation(std::int64_t b) const;

    void show_bins(const Block& block);

    ReconstructionSpec spec_;
    VolumeGrid grid_;
    std::optional<VolumeGrid> flow_grid_;
    LineFormat format_;
    PlainTables plain_;
    DepthRange kept_;
    LineMethodMaker make_method_;
    VoxelTables voxel_tables_;
    BlockShape shape_;
    ScanOrder order_;
    std::vector<LineMix> mixes_;
    std::optional<FlowTables> flow_tables_;
    FrameBackground background_;
    std::vector<Worker> workers_;
    std::vector<std::complex<float>> bins_;  // [frames][lines][depth]
    std::vector<float> values_;              // [output lines][depth], for levels = frame
    std::vector<Phasor> bulk_;               // [b_scans][a_scans][pairs of repeats], for removal of bulk motion
    std::vector<float> phases_;              // [b_scans][a_scans][depth], for unwrapped velocities
    std::vector<Repeats> compared_;          // [b_scans], the repeats compared at each position
    std::vector<NoisyDecorrelation> decorrelations_;  // [b_scans][a_scans][depth], for complex_decorrelation
    std::vector<std::uint8_t> invalid_;  // [frames][lines] of the block (compute/invalid_lines.h); empty if all count
    decltype(PipelineHooks::bins) on_bins_;
};

}  // namespace echolux::cpu
