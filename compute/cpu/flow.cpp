#include "compute/cpu/flow.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>

#include "compute/indexing.h"

namespace echolux::cpu {
namespace {

// Sums over the depth window as shifted additions of whole lines, which vectorize.
void sum_along(const std::vector<float>& in, std::int64_t width, const std::vector<float>& shares,
               std::vector<float>& out) {
    const std::int64_t depth = std::ssize(in);
    std::fill(out.begin(), out.end(), 0.0f);
    const float* from = in.data();
    float* sum = out.data();
    for (std::int64_t d = -(width / 2); d < width - width / 2; ++d) {
        for (std::int64_t z = std::max<std::int64_t>(0, -d); z < std::min(depth, depth - d); ++z) sum[z] += from[z + d];
    }
    for (std::size_t z = 0; z < out.size(); ++z) out[z] *= shares[z];
}

}  // namespace

StepPlanes::StepPlanes(std::int64_t depth) : re(index(depth)), im(re.size()), power(re.size()) {}

void StepPlanes::clear() {
    std::fill(re.begin(), re.end(), 0.0f);
    std::fill(im.begin(), im.end(), 0.0f);
    std::fill(power.begin(), power.end(), 0.0f);
}

void StepPlanes::add(const float* earlier, const float* later, Phasor bulk) {
    for (std::size_t z = 0; z < re.size(); ++z) {
        const auto i = static_cast<std::int64_t>(z);
        const PhaseStep step = phase_step(bin(earlier, i), bin(later, i), bulk);
        re[z] += step.product.re;
        im[z] += step.product.im;
        power[z] += step.power;
    }
}

void StepPlanes::add(const StepPlanes& other, float weight) {
    for (std::size_t z = 0; z < re.size(); ++z) re[z] += weight * other.re[z];
    for (std::size_t z = 0; z < re.size(); ++z) im[z] += weight * other.im[z];
    for (std::size_t z = 0; z < re.size(); ++z) power[z] += weight * other.power[z];
}

void StepPlanes::sum_along_depth(const StepPlanes& other, std::int64_t width, const std::vector<float>& shares) {
    sum_along(other.re, width, shares, re);
    sum_along(other.im, width, shares, im);
    sum_along(other.power, width, shares, power);
}

PositionSteps::PositionSteps(std::int64_t depth, std::int64_t kept)
    : steps_(index(kept), StepPlanes(depth)), held_(steps_.size(), -1) {}

void PositionSteps::begin(const PositionBins& bins) {
    bins_ = bins;
    std::fill(held_.begin(), held_.end(), -1);
}

// A ring buffer indexed by position: windows of consecutive A-scans overlap in all but one position.
const StepPlanes& PositionSteps::of(std::int64_t position) {
    const std::size_t slot = index(position) % steps_.size();
    StepPlanes& steps = steps_[slot];
    if (held_[slot] == position) return steps;
    held_[slot] = position;
    steps.clear();
    const Repeats& repeats = bins_.repeats;
    for (std::int64_t pair = 0; pair < repeats.pairs(); ++pair) {
        const std::int64_t series = pair / (repeats.count - 1), repeat = pair % (repeats.count - 1);
        const Phasor bulk = bins_.bulk == nullptr ? Phasor{1, 0} : bins_.bulk[position * bins_.bulk_stride + pair];
        steps.add(bins_.line(repeats.line(position, series, repeat)),
                  bins_.line(repeats.line(position, series, repeat + 1)), bulk);
    }
    return steps;
}

AngiogramLine::AngiogramLine(const FlowTables& tables)
    : tables_(tables), found_(index(tables.depth)), steps_(tables.depth), over_depth_(tables.depth),
      shares_(found_.size(), 1.0f) {
    if (tables.bands > 1) {
        earlier_.resize(found_.size());
        later_.resize(found_.size());
        decorrelation_.resize(found_.size());
    }
    if (tables.method == FlowMethod::cdv) variance_.resize(found_.size());
    if (tables.method == FlowMethod::correlation) columns_.resize(found_.size());
}

std::span<const Angiogram> AngiogramLine::of(const PositionBins& bins, std::int64_t position) {
    switch (tables_.method) {
        case FlowMethod::speckle_variance: each_voxel<SpeckleVariance>(bins, position); break;
        case FlowMethod::decorrelation:
            if (tables_.bands > 1) {
                split_spectrum(bins, position);
            } else {
                each_voxel<Decorrelation>(bins, position);
            }
            break;
        case FlowMethod::omag: each_voxel<Omag>(bins, position); break;
        case FlowMethod::phase_variance: each_voxel<PhaseVariance>(bins, position); break;
        case FlowMethod::cdv: differential_variance(bins, position); break;
        default: correlation(bins, position);
    }
    return found_;
}

template <class Method>
void AngiogramLine::each_voxel(const PositionBins& bins, std::int64_t position) {
    const Repeats& repeats = bins.repeats;
    const Phasor* bulk = bins.bulk == nullptr ? nullptr : bins.bulk + position * bins.bulk_stride;
    const auto bulk_of = [&](std::int64_t series, std::int64_t pair) {
        return bulk == nullptr ? Phasor{1, 0} : bulk[series * (repeats.count - 1) + pair];
    };
    for (std::int64_t z = 0; z < tables_.depth; ++z) {
        const auto repeat = [&](std::int64_t series, std::int64_t i) {
            return bin(bins.line(repeats.line(position, series, i)), z);
        };
        found_[index(z)] = angiogram<Method>(repeats, repeat, bulk_of);
    }
}

// Adds the mean power of a position's repeats and resets the values to zero.
void AngiogramLine::add_power(const PositionBins& bins, std::int64_t position) {
    const Repeats& repeats = bins.repeats;
    const float share = 1 / static_cast<float>(repeats.series * repeats.count);
    std::fill(found_.begin(), found_.end(), Angiogram{});
    for (std::int64_t series = 0; series < repeats.series; ++series) {
        for (std::int64_t i = 0; i < repeats.count; ++i) {
            const float* line = bins.line(repeats.line(position, series, i));
            for (std::int64_t z = 0; z < tables_.depth; ++z) found_[index(z)].power += share * power_of(bin(line, z));
        }
    }
}

void AngiogramLine::split_spectrum(const PositionBins& bins, std::int64_t position) {
    const Repeats& repeats = bins.repeats;
    add_power(bins, position);
    const float share = 1 / static_cast<float>(repeats.series * tables_.bands);
    for (std::int64_t i = 0; i < repeats.series * tables_.bands; ++i) {
        const std::int64_t series = i / tables_.bands, band = i % tables_.bands;
        std::fill(decorrelation_.begin(), decorrelation_.end(), Decorrelation{});
        band_amplitudes(bins.line(repeats.line(position, series, 0)), band, earlier_);
        for (std::int64_t repeat = 1; repeat < repeats.count; ++repeat) {
            band_amplitudes(bins.line(repeats.line(position, series, repeat)), band, later_);
            for (std::size_t z = 0; z < found_.size(); ++z) decorrelation_[z].add(earlier_[z], later_[z]);
            std::swap(earlier_, later_);
        }
        for (std::size_t z = 0; z < found_.size(); ++z) found_[z].value += share * decorrelation_[z].value();
    }
}

void AngiogramLine::band_amplitudes(const float* line, std::int64_t band, std::vector<float>& amplitudes) const {
    const BandBin filtered{tables_.filters.data() + band * (2 * tables_.band_reach + 1), tables_.band_reach,
                           tables_.depth};
    for (std::int64_t z = 0; z < tables_.depth; ++z) {
        amplitudes[index(z)] = std::sqrt(power_of(filtered([&](std::int64_t i) { return bin(line, i); }, z)));
    }
}

void AngiogramLine::differential_variance(const PositionBins& bins, std::int64_t position) {
    const Repeats& repeats = bins.repeats;
    add_power(bins, position);
    for (std::int64_t series = 0; series < repeats.series; ++series) {
        std::fill(variance_.begin(), variance_.end(), ComplexDifferentialVariance{});
        for (std::int64_t repeat = 1; repeat < repeats.count; ++repeat) {
            steps_.clear();
            steps_.add(bins.line(repeats.line(position, series, repeat - 1)),
                       bins.line(repeats.line(position, series, repeat)), {1, 0});
            over_depth_.sum_along_depth(steps_, tables_.window_depth, shares_);
            for (std::size_t z = 0; z < found_.size(); ++z) variance_[z].add(over_depth_.at(z));
        }
        const float share = 1 / static_cast<float>(repeats.series);
        for (std::size_t z = 0; z < found_.size(); ++z) found_[z].value += share * variance_[z].value();
    }
}

void AngiogramLine::correlation(const PositionBins& bins, std::int64_t position) {
    const Repeats& repeats = bins.repeats;
    const std::int64_t width = 2 * tables_.reach + 1;
    add_power(bins, position);
    const float share = 1 / static_cast<float>(repeats.pairs());
    const WindowSpan positions(position, width, repeats.positions);
    for (std::int64_t pair = 0; pair < repeats.pairs(); ++pair) {
        const std::int64_t series = pair / (repeats.count - 1), repeat = pair % (repeats.count - 1);
        std::fill(columns_.begin(), columns_.end(), CorrelationSums{});
        for (std::int64_t p = positions.begin; p < positions.end; ++p) {
            const float* earlier = bins.line(repeats.line(p, series, repeat));
            const float* later = bins.line(repeats.line(p, series, repeat + 1));
            for (std::int64_t z = 0; z < tables_.depth; ++z) {
                columns_[index(z)].add(std::sqrt(power_of(bin(earlier, z))), std::sqrt(power_of(bin(later, z))));
            }
        }
        for (std::int64_t z = 0; z < tables_.depth; ++z) {
            const WindowSpan window(z, width, tables_.depth);
            CorrelationSums sum;
            for (std::int64_t i = window.begin; i < window.end; ++i) sum.add(columns_[index(i)]);
            found_[index(z)].value += share * sum.value(static_cast<float>(window.size() * positions.size()));
        }
    }
}

FlowLine::FlowLine(const FlowTables& tables)
    : tables_(tables), steps_(tables.depth, tables.window_positions + 1), over_lines_(tables.depth),
      mean_(tables.depth), angiogram_(tables), mixed_(index(tables.depth)), codes_(mixed_.size()) {
    for (std::int64_t z = 0; z < tables.depth; ++z) {
        shares_.push_back(1 / static_cast<float>(WindowSpan(z, tables.window_depth, tables.depth).size()));
    }
}

// Iterative trimming: each pass estimates the direction from the bins that agree with the previous estimate.
void FlowLine::find_bulk(const PositionBins& bins, std::int64_t position, Phasor* bulk) const {
    const Repeats& repeats = bins.repeats;
    const BulkShare share{tables_.min_power};
    for (std::int64_t pair = 0; pair < repeats.pairs(); ++pair) {
        const std::int64_t series = pair / (repeats.count - 1), repeat = pair % (repeats.count - 1);
        const float* earlier = bins.line(repeats.line(position, series, repeat));
        const float* later = bins.line(repeats.line(position, series, repeat + 1));
        BulkSum sum;
        Phasor estimate;
        for (int pass = 0; pass <= BulkShare::trimmings; ++pass) {
            sum = {};
            for (std::int64_t z = 0; z < tables_.depth; ++z) sum.add(share(bin(earlier, z), bin(later, z), estimate));
            estimate = bulk_estimate(sum);
        }
        bulk[pair] = bulk_step(sum);
    }
}

void FlowLine::begin(const PositionBins& bins) {
    bins_ = bins;
    steps_.begin(bins);
}

void FlowLine::store(const RecordedPositions& from, std::byte* target) {
    if (tables_.method == FlowMethod::doppler) {
        mean_steps(from);
        const PhasorCode code{tables_.min_power, tables_.negative};
        for (std::size_t z = 0; z < codes_.size(); ++z) codes_[z] = code(mean_.at(z));
    } else if (tables_.method == FlowMethod::power_doppler) {
        mean_steps(from);
        const PowerDoppler db{tables_.min_power, tables_.noise_power};
        for (std::size_t z = 0; z < codes_.size(); ++z) codes_[z] = Half{}(db(mean_.at(z)));
    } else {
        mean_angiogram(from);
        const AngiogramCode code{tables_.min_power, tables_.unit};
        for (std::size_t z = 0; z < codes_.size(); ++z) codes_[z] = code(mixed_[z]);
    }
    store_codes(target);
}

void FlowLine::phases(const RecordedPositions& from, float* phase) {
    mean_steps(from);
    for (std::size_t z = 0; z < codes_.size(); ++z) {
        const bool known = mean_.power[z] >= tables_.min_power;
        phase[z] = known ? phase_of(mean_.at(z), tables_.negative) : std::numeric_limits<float>::quiet_NaN();
    }
}

void FlowLine::store_velocities(const float* phase, std::byte* target) {
    const VelocityCode code{tables_.mm_s_per_rad};
    for (std::size_t z = 0; z < codes_.size(); ++z) {
        codes_[z] = std::isnan(phase[z]) ? std::uint16_t{0} : code(phase[z], 0);
    }
    store_codes(target);
}

void FlowLine::decorrelations(const RecordedPositions& from, NoisyDecorrelation* found) {
    mean_steps(from);
    const DecorrelationOf decorrelation{tables_.noise_power};
    for (std::size_t z = 0; z < codes_.size(); ++z) found[z] = decorrelation(mean_.at(z));
}

// Fewer compared repeats mean fewer independent pairs, so the threshold increases by the square root of their ratio.
void FlowLine::store_decorrelations(const NoisyDecorrelation* found, const Repeats& compared, float bulk,
                                    std::byte* target) {
    const float fewer = std::sqrt(static_cast<float>(tables_.repeats.pairs()) / static_cast<float>(compared.pairs()));
    const DecorrelationCode code{tables_.noise_power / tables_.min_power, tables_.deviations * fewer, bulk};
    for (std::size_t z = 0; z < codes_.size(); ++z) codes_[z] = code(found[z]);
    store_codes(target);
}

void FlowLine::store_empty(std::byte* target) {
    std::fill(codes_.begin(), codes_.end(), std::uint16_t{0});
    store_codes(target);
}

void FlowLine::mean_steps(const RecordedPositions& from) {
    over_lines_.clear();
    add_window(from.first, 1 - from.next);
    if (from.next > 0) add_window(from.second, from.next);
    mean_.sum_along_depth(over_lines_, tables_.window_depth, shares_);
}

void FlowLine::add_window(std::int64_t position, float weight) {
    const Repeats& repeats = bins_.repeats;
    const WindowSpan window(std::min(position, repeats.positions - 1), tables_.window_positions, repeats.positions);
    const float share = weight / static_cast<float>(window.size() * repeats.pairs());
    for (std::int64_t p = window.begin; p < window.end; ++p) over_lines_.add(steps_.of(p), share);
}

void FlowLine::mean_angiogram(const RecordedPositions& from) {
    const auto add = [&](std::int64_t position, float weight) {
        const std::span<const Angiogram> found = angiogram_.of(bins_, position);
        for (std::size_t z = 0; z < mixed_.size(); ++z) {
            mixed_[z].value += weight * found[z].value;
            mixed_[z].power += weight * found[z].power;
        }
    };
    std::fill(mixed_.begin(), mixed_.end(), Angiogram{});
    add(from.first, 1 - from.next);
    if (from.next > 0) add(from.second, from.next);
}

void FlowLine::store_codes(std::byte* target) {
    if (tables_.depth_flip) std::reverse(codes_.begin(), codes_.end());
    std::memcpy(target, codes_.data(), codes_.size() * sizeof(codes_[0]));
}

// Adds whole turns so that neighbouring bins differ by less than half a turn (K. Itoh, Appl. Opt. 21, 2470 (1982)).
// Masked bins (NaN) end a run; the next run starts from the previous A-scan if it is known there.
void unwrap(float* phases, std::int64_t a_scans, std::int64_t depth) {
    constexpr float turn = 2 * std::numbers::pi_v<float>;
    for (std::int64_t a = 0; a < a_scans; ++a) {
        float* line = phases + a * depth;
        const float* line_before = a == 0 ? nullptr : line - depth;
        float wrapped_before = 0;
        std::int32_t turns = 0;
        bool in_run = false;
        for (std::int64_t z = 0; z < depth; ++z) {
            const float phase = line[z];
            if (std::isnan(phase)) {
                in_run = false;
                continue;
            }
            if (in_run) {
                turns += turns_towards(wrapped_before, phase);
            } else {
                const bool seeded = line_before != nullptr && !std::isnan(line_before[z]);
                turns = seeded ? turns_towards(line_before[z], phase) : 0;
            }
            line[z] = multiply_add(static_cast<float>(turns), turn, phase);
            wrapped_before = phase;
            in_run = true;
        }
    }
}

}  // namespace echolux::cpu
