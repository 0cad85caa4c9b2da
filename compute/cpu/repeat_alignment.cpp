#include "compute/cpu/repeat_alignment.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "compute/indexing.h"
#include "compute/repeat_report.h"

namespace echolux::cpu {
namespace {

std::int64_t halved(std::int64_t count) {
    return (count + 1) / 2;
}

}  // namespace

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
    const std::int64_t reference = choose_reference();
    if (reports != nullptr) report(reports);
    keep_used();
    Repeats kept = tables_.repeats;
    kept.count = std::max<std::int64_t>(1, std::ssize(used_));
    if (kept.count == 1) return kept;
    for (std::int64_t series = 0; series < kept.series; ++series) {
        const bool is_moved = series == 0 && reference == last_tried_;
        if (series > 0) split(series);
        lay_series(series, reference, is_moved);
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
    std::int64_t first_x = 0, last_x = positions_, first_z = 0, last_z = depth_;
    for (const std::int64_t r : used_) {
        const KnownSamples along(shifts_[index(r)].x, positions_), deep(shifts_[index(r)].z, depth_);
        first_x = std::max(first_x, along.begin);
        last_x = std::min(last_x, along.end);
        first_z = std::max(first_z, deep.begin);
        last_z = std::min(last_z, deep.end);
    }
    for (std::size_t i = 0; i < used_.size(); ++i) {
        const PaddedLines& from = split_[index(used_[i])];
        for (std::int64_t x = 0; x < positions_; ++x) {
            float* into = line(x, series, static_cast<std::int64_t>(i));
            std::fill_n(into, 2 * depth_, 0.0f);
            if (x < first_x || x >= last_x) continue;
            const float *re = from.complex_line(x), *im = re + from.stride();
            for (std::int64_t z = first_z; z < last_z; ++z) {
                into[2 * z] = re[z];
                into[2 * z + 1] = im[z];
            }
        }
    }
}

void RepeatAligner::report(RepeatReport* reports) const {
    for (std::size_t r = 0; r < shifts_.size(); ++r) {
        const Shift& shift = shifts_[r];
        const double rows = tables_.depth_flip ? shift.z : 0 - shift.z;  // rows are reversed
        RepeatReport& one = reports[r];
        one = {};
        one.depth_rows = static_cast<float>(rows);
        one.a_scans = static_cast<float>(0 - shift.x);
        one.match = shift.match;
        one.reason = shift.reason;
    }
}

}  // namespace echolux::cpu
