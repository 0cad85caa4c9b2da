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

// Returns how the volume stores power. Throws if it does not tell, or if it is not brightness.
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

constexpr Stored meaning_of(StoredAs stored_as) {
    if (stored_as == StoredAs::db) return Stored::db;
    return stored_as == StoredAs::amplitude ? Stored::amplitude : Stored::intensity;
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

// Returns the Gaussian mean of known values around each voxel.
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

// Returns the mean power above which a voxel counts as tissue: 10 dB above the noise, or half of the brightest if
// hardly any voxel reaches that.
float tissue_level(std::vector<float> means) {
    const auto percentile = [&](double share) {
        const auto place = means.begin() + std::lround(share * static_cast<double>(means.size() - 1));
        std::ranges::nth_element(means, place);
        return *place;
    };
    if (means.empty()) return 0;
    return std::min(10 * percentile(0.05), percentile(0.99) / 2);
}

// Divides each intensity by the mean around it, so that bright tissue does not dominate. NaN outside tissue.
std::vector<float> contrast_of(std::vector<float> power, const VolumeGrid& grid) {
    const std::vector<float> mean = mean_around(power, grid);
    const float level = tissue_level(mean);
    for (std::size_t i = 0; i < power.size(); ++i)
        power[i] = mean[i] > 0 && mean[i] >= level ? power[i] / mean[i] : std::numeric_limits<float>::quiet_NaN();
    return power;
}

// Like power_of(), but NaN where the volume has no value.
std::vector<float> known_power_of(const Volume& volume, StoredAs stored_as) {
    const VolumeGrid& grid = volume.grid;
    const StoredPower stored = stored_power(grid, stored_as);
    std::vector<float> power(static_cast<std::size_t>(grid.voxels()));
    const std::vector<float> of_codes = power_of_codes(stored, grid.type);
    with_voxels(volume, [&](const auto* codes) {
        using Code = std::remove_cv_t<std::remove_pointer_t<decltype(codes)>>;
        parallel_for(0, grid.b_scans, [&](std::int64_t b) {
            const std::int64_t slice = grid.depth * grid.a_scans;
            for (std::int64_t i = b * slice; i < (b + 1) * slice; ++i) {
                float& to = power[static_cast<std::size_t>(i)];
                if constexpr (std::is_integral_v<Code>)
                    to = of_codes[static_cast<std::make_unsigned_t<Code>>(codes[i])];
                else
                    to = stored.power(static_cast<double>(codes[i]));
            }
        });
    });
    return power;
}

}  // namespace

StoredPower stored_power(const VolumeGrid& grid, StoredAs stored_as) {
    return {meaning_of(stored_in(grid, stored_as)), grid.scale, grid.offset};
}

std::vector<float> power_of_codes(const StoredPower& stored, VoxelType type) {
    const auto all = [&]<class Code>(Code) {
        std::vector<float> powers(std::size_t{1} << (8 * sizeof(Code)));
        for (std::size_t i = 0; i < powers.size(); ++i)
            powers[i] = stored.power(static_cast<double>(static_cast<Code>(i)));
        return powers;
    };
    switch (type) {
        case VoxelType::u8: return all(std::uint8_t{});
        case VoxelType::u16: return all(std::uint16_t{});
        case VoxelType::i16: return all(std::int16_t{});
        default: return {};
    }
}

std::vector<float> power_of(const Volume& volume, StoredAs stored_as) {
    std::vector<float> power = known_power_of(volume, stored_as);
    std::ranges::replace_if(
        power, [](float value) { return std::isnan(value); }, 0.0f);
    return power;
}

void set_power(Volume& volume, StoredAs stored_as, const std::vector<float>& power) {
    const VolumeGrid& grid = volume.grid;
    const StoredPower stored = stored_power(grid, stored_as);
    with_voxels(volume, [&](const auto* voxels) {
        using Code = std::remove_cv_t<std::remove_pointer_t<decltype(voxels)>>;
        auto* codes = reinterpret_cast<Code*>(volume.voxels.data());
        parallel_for(0, grid.b_scans, [&](std::int64_t b) {
            const std::int64_t slice = grid.depth * grid.a_scans;
            for (std::int64_t i = b * slice; i < (b + 1) * slice; ++i) {
                if (std::isnan(static_cast<double>(codes[i]))) continue;
                codes[i] = code_of<Code>(stored.code(power[static_cast<std::size_t>(i)]));
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

// The variance of speckle of N looks is its squared mean / N. For two volumes with correlation r, normalized to mean 1,
// squared differences average 2 (1 - r) / N and products 1 + r / N, whatever the tissue.
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
