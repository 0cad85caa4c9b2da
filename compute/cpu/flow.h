// Flow on the CPU (docs/algorithms.md 5): computes one output A-scan at a time from the complex depth bins of its
// slow-axis position. Each worker thread owns one object with its buffers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "compute/cpu/angiography.h"
#include "compute/cpu/bins.h"
#include "compute/cpu/step_planes.h"
#include "compute/flow/flow_tables.h"
#include "compute/plan/plan_tables.h"
#include "compute/steps/angiography.h"
#include "compute/steps/flow.h"

namespace echolux::cpu {

// Computes flow of output A-scans. Owns the buffers of one thread; the tables must outlive it.
class FlowLine {
  public:
    explicit FlowLine(const FlowTables& tables);

    // Computes the directions of the bulk steps between the repeats of a recorded A-scan position, [pairs].
    void find_bulk(const PositionBins& bins, std::int64_t position, Phasor* bulk) const;

    // Selects the bins for the following calls. Consecutive A-scans share work.
    void begin(const PositionBins& bins);

    // Stores the codes of an output A-scan, [depth] of two bytes each.
    void store(const RecordedPositions& from, std::byte* target);

    // Returns the wrapped phases of an output A-scan in rad, [depth], NaN if masked. Input of unwrap().
    void phases(const RecordedPositions& from, float* phase);

    // Stores unwrapped phases as velocities, 0 if masked.
    void store_velocities(const float* phase, std::byte* target);

    // For complex_decorrelation: computes the decorrelation of an output A-scan, [depth], and stores its codes once the
    // bulk decorrelation of the B-scan is known.
    void decorrelations(const RecordedPositions& from, NoisyDecorrelation* found);
    void store_decorrelations(const NoisyDecorrelation* found, const Repeats& compared, float bulk, std::byte* target);

    // Stores an A-scan without valid values.
    void store_nothing(std::byte* target);

  private:
    // Averages phase steps over the window into mean_.
    void mean_steps(const RecordedPositions& from);
    // Adds the steps of a recorded position and its window over A-scans, times `weight`, to over_lines_.
    void add_window(std::int64_t position, float weight);
    // Combines the angiograms of one or two recorded positions into mixed_.
    void mean_angiogram(const RecordedPositions& from);
    // Copies codes_ to the target, reversed for depth_flip.
    void store_codes(std::byte* target);

    const FlowTables& tables_;
    PositionBins bins_{};
    PositionSteps steps_;
    StepPlanes over_lines_, mean_;  // sums of an output A-scan
    std::vector<float> shares_;     // weight of each bin in its depth window
    AngiogramLine angiogram_;
    std::vector<Angiogram> mixed_;
    std::vector<std::uint16_t> codes_;
};

// Adds whole turns to the phases of a B-scan, [a_scans][depth], along depth, starting from the previous A-scan.
void unwrap(float* phases, std::int64_t a_scans, std::int64_t depth);

}  // namespace echolux::cpu
