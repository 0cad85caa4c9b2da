#include "compute/cpu/repeat_alignment.h"

#include <algorithm>
#include <cmath>

#include "compute/cpu/bins.h"
#include "compute/indexing.h"

namespace echolux::cpu {
namespace {

std::int64_t halved(std::int64_t count) {
    return (count + 1) / 2;
}

}  // namespace

RepeatAligner::RepeatAligner(const FlowTables& tables)
    : tables_(tables), positions_(tables.repeats.positions), depth_(tables.depth), half_positions_(halved(positions_)),
      half_depth_(halved(depth_)), features_(index(tables.repeats.count)),
      temporary_(index(half_positions_ * half_depth_)), mean_(temporary_.size()), lags_(index(positions_ * lag_count)),
      shifted_(index(positions_ * depth_)), phase_(index(positions_)), sum_(index(positions_)),
      shifts_(features_.size()), tried_(features_.size()) {
    for (auto& plane : features_) plane.resize(temporary_.size());
}

float* RepeatAligner::line(std::int64_t position, std::int64_t series, std::int64_t repeat) const {
    return reinterpret_cast<float*>(bins_ + tables_.repeats.line(position, series, repeat) * depth_);
}

Repeats RepeatAligner::align(std::complex<float>* bins, RepeatReport* reports) {
    bins_ = bins;
    find_features();
    const std::int64_t reference = choose_reference();
    if (reports != nullptr) report(reports);
    for (std::int64_t series = 0; series < tables_.repeats.series; ++series) {
        for (std::int64_t r = 0; r < tables_.repeats.count; ++r) {
            if (r != reference && shifts_[index(r)].reason == Reason::ok) lay_over(series, reference, r);
        }
    }
    Repeats kept = tables_.repeats;
    kept.count = keep_used();
    for (std::int64_t series = 0; series < kept.series; ++series) {
        for (std::int64_t r = 1; r < kept.count; ++r) follow_phase(series, r);
    }
    clear_what_some_lack(kept.count);
    return kept;
}

// ---- what is done about it ------------------------------------------------------------------------------------------

void RepeatAligner::move_in_depth(std::int64_t series, std::int64_t repeat, double by) {
    const ShiftTaps taps(settled(by), tables_.carrier_turns);
    for (std::int64_t x = 0; x < positions_; ++x) {
        const float* from = line(x, series, repeat);
        Phasor* into = shifted_.data() + x * depth_;
        std::fill_n(into, depth_, Phasor{});
        for (int n = 0; n < ShiftTaps::count; ++n) {
            const Phasor tap = taps.tap[n];
            const Overlap deep(taps.first + n, depth_);
            for (std::int64_t z = deep.begin; z < deep.end; ++z)
                add_product(into[z], tap, bin(from, z + taps.first + n));
        }
    }
}

// Of shifted_, whose A-scan p + x lies over the reference's p.
void RepeatAligner::remove_phase(std::int64_t series, std::int64_t reference, std::int64_t x) {
    const auto of_reference = [&](std::int64_t p) { return line(p, series, reference); };
    const auto of_repeat = [&](std::int64_t p) {
        const std::int64_t at = std::clamp<std::int64_t>(p + x, 0, positions_ - 1);
        return reinterpret_cast<const float*>(shifted_.data() + at * depth_);
    };
    find_phase(of_reference, of_repeat);
    for (std::int64_t p = 0; p < positions_; ++p) {
        const Phasor phase = phase_[index(std::clamp<std::int64_t>(p - x, 0, positions_ - 1))];
        Phasor* turned = shifted_.data() + p * depth_;
        for (std::int64_t z = 0; z < depth_; ++z) turned[z] = phase_difference(turned[z], phase);
    }
}

// Of a repeat that was laid over, against the one before it: what is compared.
void RepeatAligner::follow_phase(std::int64_t series, std::int64_t repeat) {
    find_phase([&](std::int64_t p) { return line(p, series, repeat - 1); },
               [&](std::int64_t p) { return line(p, series, repeat); });
    for (std::int64_t p = 0; p < positions_; ++p) {
        auto* turned = reinterpret_cast<Phasor*>(line(p, series, repeat));
        for (std::int64_t z = 0; z < depth_; ++z) turned[z] = phase_difference(turned[z], phase_[index(p)]);
    }
}

template <class Reference, class Other>
void RepeatAligner::find_phase(const Reference& of_reference, const Other& of_other) {
    const RepeatPhaseShare share{tables_.min_power};
    std::fill(phase_.begin(), phase_.end(), Phasor{});
    for (int pass = 0; pass < RepeatPhaseShare::passes; ++pass) {
        for (std::int64_t p = 0; p < positions_; ++p) {
            const float *a = of_reference(p), *b = of_other(p);
            Phasor sum;
            for (std::int64_t z = 0; z < depth_; ++z) {
                const Phasor one = share(bin(a, z), bin(b, z), phase_[index(p)]);
                sum.re += one.re;
                sum.im += one.im;
            }
            sum_[index(p)] = sum;
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
            add_product(sum, {PhaseSmoothing::weight(i - p), 0}, sum_[index(i)]);
        }
        phase_[index(p)] = direction_of(sum);
    }
}

void RepeatAligner::lay_over(std::int64_t series, std::int64_t reference, std::int64_t repeat) {
    const Shift& shift = shifts_[index(repeat)];
    move_in_depth(series, repeat, shift.z);
    remove_phase(series, reference, shift.whole_x);
    const ShiftTaps taps(settled(shift.x), 0);
    for (std::int64_t x = 0; x < positions_; ++x) {
        auto* into = reinterpret_cast<Phasor*>(line(x, series, repeat));
        std::fill_n(into, depth_, Phasor{});
        for (int n = 0; n < ShiftTaps::count; ++n) {
            const std::int64_t at = x + taps.first + n;
            if (at < 0 || at >= positions_) continue;
            const Phasor* from = shifted_.data() + at * depth_;
            for (std::int64_t z = 0; z < depth_; ++z) add_product(into[z], taps.tap[n], from[z]);
        }
    }
}

std::int64_t RepeatAligner::keep_used() {
    const Repeats& repeats = tables_.repeats;
    std::int64_t used = 0;
    for (std::int64_t r = 0; r < repeats.count; ++r) {
        if (shifts_[index(r)].reason != Reason::ok) continue;
        shifts_[index(used)] = shifts_[index(r)];
        for (std::int64_t i = 0; i < repeats.series * positions_ && used != r; ++i) {
            const std::int64_t series = i / positions_, x = i % positions_;
            std::copy_n(line(x, series, r), 2 * depth_, line(x, series, used));
        }
        ++used;
    }
    return std::max<std::int64_t>(1, used);
}

void RepeatAligner::clear_what_some_lack(std::int64_t used) {
    std::int64_t first_x = 0, last_x = positions_, first_z = 0, last_z = depth_;
    for (std::int64_t r = 0; r < used; ++r) {
        const KnownSamples along(shifts_[index(r)].x, positions_), deep(shifts_[index(r)].z, depth_);
        first_x = std::max(first_x, along.begin);
        last_x = std::min(last_x, along.end);
        first_z = std::max(first_z, deep.begin);
        last_z = std::min(last_z, deep.end);
    }
    const Repeats& repeats = tables_.repeats;
    for (std::int64_t i = 0; i < used * repeats.series * positions_; ++i) {
        const std::int64_t x = i % positions_, series = i / positions_ % repeats.series;
        auto* bins = reinterpret_cast<Phasor*>(line(x, series, i / positions_ / repeats.series));
        const bool is_known = x >= first_x && x < last_x;
        const std::int64_t begin = is_known ? std::min(first_z, depth_) : depth_;
        std::fill(bins, bins + begin, Phasor{});
        std::fill(bins + std::max(begin, last_z), bins + depth_, Phasor{});
    }
}

void RepeatAligner::report(RepeatReport* reports) const {
    for (std::size_t r = 0; r < shifts_.size(); ++r) {
        const Shift& shift = shifts_[r];
        const double rows = tables_.depth_flip ? shift.z : 0 - shift.z;  // rows are written in reverse
        RepeatReport& one = reports[r];
        one = {};
        one.depth_rows = static_cast<float>(rows);
        one.a_scans = static_cast<float>(0 - shift.x);
        one.match = shift.match;
        one.reason = shift.reason;
    }
}

}  // namespace echolux::cpu
