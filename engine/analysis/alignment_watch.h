// State of an alignment view between readings: the peak-hold A-scan, a frozen reading for comparison, and the history
// of the peak.
#pragma once

#include <deque>
#include <optional>
#include <vector>

#include "engine/analysis/alignment.h"

namespace echolux {

class AlignmentWatch {
  public:
    // One point of the peak's history.
    struct Moment {
        double time_s = 0;
        double peak_db = 0;
        double snr_db = 0;
        double peak_bin = 0;
        double fwhm_bins = 0;
    };
    static constexpr std::size_t max_moments = 2000;

    // Adds a reading; `time_s` must not decrease. A reading of another length clears everything.
    void add(AlignmentReading reading, double time_s);
    void forget();

    const std::optional<AlignmentReading>& newest() const { return newest_; }
    const std::deque<Moment>& moments() const { return moments_; }  // oldest first

    // hold_peaks() starts or ends peak hold. held_db() is the max level of each point since then, empty without peak
    // hold.
    void hold_peaks(bool hold);
    const std::vector<float>& held_db() const { return held_db_; }
    bool holds_peaks() const { return holds_; }

    // Freezes the newest reading for comparison and replaces an earlier one.
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
