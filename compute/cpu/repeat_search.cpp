// Search for the shift of a repeat: a coarse search in features at half resolution, a fine search by coherence, then
// fractions of a sample.
#include <algorithm>
#include <cmath>

#include "compute/cpu/repeat_alignment.h"
#include "compute/indexing.h"
#include "compute/steps/registration.h"

namespace echolux::cpu {
// ---- features -------------------------------------------------------------------------------------------------------

void RepeatAligner::find_features() {
    double power = 0;
    for (std::int64_t x = 0; x < positions_; ++x) power += static_cast<double>(sum_of(powers_[0].line(x), depth_));
    const LogFeature feature{
        RepeatFeatures::floor(tables_.min_power, power / static_cast<double>(positions_ * depth_))};
    for (std::int64_t r = 0; r < tables_.repeats.count; ++r) {
        PaddedLines& plane = features_[index(r)];
        halve(powers_[index(r)], plane);
        smooth(plane, RepeatFeatures::of_speckle);
        smooth(plane, RepeatFeatures::of_speckle);
        for (std::int64_t x = 0; x < half_positions_; ++x) {
            float *line = plane.line(x), *mean = mean_.line(x);
            for (std::int64_t z = 0; z < half_depth_; ++z) mean[z] = line[z] = feature(line[z]);
        }
        smooth(mean_, RepeatFeatures::of_background);
        for (std::int64_t x = 0; x < half_positions_; ++x) {
            float *line = plane.line(x), *mean = mean_.line(x);
            for (std::int64_t z = 0; z < half_depth_; ++z) line[z] -= mean[z];
        }
        find_overlap_powers(r);
    }
}

void RepeatAligner::halve(const PaddedLines& powers, PaddedLines& plane) const {
    for (std::int64_t x = 0; x < half_positions_; ++x) {
        const bool has_second = 2 * x + 1 < positions_;
        const float *one = powers.line(2 * x), *other = has_second ? powers.line(2 * x + 1) : one;
        const float share = has_second ? 0.25f : 0.0f;
        float* into = plane.line(x);
        for (std::int64_t z = 0; z < half_depth_; ++z)  // an odd depth is followed by a zero
            into[z] = 0.25f * (one[2 * z] + one[2 * z + 1]) + share * (other[2 * z] + other[2 * z + 1]);
    }
}

// Separable mean: along depth into temporary_, then across A-scans back into the plane.
void RepeatAligner::smooth(PaddedLines& plane, std::int64_t reach) {
    const std::int64_t width = 2 * reach + 1;
    for (std::int64_t x = 0; x < half_positions_; ++x) {
        const float* from = plane.line(x) - reach;
        float* into = temporary_.line(x);
        std::fill_n(into, half_depth_, 0.0f);
        for (std::int64_t i = 0; i < width; ++i) {
            for (std::int64_t z = 0; z < half_depth_; ++z) into[z] += from[z + i];
        }
        const std::int64_t inner = std::max(reach, half_depth_ - reach);
        const auto divide = [&](std::int64_t z) {
            into[z] /= static_cast<float>(WindowSpan(z, width, half_depth_).size());
        };
        for (std::int64_t z = 0; z < std::min(reach, half_depth_); ++z) divide(z);
        for (std::int64_t z = reach; z < half_depth_ - reach; ++z) into[z] /= static_cast<float>(width);
        for (std::int64_t z = inner; z < half_depth_; ++z) divide(z);
    }
    for (std::int64_t x = 0; x < half_positions_; ++x) {
        const WindowSpan window(x, width, half_positions_);
        float* into = plane.line(x);
        std::fill_n(into, half_depth_, 0.0f);
        const float share = 1 / static_cast<float>(window.size());
        for (std::int64_t i = window.begin; i < window.end; ++i) {
            const float* from = temporary_.line(i);
            for (std::int64_t z = 0; z < half_depth_; ++z) into[z] += share * from[z];
        }
    }
}

// Computes prefix sums over A-scans of the feature power within the overlap of each depth lag: without the last samples
// for a positive lag, without the first for a negative one.
void RepeatAligner::find_overlap_powers(std::int64_t repeat) {
    double* sums = overlap_powers_[index(repeat)].data();
    const std::int64_t each = half_positions_ + 1;
    for (std::int64_t x = 0; x < half_positions_; ++x) {
        const float* line = features_[index(repeat)].line(x);
        float* squares = temporary_.line(x);
        for (std::int64_t z = 0; z < half_depth_; ++z) squares[z] = line[z] * line[z];
        double first = static_cast<double>(sum_of(squares, half_depth_)), last = first;
        const auto put = [&](std::int64_t lag, double power) {
            double* of_lag = sums + (lag + coarse_z_) * each;
            of_lag[x + 1] = of_lag[x] + power;
        };
        put(0, first);
        for (std::int64_t i = 0; i < coarse_z_; ++i) {
            const double at_begin = static_cast<double>(line[i]),
                         at_end = static_cast<double>(line[half_depth_ - 1 - i]);
            first -= at_begin * at_begin;
            last -= at_end * at_end;
            put(-i - 1, first);
            put(i + 1, last);
        }
    }
}

double RepeatAligner::overlap_power(std::int64_t repeat, Lag lag) const {
    const Overlap along(lag.x, half_positions_);
    const double* of_lag = overlap_powers_[index(repeat)].data() + (lag.z + coarse_z_) * (half_positions_ + 1);
    return std::max(0.0, of_lag[along.end] - of_lag[along.begin]);
}

// ---- shift of a repeat ----------------------------------------------------------------------------------------------

// Returns the first repeat that matches half of the others, otherwise the one with the most matches.
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
    const std::int64_t tissue = take_as_reference(reference);
    for (std::int64_t r = 0; r < tables_.repeats.count; ++r) {
        Shift& shift = tried_[index(r)];
        if (tissue < min_repeat_tissue) {
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

// Masks the bins of the reference to tissue and sums its power per A-scan.
std::int64_t RepeatAligner::take_as_reference(std::int64_t repeat) {
    last_tried_ = repeat;
    const PaddedLines& all = split_[index(repeat)];
    double bright = 0;
    for (std::int64_t x = 0; x < positions_; ++x) {
        const float *re = all.complex_line(x), *im = re + all.stride(), *power = powers_[index(repeat)].line(x);
        float *to_re = tissue_.complex_line(x), *to_im = to_re + tissue_.stride(), *is_tissue = is_tissue_.line(x);
        for (std::int64_t z = 0; z < depth_; ++z) {
            const float is = power[z] >= tables_.min_power ? 1.0f : 0.0f;
            is_tissue[z] = power[z] > 0 ? is : 0.0f;
            to_re[z] = is * re[z];
            to_im[z] = is * im[z];
        }
        float* tissue_power = steps_.line(0);
        for (std::int64_t z = 0; z < depth_; ++z) tissue_power[z] = is_tissue[z] * power[z];
        bright += static_cast<double>(sum_of(is_tissue, depth_));
        tissue_powers_[index(x)] = static_cast<double>(sum_of(tissue_power, depth_));
    }
    return static_cast<std::int64_t>(bright);
}

// Coarse lag, fine lag, fraction in depth, then fraction along the B-scan after the depth shift and the removal of the
// bulk phase.
RepeatAligner::Shift RepeatAligner::shift_of(std::int64_t reference, std::int64_t repeat) {
    const Lag lag = fine_lag(repeat, coarse_lag(reference, repeat));
    Shift shift;
    sum_lags_in_depth(repeat, lag);
    shift.z = static_cast<double>(lag.z) + (tables_.align_depth > 0 ? fraction_of(tables_.carrier_turns) : 0);
    move_in_depth(repeat, shift.z);
    remove_phase(reference, repeat, lag.x);
    sum_lags_along(repeat, lag.x);
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

// Maximizes the normalized cross-correlation of the features over all lags in range.
RepeatAligner::Lag RepeatAligner::coarse_lag(std::int64_t reference, std::int64_t repeat) {
    const std::int64_t lags = 2 * coarse_z_ + 1;
    const PaddedLines &a = features_[index(reference)], &b = features_[index(repeat)];
    Lag best;
    float most = 0, at_none = 0;
    bool is_first = true;
    for (std::int64_t x = -coarse_x_; x <= coarse_x_; ++x) {
        std::fill_n(correlations_.begin(), lags, 0.0);
        const Overlap along(x, half_positions_);
        for (std::int64_t p = along.begin; p < along.end; ++p) {
            for (std::int64_t i = 0; i < lags; ++i) others_[index(i)] = b.line(p + x) + i - coarse_z_;
            sum_products(a.line(p), std::span(others_).first(index(lags)), half_depth_, products_.data());
            for (std::int64_t i = 0; i < lags; ++i) correlations_[index(i)] += static_cast<double>(products_[index(i)]);
        }
        for (std::int64_t z = -coarse_z_; z <= coarse_z_; ++z) {
            const double power = std::sqrt(overlap_power(reference, {z, x}) * overlap_power(repeat, {-z, -x}));
            const float found = power > 0 ? static_cast<float>(correlations_[index(z + coarse_z_)] / power) : 0.0f;
            if (x == 0 && z == 0) at_none = found;
            if (!is_first && !(found > most)) continue;
            is_first = false;
            most = found;
            best = {z, x};
        }
    }
    return at_none >= most ? Lag{} : Lag{2 * best.z, 2 * best.x};  // prefer no shift on a tie
}

RepeatAligner::LagRange::LagRange(std::int64_t place, std::int64_t range, std::int64_t count) {
    const std::int64_t most = std::min(range, count / 2);
    first = std::clamp(place - fine_reach, -most, most);
    last = std::clamp(place + fine_reach, -most, most);
}

float RepeatAligner::Coherence::value() const {
    const double power = std::sqrt(of_reference * of_repeat);
    return power > 0 ? static_cast<float>(coherent / power) : 0.0f;
}

// Maximizes the coherence over the lags within fine_reach of the coarse lag.
RepeatAligner::Lag RepeatAligner::fine_lag(std::int64_t repeat, Lag coarse) {
    const LagRange deep(coarse.z, tables_.align_depth, depth_), along(coarse.x, tables_.align_lines, positions_);
    coherences_.fill({});
    for (std::int64_t x = 0; x < positions_; ++x) add_coherences(repeat, x, deep, along);
    Lag best{deep.first, along.first};
    float most = -1;
    for (std::int64_t x = along.first; x <= along.last; ++x) {
        for (std::int64_t z = deep.first; z <= deep.last; ++z) {
            const float found = coherences_[index((x - along.first) * fine_width + z - deep.first)].value();
            if (found > most) {
                most = found;
                best = {z, x};
            }
        }
    }
    return best;
}

// The modulus of a product is insensitive to the phase of a whole A-scan, so coherences of A-scans can be added
// regardless of their bulk motion.
void RepeatAligner::add_coherences(std::int64_t repeat, std::int64_t position, LagRange deep, LagRange along) {
    const auto lags = index(deep.size());
    std::array<const float*, fine_width> bins{}, powers{};
    std::array<Phasor, fine_width> products{};
    std::array<float, fine_width> of_repeat{};
    for (std::int64_t x = along.first; x <= along.last; ++x) {
        const std::int64_t other = position + x;
        if (other < 0 || other >= positions_) continue;
        for (std::size_t i = 0; i < lags; ++i) {
            const std::int64_t z = deep.first + static_cast<std::int64_t>(i);
            bins[i] = split_[index(repeat)].complex_line(other) + z;
            powers[i] = powers_[index(repeat)].line(other) + z;
        }
        sum_differences(tissue_.complex_line(position), std::span(bins).first(lags), tissue_.stride(), depth_,
                        products.data());
        sum_products(is_tissue_.line(position), std::span(powers).first(lags), depth_, of_repeat.data());
        for (std::size_t i = 0; i < lags; ++i) {
            Coherence& one = coherences_[index((x - along.first) * fine_width) + i];
            one.coherent += static_cast<double>(std::sqrt(power_of(products[i])));
            one.of_reference += tissue_power(position, Overlap(deep.first + static_cast<std::int64_t>(i), depth_));
            one.of_repeat += static_cast<double>(of_repeat[i]);
        }
    }
}

// Returns the power of the reference's tissue within a depth range.
double RepeatAligner::tissue_power(std::int64_t position, Overlap deep) const {
    const float *re = tissue_.complex_line(position), *im = re + tissue_.stride();
    double power = tissue_powers_[index(position)];
    for (std::int64_t z = 0; z < deep.begin; ++z) power -= static_cast<double>(Power{}(re[z], im[z]));
    for (std::int64_t z = deep.end; z < depth_; ++z) power -= static_cast<double>(Power{}(re[z], im[z]));
    return power;
}

// ---- fractions of a sample: interpolation and the sum over depth commute, so only the sum iterates over bins --------

void RepeatAligner::sum_lags_in_depth(std::int64_t repeat, Lag lag) {
    std::fill(lags_.begin(), lags_.end(), Phasor{});
    const Overlap along(lag.x, positions_);
    for (std::int64_t x = along.begin; x < along.end; ++x) {
        for (std::int64_t n = 0; n < lag_count; ++n)
            others_[index(n)] = split_[index(repeat)].complex_line(x + lag.x) + lag.z + n - ShiftTaps::count / 2;
        sum_differences(tissue_.complex_line(x), std::span(others_).first(lag_count), tissue_.stride(), depth_,
                        lags_.data() + x * lag_count);
    }
}

void RepeatAligner::sum_lags_along(std::int64_t repeat, std::int64_t x) {
    const PaddedLines& moved = moved_[index(repeat)];
    double of_reference = 0, of_repeat = 0;
    for (std::int64_t p = 0; p < positions_; ++p) {
        const std::int64_t first = p + x - ShiftTaps::count / 2;
        for (std::int64_t n = 0; n < lag_count; ++n)
            others_[index(n)] = moved.complex_line(std::clamp<std::int64_t>(first + n, 0, positions_ - 1));
        Phasor* lags = lags_.data() + p * lag_count;
        sum_differences(tissue_.complex_line(p), std::span(others_).first(lag_count), tissue_.stride(), depth_, lags);
        for (std::int64_t n = 0; n < lag_count; ++n) {
            if (first + n < 0 || first + n >= positions_) lags[n] = {};
        }
        if (p + x < 0 || p + x >= positions_) continue;
        float* power = steps_.line(0);
        const float* is_tissue = is_tissue_.line(p);
        for (std::int64_t z = 0; z < depth_; ++z) power[z] = is_tissue[z] * power_of(moved.at(p + x, z));
        of_reference += tissue_powers_[index(p)];
        of_repeat += static_cast<double>(sum_of(power, depth_));
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
