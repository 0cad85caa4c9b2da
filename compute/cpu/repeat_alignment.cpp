#include "compute/cpu/repeat_alignment.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "compute/indexing.h"
#include "compute/reason.h"
#include "compute/repeat_report.h"
#include "compute/steps/registration.h"

namespace echolux::cpu {
namespace {

constexpr std::int64_t together = 8;  // depths processed together
using Eight = float __attribute__((vector_size(4 * together)));

inline void load(const float* from, Eight& to) {
    std::memcpy(&to, from, sizeof(to));
}

inline float sum_of(const Eight& v) {
    return ((v[0] + v[4]) + (v[2] + v[6])) + ((v[1] + v[5]) + (v[3] + v[7]));
}

// Lines processed together in registers. Incomplete groups repeat the last line.
template <int group>
struct Group {
    const float* line[group];

    Group(std::span<const float* const> others, std::size_t first) {
        for (std::size_t i = 0; i < group; ++i) line[i] = others[std::min(first + i, others.size() - 1)];
    }
};

template <int group>
void sum_products_of(const float* a, const Group<group>& b, std::int64_t depth, float* sums) {
    Eight all[group]{};
    for (std::int64_t z = 0; z < depth; z += together) {
        Eight own, other;
        load(a + z, own);
#pragma GCC unroll 8
        for (int i = 0; i < group; ++i) {
            load(b.line[i] + z, other);
            all[i] += own * other;
        }
    }
    for (int i = 0; i < group; ++i) sums[i] = sum_of(all[i]);
}

template <int group>
void sum_differences_of(const float* a, const Group<group>& b, std::int64_t stride, std::int64_t depth, Phasor* sums) {
    Eight re[group]{}, im[group]{};
    for (std::int64_t z = 0; z < depth; z += together) {
        Eight a_re, a_im, b_re, b_im;
        load(a + z, a_re);
        load(a + stride + z, a_im);
#pragma GCC unroll 8
        for (int i = 0; i < group; ++i) {
            load(b.line[i] + z, b_re);
            load(b.line[i] + stride + z, b_im);
            re[i] += b_re * a_re;
            im[i] += b_im * a_re;
            re[i] += b_im * a_im;
            im[i] -= b_re * a_im;
        }
    }
    for (int i = 0; i < group; ++i) sums[i] = {sum_of(re[i]), sum_of(im[i])};
}

// Processes groups of `group` and drops the results of repeated lines.
template <int group, class Value, class Work>
void in_groups(std::size_t count, Value* sums, const Work& work) {
    for (std::size_t first = 0; first < count; first += group) {
        Value some[group];
        work(first, some);
        std::copy_n(some, std::min<std::size_t>(group, count - first), sums + first);
    }
}

}  // namespace

PaddedLines::PaddedLines(std::int64_t lines, std::int64_t depth, std::int64_t max_lag)
    : depth_(depth), first_(max_lag), stride_((depth + together - 1) / together * together + 2 * max_lag),
      values_(index(lines * stride_)) {}

float sum_of(const float* line, std::int64_t depth) {
    Eight all{}, some;
    for (std::int64_t z = 0; z < depth; z += together) {
        load(line + z, some);
        all += some;
    }
    return sum_of(all);
}

void sum_products(const float* a, std::span<const float* const> others, std::int64_t depth, float* sums) {
    constexpr int group = 7;
    in_groups<group>(others.size(), sums, [&](std::size_t first, float* some) {
        sum_products_of<group>(a, Group<group>(others, first), depth, some);
    });
}

void sum_differences(const float* a, std::span<const float* const> others, std::int64_t stride, std::int64_t depth,
                     Phasor* sums) {
    constexpr int group = 5;
    in_groups<group>(others.size(), sums, [&](std::size_t first, Phasor* some) {
        sum_differences_of<group>(a, Group<group>(others, first), stride, depth, some);
    });
}

// ---- Search for the shift of a repeat: a coarse search in features at half resolution, a fine search by coherence,
// then fractions of a sample.

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

void RepeatAligner::choose_reference() {
    const auto count = static_cast<int>(tables_.repeats.count);
    state_ = {};
    for (int reference = 0; state_.is_decided == 0; ++reference) {
        if (state_.end_try(reference, find_shifts(reference), count)) shifts_.swap(tried_);
    }
    state_.judge(shifts_[index(state_.reference)]);
}

int RepeatAligner::find_shifts(std::int64_t reference) {
    int used = 0;
    const std::int64_t tissue = take_as_reference(reference);
    for (std::int64_t r = 0; r < tables_.repeats.count; ++r) {
        RepeatShift& shift = tried_[index(r)];
        shift = {};
        if (tissue < min_repeat_tissue) {
            shift.reason = Reason::no_signal;
        } else if (r == reference) {
            shift.match = 1;
        } else {
            shift = shift_of(reference, r);
        }
        used += shift.reason == Reason::ok;
    }
    return used;
}

// Masks the bins of the reference to tissue and sums its power per A-scan.
std::int64_t RepeatAligner::take_as_reference(std::int64_t repeat) {
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
RepeatShift RepeatAligner::shift_of(std::int64_t reference, std::int64_t repeat) {
    const Lag lag = fine_lag(repeat, coarse_lag(reference, repeat));
    RepeatShift shift;
    sum_lags_in_depth(repeat, lag);
    shift.z = static_cast<double>(lag.z) + (tables_.align_depth > 0 ? fraction_of(tables_.carrier_turns) : 0);
    move_in_depth(repeat, shift.z);
    remove_phase(reference, repeat, lag.x);
    sum_lags_along(repeat, lag.x);
    const double fraction = tables_.align_lines > 0 ? fraction_of(0) : 0;
    shift.whole_x = static_cast<int>(lag.x);
    shift.x = static_cast<double>(lag.x) + fraction;
    shift.match = lag_power_ > 0 ? static_cast<float>(coherence_at(fraction, 0)) / lag_power_ : 0.0f;
    shift.judge(tables_.min_match, tables_.align_depth, tables_.align_lines);
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
            const float found = normalised(correlations_[index(z + coarse_z_)], overlap_power(reference, {z, x}),
                                           overlap_power(repeat, {-z, -x}));
            if (x == 0 && z == 0) at_none = found;
            if (!is_first && !(found > most)) continue;
            is_first = false;
            most = found;
            best = {z, x};
        }
    }
    return at_none >= most ? Lag{} : Lag{2 * best.z, 2 * best.x};  // prefer no shift on a tie
}

