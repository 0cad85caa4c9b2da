// The mean of registered volumes: cubic B-splines, because linear interpolation blurs, and blur looks like averaging
// (M. Unser, IEEE Signal Processing Magazine 16(6), 1999).
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "compute/parallel_for.h"
#include "compute/steps/registration.h"
#include "engine/registration/registration.h"

namespace echolux {
namespace {

// Values to coefficients of a cubic B-spline, `stride` apart, mirrored at both ends (M. Unser, IEEE Signal Processing
// Magazine 16(6), 1999).
void prefilter(float* first, std::int64_t count, std::int64_t stride) {
    if (count < 2) return;
    const double pole = std::sqrt(3.0) - 2;
    const auto at = [&](std::int64_t i) -> float& { return first[i * stride]; };
    constexpr std::int64_t reach = 16;  // pole^16 is 7e-10
    const std::int64_t period = 2 * count - 2;
    double sum = 0, power = 1;
    for (std::int64_t i = 0; i < reach; ++i, power *= pole) {
        sum += power * static_cast<double>(at(std::min(i % period, period - i % period)));
    }
    double last = sum;
    at(0) = static_cast<float>(last);
    for (std::int64_t i = 1; i < count; ++i) {
        last = static_cast<double>(at(i)) + pole * last;
        at(i) = static_cast<float>(last);
    }
    last = pole / (pole * pole - 1) * (last + pole * static_cast<double>(at(count - 2)));
    at(count - 1) = static_cast<float>(6 * last);
    for (std::int64_t i = count - 2; i >= 0; --i) {
        last = pole * (last - static_cast<double>(at(i)));
        at(i) = static_cast<float>(6 * last);
    }
}

// Whole part and weights of a place `shift` before each sample.
struct Taps {
    explicit Taps(double shift)
        : whole(static_cast<std::int64_t>(std::floor(-shift))), cubic(static_cast<float>(-shift - std::floor(-shift))) {
    }

    // Samples of `count` that lie within the others.
    Interval inside(std::int64_t count) const {
        const std::int64_t upper = cubic.weight[3] > 0 ? 1 : 0;  // lies between two samples
        return {std::max<std::int64_t>(0, -whole), std::min(count, count - whole - upper)};
    }

    // Of the four samples around a place, those that decide: a place on a sample is that sample.
    Interval deciding() const { return cubic.weight[3] > 0 ? Interval{0, 4} : Interval{1, 2}; }

    std::int64_t whole;
    CubicWeights cubic;
};

std::int64_t mirrored(std::int64_t i, std::int64_t count) {
    if (i < 0) i = -i;
    if (i >= count) i = 2 * (count - 1) - i;
    return std::clamp<std::int64_t>(i, 0, count - 1);
}

class Resampled {
  public:
    Resampled(const float* b_scan, const VolumeGrid& grid)
        : grid_(grid), values_(b_scan, b_scan + grid.depth * grid.a_scans) {
        if (std::ranges::any_of(values_, is_lost)) is_lost_.resize(values_.size());
        for (std::size_t i = 0; i < is_lost_.size(); ++i) {
            is_lost_[i] = is_lost(values_[i]);
            if (is_lost_[i]) values_[i] = 0;
        }
        for (std::int64_t a = 0; a < grid.a_scans; ++a) prefilter(values_.data() + a * grid.depth, grid.depth, 1);
        for (std::int64_t z = 0; z < grid.depth; ++z) prefilter(values_.data() + z, grid.a_scans, grid.depth);
    }

    // Adds the B-scan, shifted, with a weight; power cannot be below zero, which splines do not know.
    void add_to(float* sums, float* weights, const RowShift& shift) const {
        const Taps taps_z(shift.z), taps_x(shift.x);
        const Interval inside_z = taps_z.inside(grid_.depth), inside_x = taps_x.inside(grid_.a_scans);
        const auto quality = static_cast<float>(shift.quality);
        std::vector<float> line(static_cast<std::size_t>(grid_.depth));
        for (std::int64_t a = inside_x.begin; a < inside_x.end; ++a) {
            std::ranges::fill(line, 0.0F);
            for (std::int64_t i = 0; i < 4; ++i) {
                const float* from = values_.data() + mirrored(a + taps_x.whole + i - 1, grid_.a_scans) * grid_.depth;
                for (std::size_t z = 0; z < line.size(); ++z) line[z] += taps_x.cubic.weight[i] * from[z];
            }
            for (std::int64_t z = inside_z.begin; z < inside_z.end; ++z) {
                if (is_next_to_lost(taps_z, taps_x, z, a)) continue;
                float value = 0;
                for (std::int64_t i = 0; i < 4; ++i) {
                    value += taps_z.cubic.weight[i] *
                             line[static_cast<std::size_t>(mirrored(z + taps_z.whole + i - 1, grid_.depth))];
                }
                sums[a * grid_.depth + z] += quality * std::max(0.0F, value);
                weights[a * grid_.depth + z] += quality;
            }
        }
    }

