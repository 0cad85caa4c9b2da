#include "compute/cpu/angiography.h"

#include <algorithm>
#include <utility>

#include "compute/indexing.h"

namespace echolux::cpu {

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

}  // namespace echolux::cpu
