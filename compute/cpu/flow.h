// Flow on the CPU (docs/algorithms.md 5): an output A-scan at a time, from the complex depth bins of its slow position.
// Each worker thread owns one with its buffers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "compute/cpu/angiography.h"
#include "compute/cpu/bins.h"
#include "compute/flow/flow_tables.h"
#include "compute/scan_order.h"
#include "compute/steps/flow.h"

namespace echolux {

class FlowLine {
  public:
    explicit FlowLine(const FlowTables& tables);

    // Directions of the bulk steps between the looks of a recorded A-scan position, [pairs].
    void find_bulk(const PositionBins& bins, std::int64_t position, Phasor* bulk) const;

    // The codes of an output A-scan, [depth] of two bytes each.
    void store(const PositionBins& bins, const RecordedPositions& from, std::byte* target);

    // Its phases in rad, [depth], NaN where masked: what unwrapping begins with.
    void phases(const PositionBins& bins, const RecordedPositions& from, float* phase);

    // Phases that have been unwrapped, as velocities; 0 where masked.
    void store_velocities(const float* phase, std::byte* target) const;

  private:
    void mean_steps(const PositionBins& bins, const RecordedPositions& from);
    void add_window(const PositionBins& bins, std::int64_t position, float weight);
    void mean_over_depth();
    void mean_angiogram(const PositionBins& bins, const RecordedPositions& from);
    template <class Value, class Code>
    void store_each(const Value* values, const Code& code, std::byte* target) const;

    const FlowTables& tables_;
    AngiogramLine angiogram_;
    std::vector<float> re_, im_, power_;  // mean phase step of each depth, over lines
    std::vector<PhaseStep> steps_;        // over lines and depths
    std::vector<Angiogram> mixed_;
};

// Adds whole turns to the phases of a B-scan, [a_scans][depth], along depth and seeded from the A-scan before.
void unwrap(float* phases, std::int64_t a_scans, std::int64_t depth);

}  // namespace echolux