  private:
    static bool is_lost(float value) { return !std::isfinite(value); }

    bool is_next_to_lost(const Taps& taps_z, const Taps& taps_x, std::int64_t z, std::int64_t a) const {
        if (is_lost_.empty()) return false;
        const Interval of_z = taps_z.deciding(), of_x = taps_x.deciding();
        for (std::int64_t i = of_x.begin; i < of_x.end; ++i) {
            const std::int64_t line = mirrored(a + taps_x.whole + i - 1, grid_.a_scans) * grid_.depth;
            for (std::int64_t k = of_z.begin; k < of_z.end; ++k) {
                if (is_lost_[static_cast<std::size_t>(line + mirrored(z + taps_z.whole + k - 1, grid_.depth))])
                    return true;
            }
        }
        return false;
    }

    const VolumeGrid& grid_;
    std::vector<float> values_;
    std::vector<bool> is_lost_;  // was no number; empty: none was
};

}  // namespace

RegisteredMean::RegisteredMean(const VolumeGrid& reference)
    : grid_(reference), sums_(static_cast<std::size_t>(reference.voxels()), 0.0F),
      weights_(static_cast<std::size_t>(reference.voxels()), 0.0F) {}

// What lands in one B-scan is added by one thread, in the order of the B-scans that come.
void RegisteredMean::add(const PowerVolume& volume, const std::vector<RowShift>& rows) {
    std::vector<std::vector<std::int64_t>> landing(static_cast<std::size_t>(grid_.b_scans));
    for (std::int64_t row = 0; row < std::ssize(rows); ++row) {
        const RowShift& shift = rows[static_cast<std::size_t>(row)];
        const std::int64_t to = std::llround(static_cast<double>(row) + shift.y);
        if (!shift.is_valid() || to < 0 || to >= grid_.b_scans) continue;
        landing[static_cast<std::size_t>(to)].push_back(row);
        ++used_;
    }
    const std::int64_t of_row = grid_.depth * grid_.a_scans;
    parallel_for(0, grid_.b_scans, [&](std::int64_t to) {
        for (const std::int64_t row : landing[static_cast<std::size_t>(to)]) {
            const Resampled resampled(volume.power.data() + row * of_row, grid_);
            resampled.add_to(sums_.data() + to * of_row, weights_.data() + to * of_row,
                             rows[static_cast<std::size_t>(row)]);
        }
    });
}

std::vector<float> RegisteredMean::power() const {
    std::vector<float> power(sums_.size());
    parallel_for(0, grid_.b_scans, [&](std::int64_t b) {
        const std::int64_t of_row = grid_.depth * grid_.a_scans;
        for (std::int64_t i = b * of_row; i < (b + 1) * of_row; ++i) {
            const auto at = static_cast<std::size_t>(i);
            power[at] = weights_[at] > 0 ? sums_[at] / weights_[at] : 0;
        }
    });
    return power;
}

Volume RegisteredMean::volume() const {
    constexpr float darkest = 1e-12F;  // of a dB scale, where splines were cut at zero
    Volume mean;
    mean.grid = grid_;
    mean.grid.type = VoxelType::f32;
    mean.grid.scale = 1;
    mean.grid.offset = 0;
    mean.voxels.resize(static_cast<std::size_t>(mean.grid.bytes()));
    auto* const voxels = reinterpret_cast<float*>(mean.voxels.data());
    parallel_for(0, grid_.b_scans, [&](std::int64_t b) {
        const std::int64_t of_row = grid_.depth * grid_.a_scans;
        for (std::int64_t i = b * of_row; i < (b + 1) * of_row; ++i) {
            const auto at = static_cast<std::size_t>(i);
            if (weights_[at] <= 0) {
                voxels[i] = std::numeric_limits<float>::quiet_NaN();
                continue;
            }
            const float power = sums_[at] / weights_[at];
            voxels[i] = grid_.quantity == "db"          ? 10 * std::log10(std::max(power, darkest))
                        : grid_.quantity == "amplitude" ? std::sqrt(power)
                                                        : power;
        }
    });
    return mean;
}

}  // namespace echolux
