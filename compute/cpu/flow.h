// Flow on the CPU (docs/algorithms.md 5): computes one output A-scan at a time from the complex depth bins of its
// slow-axis position. Each worker thread owns one object with its buffers.
#pragma once

#include <complex>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "compute/flow/flow_tables.h"
#include "compute/plan/tables.h"
#include "compute/steps/angiography.h"
#include "compute/steps/depth.h"
#include "compute/steps/flow.h"

namespace echolux::cpu {

// Non-owning view of the complex depth bins of one slow-axis position as recorded:
// [b_repeats][a_scans][a_repeats][depth].
struct PositionBins {
    const std::complex<float>* first;
    std::int64_t depth;
    Repeats repeats;           // repeats to compare
    const Phasor* bulk;        // [a_scans][bulk_stride], directions of the bulk steps; null: none are removed
    std::int64_t bulk_stride;  // max pairs of repeats

    const float* line(std::int64_t i) const { return reinterpret_cast<const float*>(first + i * depth); }
};

// Returns bin z of a line.
inline Phasor bin(const float* line, std::int64_t z) {
    return {line[2 * z], line[2 * z + 1]};
}

// Products and powers of the phase steps of a line, one array per component so that loops over depth vectorize.
struct StepPlanes {
    explicit StepPlanes(std::int64_t depth);

    void clear();

    // Adds the step of each bin between two lines.
    void add(const float* earlier, const float* later, Phasor bulk);

    void add(const StepPlanes& other, float weight);

    // Stores the sums of `other` over a depth window, each times its share.
    void sum_along_depth(const StepPlanes& other, std::int64_t width, const std::vector<float>& shares);

    PhaseStep at(std::size_t z) const { return {{re[z], im[z]}, power[z]}; }

    std::vector<float> re, im, power;  // [depth]
};

// Sums over the pairs of repeats at A-scan positions, cached for neighbours whose windows include the same position.
class PositionSteps {
  public:
    // Keeps `kept` consecutive positions.
    PositionSteps(std::int64_t depth, std::int64_t kept);

    void begin(const PositionBins& bins);
    const StepPlanes& of(std::int64_t position);

  private:
    PositionBins bins_{};
    std::vector<StepPlanes> steps_;
    std::vector<std::int64_t> held_;  // position in each slot; -1: empty
};

// Computes angiograms of A-scan positions, one at a time (docs/algorithms.md 5.2). Owns the buffers of one thread.
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
    void store_empty(std::byte* target);

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