// Maximizes the coherence over the lags around the coarse lag.
RepeatAligner::Lag RepeatAligner::fine_lag(std::int64_t repeat, Lag coarse) {
    const LagRange deep(coarse.z, tables_.align_depth, depth_), along(coarse.x, tables_.align_lines, positions_);
    coherences_.fill({});
    for (std::int64_t x = 0; x < positions_; ++x) add_coherences(repeat, x, deep, along);
    Lag best{deep.first, along.first};
    float most = -1;
    for (std::int64_t x = along.first; x <= along.last; ++x) {
        for (std::int64_t z = deep.first; z <= deep.last; ++z) {
            const Coherence& one = coherences_[index((x - along.first) * fine_width + z - deep.first)];
            const float found = normalised(one.coherent, one.of_reference, one.of_repeat);
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

static std::int64_t halved(std::int64_t count) {
    return (count + 1) / 2;
}

RepeatAligner::RepeatAligner(const FlowTables& tables)
    : tables_(tables), positions_(tables.repeats.positions), depth_(tables.depth), half_positions_(halved(positions_)),
      half_depth_(halved(depth_)), coarse_z_(std::min(halved(tables.align_depth), half_depth_ / 2)),
      coarse_x_(std::min(halved(tables.align_lines), half_positions_ / 2)) {
    const std::int64_t max_lag = std::min(tables.align_depth, depth_ / 2) + ShiftTaps::count;
    const auto repeats = index(tables.repeats.count);
    split_.assign(repeats, PaddedLines(2 * positions_, depth_, max_lag));
    moved_ = split_;
    tissue_ = split_.front();
    powers_.assign(repeats, PaddedLines(positions_, depth_, max_lag));
    is_tissue_ = powers_.front();
    tissue_powers_.resize(index(positions_));
    features_.assign(repeats, PaddedLines(half_positions_, half_depth_, coarse_z_ + RepeatFeatures::of_background));
    temporary_ = mean_ = features_.front();
    overlap_powers_.assign(repeats, std::vector<double>(index((2 * coarse_z_ + 1) * (half_positions_ + 1))));
    lags_.resize(index(positions_ * lag_count));
    steps_ = PaddedLines(2, depth_, 0);
    phase_.resize(index(positions_));
    sum_.resize(index(positions_));
    for (std::size_t i = 0; i < smoothing_.size(); ++i)
        smoothing_[i] = PhaseSmoothing::weight(static_cast<std::int64_t>(i));
    correlations_.resize(index(std::max(2 * coarse_z_ + 1, lag_count)));
    products_.resize(correlations_.size());
    others_.resize(correlations_.size());
    shifts_.resize(repeats);
    tried_.resize(repeats);
    used_.reserve(repeats);
}

float* RepeatAligner::line(std::int64_t position, std::int64_t series, std::int64_t repeat) const {
    return reinterpret_cast<float*>(bins_ + tables_.repeats.line(position, series, repeat) * depth_);
}

// The alignment is estimated from the first series of repeats and applied to all of them.
Repeats RepeatAligner::align(std::complex<float>* bins, RepeatReport* reports) {
    bins_ = bins;
    split(0);
    find_features();
    choose_reference();
    if (reports != nullptr) report(reports);
    keep_used();
    Repeats kept = tables_.repeats;
    kept.count = std::max<std::int64_t>(1, std::ssize(used_));
    if (kept.count == 1) return kept;
    for (std::int64_t series = 0; series < kept.series; ++series) {
        const bool is_moved = series == 0 && state_.reference == state_.last_tried;
        if (series > 0) split(series);
        lay_series(series, state_.reference, is_moved);
    }
    return kept;
}

void RepeatAligner::split(std::int64_t series) {
    constexpr float most = std::numeric_limits<float>::max();
    const auto number = [](float value) { return std::abs(value) <= most ? value : 0.0f; };
    for (std::int64_t r = 0; r < tables_.repeats.count; ++r) {
        PaddedLines& lines = split_[index(r)];
        for (std::int64_t x = 0; x < positions_; ++x) {
            const float* from = line(x, series, r);
            float *re = lines.complex_line(x), *im = re + lines.stride();
            float* power = powers_[index(r)].line(x);
            for (std::int64_t z = 0; z < depth_; ++z) {
                re[z] = number(from[2 * z]);
                im[z] = number(from[2 * z + 1]);
            }
            for (std::int64_t z = 0; z < depth_; ++z) power[z] = Power{}(re[z], im[z]);
        }
    }
}

// ---- applying the alignment -----------------------------------------------------------------------------------------

void RepeatAligner::move_in_depth(std::int64_t repeat, double by) {
    const ShiftTaps taps(settled(by), tables_.carrier_turns);
    const std::int64_t stride = split_.front().stride();
    for (std::int64_t x = 0; x < positions_; ++x) {
        const float* from = split_[index(repeat)].complex_line(x) + taps.first;
        float *re = moved_[index(repeat)].complex_line(x), *im = re + stride;
        std::fill_n(re, depth_, 0.0f);
        std::fill_n(im, depth_, 0.0f);
        for (int n = 0; n < ShiftTaps::count; ++n) {
            const Phasor tap = taps.tap[n];
            const float *of_re = from + n, *of_im = of_re + stride;
            for (std::int64_t z = 0; z < depth_; ++z) {
                re[z] += tap.re * of_re[z] - tap.im * of_im[z];
                im[z] += tap.re * of_im[z] + tap.im * of_re[z];
            }
        }
    }
}

// Removes the phase of moved_, whose A-scan p + x corresponds to A-scan p of the reference.
void RepeatAligner::remove_phase(std::int64_t reference, std::int64_t repeat, std::int64_t x) {
    PaddedLines& moved = moved_[index(repeat)];
    find_phase([&](std::int64_t p) { return split_[index(reference)].complex_line(p); },
               [&](std::int64_t p) { return moved.complex_line(std::clamp<std::int64_t>(p + x, 0, positions_ - 1)); });
    for (std::int64_t p = 0; p < positions_; ++p)
        turn_back(moved.complex_line(p), phase_[index(std::clamp<std::int64_t>(p - x, 0, positions_ - 1))]);
}

// Removes the phase of an aligned repeat relative to the previous one, because consecutive repeats are compared.
void RepeatAligner::follow_phase(std::int64_t before, std::int64_t repeat) {
    PaddedLines& lines = split_[index(repeat)];
    find_phase([&](std::int64_t p) { return split_[index(before)].complex_line(p); },
               [&](std::int64_t p) { return lines.complex_line(p); });
    for (std::int64_t p = 0; p < positions_; ++p) turn_back(lines.complex_line(p), phase_[index(p)]);
}

void RepeatAligner::turn_back(float* line, Phasor phase) const {
    float *re = line, *im = line + split_.front().stride();
    for (std::int64_t z = 0; z < depth_; ++z) {
        const Phasor turned = phase_difference({re[z], im[z]}, phase);
        re[z] = turned.re;
        im[z] = turned.im;
    }
}

// Estimates the bulk phase of each A-scan. Every pass sums the products of tissue that agrees with the previous
// estimate, then smooths the sums along the B-scan.
template <class Reference, class Other>
void RepeatAligner::find_phase(const Reference& of_reference, const Other& of_other) {
    const RepeatPhaseShare share{tables_.min_power};
    const std::int64_t stride = split_.front().stride();
    float *re = steps_.line(0), *im = steps_.line(1);
    std::fill(phase_.begin(), phase_.end(), Phasor{});
    for (int pass = 0; pass < RepeatPhaseShare::passes; ++pass) {
        for (std::int64_t p = 0; p < positions_; ++p) {
            const float *a = of_reference(p), *b = of_other(p);
            const Phasor estimate = phase_[index(p)];
            for (std::int64_t z = 0; z < depth_; ++z) {
                const Phasor one = share({a[z], a[stride + z]}, {b[z], b[stride + z]}, estimate);
                re[z] = one.re;
                im[z] = one.im;
            }
            sum_[index(p)] = {sum_of(re, depth_), sum_of(im, depth_)};
        }
        smooth_phase();
    }
    for (Phasor& phase : phase_) {
        if (phase.re == 0 && phase.im == 0) phase = {1, 0};
    }
}

void RepeatAligner::smooth_phase() {
    for (std::int64_t p = 0; p < positions_; ++p) {
        const WindowSpan window(p, 2 * PhaseSmoothing::reach + 1, positions_);
        Phasor sum;
        for (std::int64_t i = window.begin; i < window.end; ++i) {
            add_product(sum, {smoothing_[index(std::abs(i - p))], 0}, sum_[index(i)]);
        }
        phase_[index(p)] = direction_of(sum);
    }
}

// Shifts a repeat along the B-scan by its fractional number of A-scans. A-scans outside the B-scan count as zero.
void RepeatAligner::lay_over(std::int64_t repeat) {
    const ShiftTaps taps(settled(shifts_[index(repeat)].x), 0);
    const PaddedLines& from = moved_[index(repeat)];
    PaddedLines& to = split_[index(repeat)];
    for (std::int64_t x = 0; x < 2 * positions_; ++x) {  // real and imaginary parts
        float* into = to.line(x);
        std::fill_n(into, depth_, 0.0f);
        for (int n = 0; n < ShiftTaps::count; ++n) {
            const std::int64_t at = x / 2 + taps.first + n;
            if (at < 0 || at >= positions_) continue;
            const float* other = from.line(2 * at + x % 2);
            const float tap = taps.tap[n].re;  // taps without a carrier are real
            for (std::int64_t z = 0; z < depth_; ++z) into[z] += tap * other[z];
        }
    }
}

void RepeatAligner::keep_used() {
    used_.clear();
    for (std::int64_t r = 0; r < tables_.repeats.count; ++r) {
        if (shifts_[index(r)].reason == Reason::ok) used_.push_back(r);
    }
}

// `is_moved`: moved_ already holds the moved repeats.
void RepeatAligner::lay_series(std::int64_t series, std::int64_t reference, bool is_moved) {
    for (const std::int64_t r : used_) {
        if (r == reference) continue;
        if (!is_moved) {
            move_in_depth(r, shifts_[index(r)].z);
            remove_phase(reference, r, shifts_[index(r)].whole_x);
        }
        lay_over(r);
    }
    for (std::size_t i = 1; i < used_.size(); ++i) follow_phase(used_[i - 1], used_[i]);
    store_series(series);
}

// Stores the used repeats in the bins. Voxels that one of them lacks become 0.
void RepeatAligner::store_series(std::int64_t series) const {
    KnownPart known{0, positions_, 0, depth_};
    for (const std::int64_t r : used_) known.keep(shifts_[index(r)], positions_, depth_);
    for (std::size_t i = 0; i < used_.size(); ++i) {
        const PaddedLines& from = split_[index(used_[i])];
        for (std::int64_t x = 0; x < positions_; ++x) {
            float* into = line(x, series, static_cast<std::int64_t>(i));
            std::fill_n(into, 2 * depth_, 0.0f);
            if (x < known.first_x || x >= known.last_x) continue;
            const float *re = from.complex_line(x), *im = re + from.stride();
            for (std::int64_t z = known.first_z; z < known.last_z; ++z) {
                into[2 * z] = re[z];
                into[2 * z + 1] = im[z];
            }
        }
    }
}

void RepeatAligner::report(RepeatReport* reports) const {
    for (std::size_t r = 0; r < shifts_.size(); ++r) reports[r] = shifts_[r].report(tables_.depth_flip);
}

}  // namespace echolux::cpu
