#include "engine/analysis/alignment_watch.h"

#include <algorithm>
#include <utility>

namespace echolux {

void AlignmentWatch::add(AlignmentReading reading, double time_s) {
    if (newest_ && newest_->a_scan_db.size() != reading.a_scan_db.size()) forget();
    const AlignmentStats& stats = reading.stats;
    moments_.push_back({time_s, stats.peak_db, stats.snr_db, stats.peak_bin, stats.fwhm_bins});
    if (moments_.size() > max_moments) moments_.pop_front();
    if (holds_) {
        held_db_.resize(reading.a_scan_db.size(), -1000.0F);
        std::transform(held_db_.begin(), held_db_.end(), reading.a_scan_db.begin(), held_db_.begin(),
                       [](float held, float now) { return std::max(held, now); });
    }
    newest_ = std::move(reading);
}

void AlignmentWatch::forget() {
    newest_.reset();
    frozen_.reset();
    moments_.clear();
    held_db_.clear();
}

void AlignmentWatch::hold_peaks(bool hold) {
    holds_ = hold;
    held_db_.clear();
    if (hold && newest_) held_db_ = newest_->a_scan_db;
}

}  // namespace echolux
