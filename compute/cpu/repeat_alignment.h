// Lays the repeats of a B-scan over one another, in place, before they are compared (docs/angiography.md). Each worker
// thread owns one with its buffers.
#pragma once

#include <array>
#include <complex>
#include <cstdint>
#include <vector>

#include "compute/cpu/padded_lines.h"
#include "compute/flow/flow_tables.h"
#include "compute/repeat_report.h"
#include "compute/steps/repeat_alignment.h"

namespace echolux::cpu {

// Samples of `count` for which another signal has one `lag` samples on.
struct Overlap {
    std::int64_t begin, end;

    Overlap(std::int64_t lag, std::int64_t count) : begin(lag < 0 ? -lag : 0), end(lag > 0 ? count - lag : count) {}
};

class RepeatAligner {
  public:
    explicit RepeatAligner(const FlowTables& tables);

    // `bins`: of one slow position, as PositionBins has them. Repeats that fit are shifted onto the first that half of
    // the others fit, and come to lie first, in the order of time; the rest is left out. Voxels that not all of those
    // have become 0. `reports`: [repeats]. Returned are the repeats that can be compared; a count of 1: none.
    Repeats align(std::complex<float>* bins, RepeatReport* reports);

  private:
    static constexpr std::int64_t lag_count = ShiftTaps::count + 1;  // for fractions from -1 to 1
    static constexpr std::int64_t fine_reach = 2, fine_width = 2 * fine_reach + 1;

    struct Shift {
        double z = 0, x = 0;       // sample (z, x) of the reference lies at (z + this.z, x + this.x) of the repeat
        std::int64_t whole_x = 0;  // the A-scan nearest to that, whose phase is compared
        float match = 0;
        Reason reason = Reason::ok;
    };
    struct Lag {
        std::int64_t z = 0, x = 0;
    };
    struct LagRange {
        std::int64_t first, last;

        LagRange(std::int64_t place, std::int64_t range, std::int64_t count);
        std::int64_t size() const { return last - first + 1; }
    };
    // Of all A-scans, at a lag.
    struct Coherence {
        double coherent = 0, of_reference = 0, of_repeat = 0;

        float value() const;
    };

    float* line(std::int64_t position, std::int64_t series, std::int64_t repeat) const;
    void split(std::int64_t series);  // all repeats into split_; what is no number becomes 0

    // Features of half as many samples along both axes, for the coarse search.
    void find_features();
    void halve(const PaddedLines& powers, PaddedLines& plane) const;
    void smooth(PaddedLines& plane, std::int64_t reach);  // mean over a square
    void find_overlap_powers(std::int64_t repeat);
    double overlap_power(std::int64_t repeat, Lag lag) const;  // of what the other one has at -lag

    std::int64_t take_as_reference(std::int64_t repeat);  // bins with tissue
    Shift shift_of(std::int64_t reference, std::int64_t repeat);
    Lag coarse_lag(std::int64_t reference, std::int64_t repeat);
    Lag fine_lag(std::int64_t repeat, Lag coarse);
    void add_coherences(std::int64_t repeat, std::int64_t position, LagRange deep, LagRange along);
    double tissue_power(std::int64_t position, Overlap deep) const;

    // Sums over depth for each position and lag of `taps` samples around `lag`, along depth or along positions.
    void sum_lags_in_depth(std::int64_t repeat, Lag lag);
    void sum_lags_along(std::int64_t repeat, std::int64_t x);  // of moved_
    double fraction_of(double turns) const;
    double coherence_at(double fraction, double turns) const;  // not divided by lag_power_

    // A repeat into moved_, moved in depth and without the phase of bulk motion against the reference.
    void move_in_depth(std::int64_t repeat, double by);
    void remove_phase(std::int64_t reference, std::int64_t repeat, std::int64_t x);
    void lay_over(std::int64_t repeat);  // from moved_ into split_
    void follow_phase(std::int64_t before, std::int64_t repeat);
    template <class Reference, class Other>
    void find_phase(const Reference& of_reference, const Other& of_other);  // lines of a position; into phase_
    void smooth_phase();                                                    // of sum_
    void turn_back(float* line, Phasor phase) const;

    std::int64_t find_shifts(std::int64_t reference);  // into tried_; how many fit, the reference included
    std::int64_t choose_reference();                   // shifts_ are those against it
    void keep_used();
    void lay_series(std::int64_t series, std::int64_t reference, bool is_moved);
    void store_series(std::int64_t series) const;
    void report(RepeatReport* reports) const;

    const FlowTables& tables_;
    std::int64_t positions_, depth_, half_positions_, half_depth_, coarse_z_, coarse_x_;
    std::complex<float>* bins_ = nullptr;
    std::vector<PaddedLines> split_;   // [repeat][position], of a series
    std::vector<PaddedLines> powers_;  // likewise
    std::vector<PaddedLines> moved_;   // likewise, of repeats that were compared with the last reference
    // Of the reference: zero where there is no tissue, 1 where there is some, power summed over depth.
    PaddedLines tissue_, is_tissue_;
    std::vector<double> tissue_powers_;
    std::vector<PaddedLines> features_;  // [repeat][half_positions]
    PaddedLines temporary_, mean_;
    std::vector<std::vector<double>> overlap_powers_;            // [repeat][depth lag][half_positions + 1]
    std::array<Coherence, fine_width * fine_width> coherences_;  // [along][deep]
    std::vector<Phasor> lags_;                                   // [position][lag]
    float lag_power_ = 0;                                        // root of the powers' product, over those sums
    PaddedLines steps_;                                          // of one line
    std::vector<Phasor> phase_, sum_;                            // [position]
    std::array<float, PhaseSmoothing::reach + 1> smoothing_;     // weights, by distance
    std::vector<double> correlations_;                           // of lags in depth
    std::vector<float> products_;                                // likewise, of a line
    std::vector<const float*> others_;                           // of sums
    std::vector<Shift> shifts_, tried_;
    std::int64_t last_tried_ = 0;     // reference, whose repeats are in moved_
    std::vector<std::int64_t> used_;  // repeats, in the order of time
};

}  // namespace echolux::cpu
