#include "engine/speckle/filter_volume.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <type_traits>

#include "compute/error.h"
#include "compute/parallel_for.h"
#include "compute/steps/depth.h"
#include "engine/io/voxel_value.h"

namespace echolux {
namespace {

StoredAs stored_in(const VolumeGrid& grid, StoredAs stored_as) {
    if (grid.type == VoxelType::complex64) {
        throw Error(ErrorCode::bad_setting, "complex voxels are not filtered", "recipe.quantity",
                    "reconstruct db, intensity or amplitude");
    }
    if (stored_as != StoredAs::automatic) return stored_as;
    if (grid.quantity == "db") return StoredAs::db;
    if (grid.quantity == "intensity") return StoredAs::intensity;
    if (grid.quantity == "amplitude") return StoredAs::amplitude;
    throw Error(ErrorCode::bad_setting,
                grid.quantity.empty() ? std::string("the volume does not say what its voxels hold")
                                      : fmt::format("voxels of {} hold no speckle", grid.quantity),
                "filter.stored_as", "say db, intensity or amplitude if you know it");
}

float power_of_value(double value, StoredAs stored_as) {
    double power = value;
    if (stored_as == StoredAs::db) power = std::pow(10.0, value / 10);
    if (stored_as == StoredAs::amplitude) power = value * value;
    return power <= 0 ? 0 : static_cast<float>(power);
}

double value_of_power(float power, StoredAs stored_as) {
    if (stored_as == StoredAs::db) return 10 * std::log10(std::max(static_cast<double>(power), double{min_power}));
    if (stored_as == StoredAs::amplitude) return std::sqrt(static_cast<double>(power));
    return static_cast<double>(power);
}

template <class Code>
Code code_of(double code) {
    if constexpr (std::is_integral_v<Code>) {
        using Limits = std::numeric_limits<Code>;
        return static_cast<Code>(std::lround(std::clamp<double>(code, Limits::min(), Limits::max())));
    } else {
        return static_cast<Code>(code);
    }
}

// The Gaussian mean around each voxel of those that have a value.
std::vector<float> mean_around(std::vector<float> power, const VolumeGrid& grid) {
    constexpr double around = 4;  // sigma in voxels
    const Size3 size{grid.depth, grid.a_scans, grid.b_scans};
    const std::array<double, 3> sigma{around, grid.a_scans > 1 ? around : 0, grid.b_scans > 1 ? around : 0};
    std::vector<float> shares;
    if (std::ranges::any_of(power, [](float value) { return std::isnan(value); })) {
        shares.assign(power.size(), 1);
        for (std::size_t i = 0; i < power.size(); ++i) {
            if (!std::isnan(power[i])) continue;
            power[i] = shares[i] = 0;
        }
        smooth(shares, size, sigma);
    }
    smooth(power, size, sigma);
    for (std::size_t i = 0; i < shares.size(); ++i) power[i] = shares[i] > 0 ? power[i] / shares[i] : 0;
    return power;
}

// From which mean on it is tissue: 10 dB above the noise, or, where hardly anything reaches that, half the brightest.
float tissue_level(std::vector<float> means) {
    const auto percentile = [&](double share) {
        const auto place = means.begin() + std::lround(share * static_cast<double>(means.size() - 1));
        std::ranges::nth_element(means, place);
        return *place;
    };
    if (means.empty()) return 0;
    return std::min(10 * percentile(0.05), percentile(0.99) / 2);
}

// Each intensity by the mean around it, so that bright tissue does not decide alone; NaN where there is no tissue.
std::vector<float> contrast_of(std::vector<float> power, const VolumeGrid& grid) {
    const std::vector<float> mean = mean_around(power, grid);
    const float level = tissue_level(mean);
    for (std::size_t i = 0; i < power.size(); ++i)
        power[i] = mean[i] > 0 && mean[i] >= level ? power[i] / mean[i] : std::numeric_limits<float>::quiet_NaN();
    return power;
}

// As power_of(), NaN where the volume has no value.
std::vector<float> known_power_of(const Volume& volume, StoredAs stored_as) {
    const VolumeGrid& grid = volume.grid;
    const StoredAs stored = stored_in(grid, stored_as);
    std::vector<float> power(static_cast<std::size_t>(grid.voxels()));
    with_voxels(volume, [&](const auto* codes) {
        parallel_for(0, grid.b_scans, [&](std::int64_t b) {
            const std::int64_t slice = grid.depth * grid.a_scans;
            for (std::int64_t i = b * slice; i < (b + 1) * slice; ++i) {
                const double value = static_cast<double>(codes[i]) * grid.scale + grid.offset;
                power[static_cast<std::size_t>(i)] = power_of_value(value, stored);
            }
        });
    });
    return power;
}

}  // namespace

std::vector<float> power_of(const Volume& volume, StoredAs stored_as) {
    std::vector<float> power = known_power_of(volume, stored_as);
    std::ranges::replace_if(
        power, [](float value) { return std::isnan(value); }, 0.0f);
    return power;
}

void set_power(Volume& volume, StoredAs stored_as, const std::vector<float>& power) {
    const VolumeGrid& grid = volume.grid;
    const StoredAs stored = stored_in(grid, stored_as);
    with_voxels(volume, [&](const auto* voxels) {
        using Code = std::remove_cv_t<std::remove_pointer_t<decltype(voxels)>>;
        auto* codes = reinterpret_cast<Code*>(volume.voxels.data());
        parallel_for(0, grid.b_scans, [&](std::int64_t b) {
            const std::int64_t slice = grid.depth * grid.a_scans;
            for (std::int64_t i = b * slice; i < (b + 1) * slice; ++i) {
                if (std::isnan(static_cast<double>(codes[i]))) continue;
                const double value = value_of_power(power[static_cast<std::size_t>(i)], stored);
                codes[i] = code_of<Code>((value - grid.offset) / grid.scale);
            }
        });
    });
}

ProcessorUsed filter_volume(Volume& volume, const SpeckleFilter& filter, Progress& progress,
                            const BackendChoice& choice) {
    check_filter(filter);
    const VolumeGrid& grid = volume.grid;
    const std::vector<float> power = power_of(volume, filter.stored_as);
    const FilteredPower done = filtered(power, {grid.depth, grid.a_scans, grid.b_scans}, filter, choice, progress);
    set_power(volume, filter.stored_as, done.power);
    return done.used;
}

void Compound::add(const Volume& volume, StoredAs stored_as) {
    const std::vector<float> power = known_power_of(volume, stored_as);
    if (looks_ == 0) {
        first_ = {volume.grid, {}, volume.provenance};
        sum_.assign(power.size(), 0);
        counts_.assign(power.size(), 0);
    }
    const VolumeGrid &grid = volume.grid, &first = first_.grid;
    if (grid.depth != first.depth || grid.a_scans != first.a_scans || grid.b_scans != first.b_scans) {
        throw Error(ErrorCode::bad_setting,
                    fmt::format("volume {} has {} x {} x {} voxels, the first {} x {} x {}", looks_, grid.depth,
                                grid.a_scans, grid.b_scans, first.depth, first.a_scans, first.b_scans),
                    "compound", "give looks at the same tissue");
    }
    for (std::size_t i = 0; i < power.size(); ++i) {
        if (std::isnan(power[i])) continue;
        sum_[i] += static_cast<double>(power[i]);
        ++counts_[i];
    }
    std::vector<float> contrast = contrast_of(power, grid);
    for (std::size_t i = 0; looks_ > 0 && i < contrast.size(); ++i) {
        const auto before = static_cast<double>(last_[i]), now = static_cast<double>(contrast[i]);
        if (std::isnan(before) || std::isnan(now)) continue;
        differences_ += (now - before) * (now - before);
        products_ += 2 * now * before;
    }
    last_ = std::move(contrast);
    ++looks_;
}

// Speckle of N looks has the variance of its mean's square by N: differences of two volumes are on average
// 2 (1 - r) / N, their products 1 + r / N, whatever the tissue.
double Compound::effective_looks(double looks_before) const {
    const auto n = static_cast<double>(looks_);
    if (looks_ < 2 || products_ <= 0) return n;
    const double ratio = differences_ / products_;
    const double r = std::clamp((1 - looks_before * ratio) / (1 + ratio), 0.0, 1.0);
    return n / (1 + (n - 1) * r);
}

Volume Compound::mean(StoredAs stored_as) const {
    if (looks_ == 0) throw Error(ErrorCode::bad_setting, "there is no volume", "compound", "give two or more");
    std::vector<float> power(sum_.size());
    for (std::size_t i = 0; i < power.size(); ++i) {
        power[i] = counts_[i] > 0 ? static_cast<float>(sum_[i] / static_cast<double>(counts_[i]))
                                  : std::numeric_limits<float>::quiet_NaN();
    }
    Volume volume = first_;
    volume.voxels.resize(static_cast<std::size_t>(volume.grid.bytes()));
    set_power(volume, stored_as, power);
    return volume;
}

}  // namespace echolux
