// Angiography on the CPU, one A-scan at a time (docs/algorithms.md 5.2).
#pragma once

#include <span>
#include <vector>

#include "compute/cpu/bins.h"
#include "compute/cpu/step_planes.h"
#include "compute/flow/flow_tables.h"
#include "compute/steps/angiography.h"

namespace echolux::cpu {

// Computes angiograms of A-scan positions. Owns the buffers of one thread.
class AngiogramLine {
  public:
    explicit AngiogramLine(const FlowTables& tables);

    // Returns the angiogram of a recorded A-scan position, [depth]. Valid until the next call.
    std::span<const Angiogram> of(const PositionBins& bins, std::int64_t position);

  private:
    template <class Method>
    void each_voxel(const PositionBins& bins, std::int64_t position);
    void add_power(const PositionBins& bins, std::int64_t position);
    // Decorrelation averaged over sub-bands (split-spectrum angiography).
    void split_spectrum(const PositionBins& bins, std::int64_t position);
    // Amplitudes of a line in sub-band `band`, [depth].
    void band_amplitudes(const float* line, std::int64_t band, std::vector<float>& amplitudes) const;
    void differential_variance(const PositionBins& bins, std::int64_t position);
    void correlation(const PositionBins& bins, std::int64_t position);

    const FlowTables& tables_;
    std::vector<Angiogram> found_;
    std::vector<float> earlier_, later_;  // amplitudes in one sub-band
    std::vector<Decorrelation> decorrelation_;
    StepPlanes steps_, over_depth_;  // steps of one pair of repeats
    std::vector<float> shares_;
    std::vector<ComplexDifferentialVariance> variance_;
    std::vector<CorrelationSums> columns_;  // sums of one pair over positions
};

}  // namespace echolux::cpu
