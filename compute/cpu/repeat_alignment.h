// Aligns the repeats of a B-scan in place before they are compared (docs/angiography.md). Each worker thread owns one
// with its buffers.
#pragma once

#include <array>
#include <complex>
#include <cstdint>
#include <span>
#include <vector>

#include "compute/flow/flow_tables.h"
#include "compute/repeat_report.h"
#include "compute/steps/depth.h"
#include "compute/steps/repeat_alignment.h"

namespace echolux::cpu {

// ---- Lines of floats with zero padding, so that correlation sums at any lag need no bounds checks, and such sums over
// depth. Sums process eight depths at a time in a fixed order. The imaginary part of a complex line is stored in the
// following line.

// Zero-padded lines of equal length in one allocation.
class PaddedLines {
  public:
    PaddedLines() = default;
    PaddedLines(std::int64_t lines, std::int64_t depth, std::int64_t max_lag);

    std::int64_t depth() const { return depth_; }
    std::int64_t stride() const { return stride_; }

    // Returns depth 0 of a line. Writing beyond the depth corrupts sums.
    float* line(std::int64_t i) { return values_.data() + i * stride_ + first_; }
    const float* line(std::int64_t i) const { return values_.data() + i * stride_ + first_; }

    // Accessors for lines with real and imaginary parts.
    float* complex_line(std::int64_t i) { return line(2 * i); }
    const float* complex_line(std::int64_t i) const { return line(2 * i); }
    Phasor at(std::int64_t i, std::int64_t z) const { return {line(2 * i)[z], line(2 * i + 1)[z]}; }

  private:
    std::int64_t depth_ = 0, first_ = 0, stride_ = 0;
    std::vector<float> values_;
};

// Returns the sum of a line.
float sum_of(const float* line, std::int64_t depth);

// Computes sums[i] = sum of a * others[i]. Pointers may be offset by a lag.
void sum_products(const float* a, std::span<const float* const> others, std::int64_t depth, float* sums);

// Computes the same for complex lines: the sum of others[i] * conj(a). `stride` is the distance to imaginary parts.
void sum_differences(const float* a, std::span<const float* const> others, std::int64_t stride, std::int64_t depth,
                     Phasor* sums);

// Samples of `count` whose counterpart `lag` samples further exists.
struct Overlap {
    std::int64_t begin, end;

    Overlap(std::int64_t lag, std::int64_t count) : begin(lag < 0 ? -lag : 0), end(lag > 0 ? count - lag : count) {}
};

// Aligns one position at a time. Owns the buffers of one thread; the tables must outlive it.
class RepeatAligner {
  public:
    explicit RepeatAligner(const FlowTables& tables);

    // Aligns the `bins` of one slow-axis position, laid out as in PositionBins. The reference is the first repeat that
    // matches half of the others. Matching repeats are shifted onto it and stored first, in temporal order; the others
    // are excluded. Voxels missing in one of them become 0. Fills `reports` [repeats]. Returns the repeats to compare,
    // with a count of 1 if there are none.
    Repeats align(std::complex<float>* bins, RepeatReport* reports);

  private:
    static constexpr std::int64_t lag_count = ShiftTaps::count + 1;  // covers fractions from -1 to 1
    using LagRange = FineLags<std::int64_t>;
    static constexpr std::int64_t fine_width = LagRange::width;

    struct Lag {
        std::int64_t z = 0, x = 0;
    };
    // Accumulates the coherence of all A-scans at a lag.
    struct Coherence {
        double coherent = 0, of_reference = 0, of_repeat = 0;
    };

    float* line(std::int64_t position, std::int64_t series, std::int64_t repeat) const;
    void split(std::int64_t series);  // all repeats into split_; NaN and infinity become 0

    // Features at half resolution along both axes, for the coarse search.
    void find_features();
    void halve(const PaddedLines& powers, PaddedLines& plane) const;
    void smooth(PaddedLines& plane, std::int64_t reach);  // mean over a square
    void find_overlap_powers(std::int64_t repeat);
    // Returns the power of the part that overlaps the other repeat at -lag
    double overlap_power(std::int64_t repeat, Lag lag) const;

    std::int64_t take_as_reference(std::int64_t repeat);  // returns the number of tissue bins
    RepeatShift shift_of(std::int64_t reference, std::int64_t repeat);
    Lag coarse_lag(std::int64_t reference, std::int64_t repeat);
    Lag fine_lag(std::int64_t repeat, Lag coarse);
    void add_coherences(std::int64_t repeat, std::int64_t position, LagRange deep, LagRange along);
    double tissue_power(std::int64_t position, Overlap deep) const;

    // Compute sums over depth for each position and each lag of `taps` samples around `lag`, along depth or positions.
    void sum_lags_in_depth(std::int64_t repeat, Lag lag);
    void sum_lags_along(std::int64_t repeat, std::int64_t x);  // sums of moved_
    double fraction_of(double turns) const;
    double coherence_at(double fraction, double turns) const;  // not divided by lag_power_

    // Moves a repeat in depth into moved_ and removes its bulk phase relative to the reference.
    void move_in_depth(std::int64_t repeat, double by);
    void remove_phase(std::int64_t reference, std::int64_t repeat, std::int64_t x);
    void lay_over(std::int64_t repeat);  // from moved_ into split_
    void follow_phase(std::int64_t before, std::int64_t repeat);
    template <class Reference, class Other>
    // The arguments return the lines of a position. Stores the result in phase_.
    void find_phase(const Reference& of_reference, const Other& of_other);
    void smooth_phase();  // smooths sum_ into phase_
    void turn_back(float* line, Phasor phase) const;

    // Stores shifts in tried_. Returns the number of matching repeats including the reference.
    int find_shifts(std::int64_t reference);
    void choose_reference();  // sets state_ and shifts_
    void keep_used();
    void lay_series(std::int64_t series, std::int64_t reference, bool is_moved);
    void store_series(std::int64_t series) const;
    void report(RepeatReport* reports) const;

    const FlowTables& tables_;
    std::int64_t positions_, depth_, half_positions_, half_depth_, coarse_z_, coarse_x_;
    std::complex<float>* bins_ = nullptr;
    std::vector<PaddedLines> split_;   // [repeat][position], of one series
    std::vector<PaddedLines> powers_;  // same layout
    std::vector<PaddedLines> moved_;   // same layout, repeats compared with the last reference
    // Tissue bins of the reference (zero elsewhere), a mask of 1 for tissue, and the power summed over depth.
    PaddedLines tissue_, is_tissue_;
    std::vector<double> tissue_powers_;
    std::vector<PaddedLines> features_;  // [repeat][half_positions]
    PaddedLines temporary_, mean_;
    std::vector<std::vector<double>> overlap_powers_;            // [repeat][depth lag][half_positions + 1]
    std::array<Coherence, fine_width * fine_width> coherences_;  // [along][deep]
    std::vector<Phasor> lags_;                                   // [position][lag]
    float lag_power_ = 0;                                        // root of the product of powers, for these sums
    PaddedLines steps_;                                          // products of one line
    std::vector<Phasor> phase_, sum_;                            // [position]
    std::array<float, PhaseSmoothing::reach + 1> smoothing_;     // weights by distance
    std::vector<double> correlations_;                           // for lags in depth
    std::vector<float> products_;                                // for lags in depth, of one line
    std::vector<const float*> others_;                           // arguments of sums
    std::vector<RepeatShift> shifts_, tried_;
    RepeatState state_;               // moved_ has the repeats compared with the last reference tried
    std::vector<std::int64_t> used_;  // repeats in temporal order
};

}  // namespace echolux::cpu
