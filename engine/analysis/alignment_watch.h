// What an alignment view keeps from one reading to the next: the highest A-scan so far, a reading that others are
// compared with, and how the peak has gone.
#pragma once

#include <deque>
#include <optional>
#include <vector>

#include "engine/analysis/alignment.h"

namespace echolux {

class AlignmentWatch {
  public:
    struct Moment {
        double time_s = 0;
        double peak_db = 0;
        double snr_db = 0;
        double peak_bin = 0;
        double fwhm_bins = 0;
    };
    static constexpr std::size_t max_moments = 2000;

    // `time_s` never runs backwards. A reading of another length than before begins everything anew.
    void add(AlignmentReading reading, double time_s);
    void forget();

    const std::optional<AlignmentReading>& newest() const { return newest_; }
    const std::deque<Moment>& moments() const { return moments_; }  // oldest first

    // Greatest level of each point since it was begun; empty: peaks are not held.
    void hold_peaks(bool hold);
    const std::vector<float>& held_db() const { return held_db_; }
    bool holds_peaks() const { return holds_; }

    // The newest reading, to compare with; again: another one.
    void freeze() { frozen_ = newest_; }
    void thaw() { frozen_.reset(); }
    const std::optional<AlignmentReading>& frozen() const { return frozen_; }

  private:
    std::optional<AlignmentReading> newest_, frozen_;
    std::deque<Moment> moments_;
    bool holds_ = false;
    std::vector<float> held_db_;
};

}  // namespace echolux
