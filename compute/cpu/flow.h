// Flow on the CPU (docs/algorithms.md 5): an output A-scan at a time, from the complex depth bins of its slow position.
// Each worker thread owns one with its buffers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "compute/cpu/angiography.h"
#include "compute/cpu/bins.h"
#include "compute/cpu/step_planes.h"
#include "compute/flow/flow_tables.h"
#include "compute/plan/scan_order.h"
#include "compute/steps/decorrelation.h"
#include "compute/steps/flow.h"

namespace echolux::cpu {

class FlowLine {
  public:
    explicit FlowLine(const FlowTables& tables);

    // Directions of the bulk steps between the repeats of a recorded A-scan position, [pairs].
    void find_bulk(const PositionBins& bins, std::int64_t position, Phasor* bulk) const;

    // What follows is about these bins: A-scans that follow one another share work.
    void begin(const PositionBins& bins);

    // The codes of an output A-scan, [depth] of two bytes each.
    void store(const RecordedPositions& from, std::byte* target);

    // Its phases in rad, [depth], NaN where masked: what unwrapping begins with.
    void phases(const RecordedPositions& from, float* phase);

    // Phases that have been unwrapped, as velocities; 0 where masked.
    void store_velocities(const float* phase, std::byte* target);

    // For complex_decorrelation: that of an output A-scan, [depth], and its codes once the B-scan's bulk is known.
    void decorrelations(const RecordedPositions& from, NoisyDecorrelation* found);
    void store_decorrelations(const NoisyDecorrelation* found, const Repeats& compared, float bulk, std::byte* target);

    // An A-scan of which nothing is known.
    void store_nothing(std::byte* target);

  private:
    void mean_steps(const RecordedPositions& from);
    void add_window(std::int64_t position, float weight);
    void mean_angiogram(const RecordedPositions& from);
    void store_codes(std::byte* target);

    const FlowTables& tables_;
    PositionBins bins_{};
    PositionSteps steps_;
    StepPlanes over_lines_, mean_;  // of an output A-scan
    std::vector<float> shares_;     // of each bin's window along depth
    AngiogramLine angiogram_;
    std::vector<Angiogram> mixed_;
    std::vector<std::uint16_t> codes_;
};

// Adds whole turns to the phases of a B-scan, [a_scans][depth], along depth and seeded from the A-scan before.
void unwrap(float* phases, std::int64_t a_scans, std::int64_t depth);

}  // namespace echolux::cpu
