#include "compute/cpu/flow.h"

#include <cmath>
#include <cstring>
#include <limits>

#include "compute/indexing.h"

namespace echolux {

FlowLine::FlowLine(const FlowTables& tables)
    : tables_(tables), angiogram_(tables), re_(index(tables.depth)), im_(re_.size()), power_(re_.size()),
      steps_(re_.size()), mixed_(re_.size()) {}

void FlowLine::find_bulk(const PositionBins& bins, std::int64_t position, Phasor* bulk) const {
    const Looks& looks = tables_.looks;
    const BulkShare share{tables_.least_power};
    for (std::int64_t pair = 0; pair < looks.pairs(); ++pair) {
        const std::int64_t series = pair / (looks.count - 1), look = pair % (looks.count - 1);
        const float* earlier = bins.line(looks.line(position, series, look));
        const float* later = bins.line(looks.line(position, series, look + 1));
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

void FlowLine::store(const PositionBins& bins, const RecordedPositions& from, std::byte* target) {
    switch (tables_.method) {
        case FlowMethod::doppler:
            mean_steps(bins, from);
            return store_each(steps_.data(), PhasorCode{tables_.least_power, tables_.negative}, target);
        case FlowMethod::power_doppler: {
            mean_steps(bins, from);
            const PowerDoppler db{tables_.least_power, tables_.noise_power};
            return store_each(
                steps_.data(), [db](const PhaseStep& mean) { return Half{}(db(mean)); }, target);
        }
        default:
            mean_angiogram(bins, from);
            store_each(mixed_.data(), AngiogramCode{tables_.least_power, tables_.unit}, target);
    }
}

void FlowLine::phases(const PositionBins& bins, const RecordedPositions& from, float* phase) {
    mean_steps(bins, from);
    for (std::size_t z = 0; z < steps_.size(); ++z) {
        const bool known = steps_[z].power >= tables_.least_power;
        phase[z] = known ? phase_of(steps_[z], tables_.negative) : std::numeric_limits<float>::quiet_NaN();
    }
}

void FlowLine::mean_steps(const PositionBins& bins, const RecordedPositions& from) {
    std::fill(re_.begin(), re_.end(), 0.0f);
    std::fill(im_.begin(), im_.end(), 0.0f);
    std::fill(power_.begin(), power_.end(), 0.0f);
    add_window(bins, from.first, 1 - from.next);
    if (from.next > 0) add_window(bins, from.second, from.next);
    mean_over_depth();
}

void FlowLine::add_window(const PositionBins& bins, std::int64_t position, float weight) {
    const Looks& looks = tables_.looks;
    const WindowSpan window(std::min(position, looks.positions - 1), tables_.window_positions, looks.positions);
    const float share = weight / static_cast<float>(window.size() * looks.pairs());
    float* re = re_.data();
    float* im = im_.data();
    float* power = power_.data();
    for (std::int64_t p = window.begin; p < window.end; ++p) {
        for (std::int64_t pair = 0; pair < looks.pairs(); ++pair) {
            const std::int64_t series = pair / (looks.count - 1), look = pair % (looks.count - 1);
            const float* earlier = bins.line(looks.line(p, series, look));
            const float* later = bins.line(looks.line(p, series, look + 1));
            const Phasor bulk = bins.bulk == nullptr ? Phasor{1, 0} : bins.bulk[p * looks.pairs() + pair];
            for (std::int64_t z = 0; z < tables_.depth; ++z) {
                const PhaseStep step = phase_step(bin(earlier, z), bin(later, z), bulk);
                re[z] += share * step.product.re;
                im[z] += share * step.product.im;
                power[z] += share * step.power;
            }
        }
    }
}

void FlowLine::mean_over_depth() {
    for (std::int64_t z = 0; z < tables_.depth; ++z) {
        const WindowSpan window(z, tables_.window_depth, tables_.depth);
        PhaseStep sum;
        for (std::int64_t i = window.begin; i < window.end; ++i) {
            sum.add({{re_[index(i)], im_[index(i)]}, power_[index(i)]});
        }
        steps_[index(z)] = sum.times(1 / static_cast<float>(window.size()));
    }
}

void FlowLine::mean_angiogram(const PositionBins& bins, const RecordedPositions& from) {
    const auto add = [&](std::int64_t position, float weight) {
        const std::span<const Angiogram> found = angiogram_.of(bins, position);
        for (std::size_t z = 0; z < mixed_.size(); ++z) {
            mixed_[z].value += weight * found[z].value;
            mixed_[z].power += weight * found[z].power;
        }
    };
    std::fill(mixed_.begin(), mixed_.end(), Angiogram{});
    add(from.first, 1 - from.next);
    if (from.next > 0) add(from.second, from.next);
}

void FlowLine::store_velocities(const float* phase, std::byte* target) const {
    const VelocityCode code{tables_.mm_s_per_rad};
    store_each(
        phase, [&](float p) { return std::isnan(p) ? std::uint16_t{0} : code(p, 0); }, target);
}

template <class Value, class Code>
void FlowLine::store_each(const Value* values, const Code& code, std::byte* target) const {
    for (std::int64_t z = 0; z < tables_.depth; ++z) {
        const std::uint16_t voxel = code(values[z]);
        std::memcpy(target + 2 * (tables_.depth_flip ? tables_.depth - 1 - z : z), &voxel, sizeof(voxel));
    }
}

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

}  // namespace echolux
