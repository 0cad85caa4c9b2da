#include "compute/cpu/flow.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "compute/indexing.h"

namespace echolux::cpu {

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

void FlowLine::store_nothing(std::byte* target) {
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

// Itoh's method along depth. Masked bins (NaN) end a run; the next run starts from the previous A-scan if it is known
// there.
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
