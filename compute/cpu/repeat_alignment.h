// Lays the repeats of a B-scan over one another, in place, before they are compared (docs/angiography.md). Each worker
// thread owns one with its buffers.
#pragma once

#include <complex>
#include <cstdint>
#include <vector>

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

    struct Shift {
        double z = 0, x = 0;       // sample (z, x) of the reference lies at (z + this.z, x + this.x) of the repeat
        std::int64_t whole_x = 0;  // the A-scan nearest to that, whose phase is compared
        float match = 0;
        Reason reason = Reason::ok;
    };
    struct Lag {
        std::int64_t z = 0, x = 0;
    };

    float* line(std::int64_t position, std::int64_t series, std::int64_t repeat) const;

    // Features of half as many samples along both axes, for the coarse search.
    void find_features();
    void find_features(std::int64_t repeat, float floor);
    void smooth(std::vector<float>& plane, std::int64_t reach);  // mean over a square

    Shift shift_of(std::int64_t reference, std::int64_t repeat);
    Lag coarse_lag(std::int64_t reference, std::int64_t repeat) const;
    float correlation(std::int64_t reference, std::int64_t repeat, Lag lag) const;
    Lag fine_lag(std::int64_t reference, std::int64_t repeat, Lag coarse) const;
    float coherence(std::int64_t reference, std::int64_t repeat, Lag lag) const;
    bool has_tissue(std::int64_t repeat) const;

    // Sums over depth for each position and lag of `taps` samples around `lag`, along depth or along positions.
    void sum_lags_in_depth(std::int64_t reference, std::int64_t repeat, Lag lag);
    void sum_lags_along(std::int64_t reference, std::int64_t x);  // of shifted_
    double fraction_of(double turns) const;
    double coherence_at(double fraction, double turns) const;  // not divided by lag_power_

    // The repeat of one series into shifted_, moved in depth and without the phase of bulk motion against the
    // reference.
    void move_in_depth(std::int64_t series, std::int64_t repeat, double by);
    void remove_phase(std::int64_t series, std::int64_t reference, std::int64_t x);
    void lay_over(std::int64_t series, std::int64_t reference, std::int64_t repeat);
    void follow_phase(std::int64_t series, std::int64_t repeat);
    template <class Reference, class Other>
    void find_phase(const Reference& of_reference, const Other& of_other);  // lines of a position; into phase_
    void smooth_phase();                                                    // of sum_

    std::int64_t find_shifts(std::int64_t reference);  // into tried_; how many fit, the reference included
    std::int64_t choose_reference();                   // shifts_ are those against it
    std::int64_t keep_used();                          // shifts_ of those that fit come to lie first, as repeats do
    void clear_what_some_lack(std::int64_t used);
    void report(RepeatReport* reports) const;

    const FlowTables& tables_;
    std::int64_t positions_, depth_, half_positions_, half_depth_;
    std::complex<float>* bins_ = nullptr;
    std::vector<std::vector<float>> features_;  // [repeat][half_positions][half_depth]
    std::vector<float> temporary_, mean_;
    std::vector<Phasor> lags_;         // [position][lag]
    float lag_power_ = 0;              // root of the powers' product, over what the lags are sums of
    std::vector<Phasor> shifted_;      // [position][depth]
    std::vector<Phasor> phase_, sum_;  // [position]
    std::vector<Shift> shifts_, tried_;
};

}  // namespace echolux::cpu
