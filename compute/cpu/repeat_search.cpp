// Where a repeat lies: a coarse search in features of half the resolution, a fine one by coherence, and fractions of a
// sample.
#include <algorithm>
#include <cmath>
#include <utility>

#include "compute/cpu/bins.h"
#include "compute/cpu/repeat_alignment.h"
#include "compute/indexing.h"
#include "compute/steps/registration.h"

namespace echolux::cpu {
// ---- features -------------------------------------------------------------------------------------------------------

void RepeatAligner::find_features() {
    double power = 0;
    for (std::int64_t x = 0; x < positions_; ++x) {
        const float* bins = line(x, 0, 0);
        float sum = 0;
        for (std::int64_t z = 0; z < depth_; ++z) sum += power_of(bin(bins, z));
        power += static_cast<double>(sum);
    }
    const float floor = RepeatFeatures::floor(tables_.min_power, power / static_cast<double>(positions_ * depth_));
    for (std::int64_t r = 0; r < tables_.repeats.count; ++r) find_features(r, floor);
}

void RepeatAligner::find_features(std::int64_t repeat, float floor) {
    std::vector<float>& plane = features_[index(repeat)];
    std::fill(plane.begin(), plane.end(), 0.0f);
    for (std::int64_t x = 0; x < positions_; ++x) {
        const float* bins = line(x, 0, repeat);
        float* into = plane.data() + x / 2 * half_depth_;
        for (std::int64_t z = 0; z < depth_; ++z) into[z / 2] += 0.25f * power_of(bin(bins, z));
    }
    smooth(plane, RepeatFeatures::of_speckle);
    smooth(plane, RepeatFeatures::of_speckle);
    const LogFeature feature{floor};
    for (float& value : plane) value = feature(value);
    mean_ = plane;  // of the same size: nothing is allocated
    smooth(mean_, RepeatFeatures::of_background);
    for (std::size_t i = 0; i < plane.size(); ++i) plane[i] -= mean_[i];
}

void RepeatAligner::smooth(std::vector<float>& plane, std::int64_t reach) {
    const std::int64_t width = 2 * reach + 1;
    for (std::int64_t x = 0; x < half_positions_; ++x) {
        for (std::int64_t z = 0; z < half_depth_; ++z) {
            const WindowSpan window(z, width, half_depth_);
            float sum = 0;
            for (std::int64_t i = window.begin; i < window.end; ++i) sum += plane[index(x * half_depth_ + i)];
            temporary_[index(x * half_depth_ + z)] = sum / static_cast<float>(window.size());
        }
    }
    for (std::int64_t x = 0; x < half_positions_; ++x) {
        const WindowSpan window(x, width, half_positions_);
        float* into = plane.data() + x * half_depth_;
        std::fill_n(into, half_depth_, 0.0f);
        const float share = 1 / static_cast<float>(window.size());
        for (std::int64_t i = window.begin; i < window.end; ++i) {
            const float* from = temporary_.data() + i * half_depth_;
            for (std::int64_t z = 0; z < half_depth_; ++z) into[z] += share * from[z];
        }
    }
}

// ---- where a repeat lies --------------------------------------------------------------------------------------------

// The first repeat that half of the others fit; where there is none, the one that most fit.
std::int64_t RepeatAligner::choose_reference() {
    const std::int64_t count = tables_.repeats.count;
    std::int64_t best = 0, best_used = -1;
    for (std::int64_t reference = 0; reference < count; ++reference) {
        const std::int64_t used = find_shifts(reference);
        if (used > best_used) {
            best_used = used;
            best = reference;
            shifts_.swap(tried_);
        }
        if (2 * (best_used - 1) >= count - 1) break;
    }
    if (best_used < 2 && shifts_[index(best)].reason == Reason::ok) shifts_[index(best)].reason = Reason::too_few;
    return best;
}

std::int64_t RepeatAligner::find_shifts(std::int64_t reference) {
    std::int64_t used = 0;
    const bool has_signal = has_tissue(reference);
    for (std::int64_t r = 0; r < tables_.repeats.count; ++r) {
        Shift& shift = tried_[index(r)];
        if (!has_signal) {
            shift = {0, 0, 0, 0, Reason::no_signal};
        } else if (r == reference) {
            shift = {0, 0, 0, 1, Reason::ok};
        } else {
            shift = shift_of(reference, r);
        }
        used += shift.reason == Reason::ok;
    }
    return used;
}

bool RepeatAligner::has_tissue(std::int64_t repeat) const {
    std::int64_t bright = 0;
    for (std::int64_t x = 0; x < positions_; ++x) {
        const float* bins = line(x, 0, repeat);
        for (std::int64_t z = 0; z < depth_; ++z) {
            const float power = power_of(bin(bins, z));
            bright += power >= tables_.min_power && power > 0;
        }
    }
    return bright >= min_repeat_tissue;
}

RepeatAligner::Shift RepeatAligner::shift_of(std::int64_t reference, std::int64_t repeat) {
    const Lag lag = fine_lag(reference, repeat, coarse_lag(reference, repeat));
    Shift shift;
    sum_lags_in_depth(reference, repeat, lag);
    shift.z = static_cast<double>(lag.z) + (tables_.align_depth > 0 ? fraction_of(tables_.carrier_turns) : 0);
    move_in_depth(0, repeat, shift.z);
    remove_phase(0, reference, lag.x);
    sum_lags_along(reference, lag.x);
    const double fraction = tables_.align_lines > 0 ? fraction_of(0) : 0;
    shift.whole_x = lag.x;
    shift.x = static_cast<double>(lag.x) + fraction;
    shift.match = lag_power_ > 0 ? static_cast<float>(coherence_at(fraction, 0)) / lag_power_ : 0.0f;
    const auto ends = [](double found, std::int64_t range) {
        return range > 0 && std::abs(found) >= static_cast<double>(range);
    };
    if (!(shift.match >= tables_.min_match)) {
        shift.reason = Reason::weak_match;
    } else if (ends(shift.z, tables_.align_depth) || ends(shift.x, tables_.align_lines)) {
        shift.reason = Reason::out_of_range;
    }
    return shift;
}

RepeatAligner::Lag RepeatAligner::coarse_lag(std::int64_t reference, std::int64_t repeat) const {
    const std::int64_t range_z = std::min((tables_.align_depth + 1) / 2, half_depth_ / 2);
    const std::int64_t range_x = std::min((tables_.align_lines + 1) / 2, half_positions_ / 2);
    Lag best;
    float most = correlation(reference, repeat, best);
    for (std::int64_t x = -range_x; x <= range_x; ++x) {
        for (std::int64_t z = -range_z; z <= range_z; ++z) {
            const float found = correlation(reference, repeat, {z, x});
            if (found > most) {
                most = found;
                best = {z, x};
            }
        }
    }
    return {2 * best.z, 2 * best.x};
}

float RepeatAligner::correlation(std::int64_t reference, std::int64_t repeat, Lag lag) const {
    const Overlap along(lag.x, half_positions_), deep(lag.z, half_depth_);
    double product = 0, of_reference = 0, of_repeat = 0;
    for (std::int64_t x = along.begin; x < along.end; ++x) {
        const float* a = features_[index(reference)].data() + x * half_depth_;
        const float* b = features_[index(repeat)].data() + (x + lag.x) * half_depth_ + lag.z;
        float ab = 0, aa = 0, bb = 0;
        for (std::int64_t z = deep.begin; z < deep.end; ++z) {
            ab += a[z] * b[z];
            aa += a[z] * a[z];
            bb += b[z] * b[z];
        }
        product += static_cast<double>(ab);
        of_reference += static_cast<double>(aa);
        of_repeat += static_cast<double>(bb);
    }
    const double power = std::sqrt(of_reference * of_repeat);
    return power > 0 ? static_cast<float>(product / power) : 0.0f;
}

RepeatAligner::Lag RepeatAligner::fine_lag(std::int64_t reference, std::int64_t repeat, Lag coarse) const {
    constexpr std::int64_t reach = 2;
    const auto around = [](std::int64_t place, std::int64_t range, std::int64_t count) {
        const std::int64_t most = std::min(range, count / 2);
        return std::pair{std::clamp(place - reach, -most, most), std::clamp(place + reach, -most, most)};
    };
    const auto [first_z, last_z] = around(coarse.z, tables_.align_depth, depth_);
    const auto [first_x, last_x] = around(coarse.x, tables_.align_lines, positions_);
    Lag best{first_z, first_x};
    float most = -1;
    for (std::int64_t x = first_x; x <= last_x; ++x) {
        for (std::int64_t z = first_z; z <= last_z; ++z) {
            const float found = coherence(reference, repeat, {z, x});
            if (found > most) {
                most = found;
                best = {z, x};
            }
        }
    }
    return best;
}

float RepeatAligner::coherence(std::int64_t reference, std::int64_t repeat, Lag lag) const {
    const Overlap along(lag.x, positions_), deep(lag.z, depth_);
    double coherent = 0, of_reference = 0, of_repeat = 0;
    for (std::int64_t x = along.begin; x < along.end; ++x) {
        const float* a = line(x, 0, reference);
        const float* b = line(x + lag.x, 0, repeat);
        CoherenceSum sum;
        for (std::int64_t z = deep.begin; z < deep.end; ++z) {
            const Phasor at_reference = bin(a, z);
            if (power_of(at_reference) >= tables_.min_power) sum.add(at_reference, bin(b, z + lag.z));
        }
        coherent += static_cast<double>(std::sqrt(power_of(sum.product)));
        of_reference += static_cast<double>(sum.reference);
        of_repeat += static_cast<double>(sum.other);
    }
    const double power = std::sqrt(of_reference * of_repeat);
    return power > 0 ? static_cast<float>(coherent / power) : 0.0f;
}

// ---- fractions of a sample: interpolation and the sum over depth commute, so that only the latter goes over bins ----

void RepeatAligner::sum_lags_in_depth(std::int64_t reference, std::int64_t repeat, Lag lag) {
    std::fill(lags_.begin(), lags_.end(), Phasor{});
    const Overlap along(lag.x, positions_);
    for (std::int64_t x = along.begin; x < along.end; ++x) {
        const float* a = line(x, 0, reference);
        const float* b = line(x + lag.x, 0, repeat);
        for (std::int64_t n = 0; n < lag_count; ++n) {
            const std::int64_t by = lag.z + n - ShiftTaps::count / 2;
            const Overlap deep(by, depth_);
            CoherenceSum sum;
            for (std::int64_t z = deep.begin; z < deep.end; ++z) {
                const Phasor at_reference = bin(a, z);
                if (power_of(at_reference) >= tables_.min_power) sum.add(at_reference, bin(b, z + by));
            }
            lags_[index(x * lag_count + n)] = sum.product;
        }
    }
}

void RepeatAligner::sum_lags_along(std::int64_t reference, std::int64_t x) {
    double of_reference = 0, of_repeat = 0;
    std::fill(lags_.begin(), lags_.end(), Phasor{});
    for (std::int64_t n = 0; n < lag_count; ++n) {
        const std::int64_t by = x + n - ShiftTaps::count / 2;
        const Overlap along(by, positions_);
        for (std::int64_t p = along.begin; p < along.end; ++p) {
            const float* a = line(p, 0, reference);
            const Phasor* b = shifted_.data() + (p + by) * depth_;
            CoherenceSum sum;
            for (std::int64_t z = 0; z < depth_; ++z) {
                const Phasor at_reference = bin(a, z);
                if (power_of(at_reference) >= tables_.min_power) sum.add(at_reference, b[z]);
            }
            lags_[index(p * lag_count + n)] = sum.product;
            if (by != x) continue;
            of_reference += static_cast<double>(sum.reference);
            of_repeat += static_cast<double>(sum.other);
        }
    }
    lag_power_ = static_cast<float>(std::sqrt(of_reference * of_repeat));
}

double RepeatAligner::coherence_at(double fraction, double turns) const {
    const ShiftTaps taps(fraction, turns);
    double sum = 0;
    for (std::int64_t x = 0; x < positions_; ++x) {
        const Phasor* of_line = lags_.data() + x * lag_count + taps.first + ShiftTaps::count / 2;
        Phasor product;
        for (int n = 0; n < ShiftTaps::count; ++n) add_product(product, taps.tap[n], of_line[n]);
        sum += static_cast<double>(std::sqrt(power_of(product)));
    }
    return sum;
}

double RepeatAligner::fraction_of(double turns) const {
    return best_fraction([&](double fraction) { return coherence_at(fraction, turns); });
}

}  // namespace echolux::cpu
