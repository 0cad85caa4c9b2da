// Mean of registered volumes. Resamples with cubic B-splines (M. Unser, IEEE Signal Processing Magazine 16(6), 1999),
// because the blur of linear interpolation would look like the effect of averaging.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "compute/parallel_for.h"
#include "compute/steps/registration.h"
#include "engine/registration/registration.h"

namespace echolux {
namespace {

// Converts values, `stride` apart, to coefficients of a cubic B-spline in place.
void prefilter(float* first, std::int64_t count, std::int64_t stride) {
    if (count < 2) return;
    const auto at = [&](std::int64_t i) -> float& { return first[i * stride]; };
    double last = SplineFilter::first(at, count);
    at(0) = static_cast<float>(last);
    for (std::int64_t i = 1; i < count; ++i) {
        last = SplineFilter::there(last, at(i));
        at(i) = static_cast<float>(last);
    }
    last = SplineFilter::turn(last, at(count - 2));
    at(count - 1) = SplineFilter::coefficient(last);
    for (std::int64_t i = count - 2; i >= 0; --i) {
        last = SplineFilter::back(last, at(i));
        at(i) = SplineFilter::coefficient(last);
    }
}

// Returns the samples whose interpolated values come from inside the input.
Interval inside(const ShiftedTaps& taps, std::int64_t count) {
    return {std::max<std::int64_t>(0, -taps.whole), std::min(count, count - taps.whole - (taps.is_between() ? 1 : 0))};
}

// Spline coefficients of one B-scan.
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

    // Adds the shifted and weighted B-scan. Clamps power at zero, because splines can overshoot.
    void add_to(float* sums, float* weights, const LandingRow& landing) const {
        const ShiftedTaps taps_z(landing.z), taps_x(landing.x);
        const Interval inside_z = inside(taps_z, grid_.depth), inside_x = inside(taps_x, grid_.a_scans);
        std::vector<float> line(static_cast<std::size_t>(grid_.depth));
        for (std::int64_t a = inside_x.begin; a < inside_x.end; ++a) {
            std::ranges::fill(line, 0.0F);
            for (int i = 0; i < 4; ++i) {
                const float* from = values_.data() + taps_x.tap(a, i, grid_.a_scans) * grid_.depth;
                for (std::size_t z = 0; z < line.size(); ++z) line[z] += taps_x.cubic.weight[i] * from[z];
            }
            for (std::int64_t z = inside_z.begin; z < inside_z.end; ++z) {
                if (is_next_to_lost(taps_z, taps_x, z, a)) continue;
                float value = 0;
                for (int i = 0; i < 4; ++i)
                    value += taps_z.cubic.weight[i] * line[static_cast<std::size_t>(taps_z.tap(z, i, grid_.depth))];
                sums[a * grid_.depth + z] += landing.weight * std::max(0.0F, value);
                weights[a * grid_.depth + z] += landing.weight;
            }
        }
    }

  private:
    static bool is_lost(float value) { return !std::isfinite(value); }

    bool is_next_to_lost(const ShiftedTaps& taps_z, const ShiftedTaps& taps_x, std::int64_t z, std::int64_t a) const {
        if (is_lost_.empty()) return false;
        for (int i = taps_x.first_deciding(); i < taps_x.end_deciding(); ++i) {
            const std::int64_t line = taps_x.tap(a, i, grid_.a_scans) * grid_.depth;
            for (int k = taps_z.first_deciding(); k < taps_z.end_deciding(); ++k) {
                if (is_lost_[static_cast<std::size_t>(line + taps_z.tap(z, k, grid_.depth))]) return true;
            }
        }
        return false;
    }

    const VolumeGrid& grid_;
    std::vector<float> values_;
    std::vector<bool> is_lost_;  // input was not finite; empty if all values are finite
};

}  // namespace

RegisteredMean::RegisteredMean(const VolumeGrid& reference)
    : grid_(reference), sums_(static_cast<std::size_t>(reference.voxels()), 0.0F),
      weights_(static_cast<std::size_t>(reference.voxels()), 0.0F) {}

RegisteredMean::RegisteredMean(const VolumeGrid& reference, const BackendChoice& choice)
    : grid_(reference),
      on_gpu_(registration_on_gpu(choice)->mean({reference.depth, reference.a_scans, reference.b_scans})) {}

void RegisteredMean::clear() {
    used_ = 0;
    if (on_gpu_) return on_gpu_->clear();
    std::ranges::fill(sums_, 0.0F);
    std::ranges::fill(weights_, 0.0F);
}

// Returns the valid rows that land inside the reference, sorted by their target B-scan.
std::vector<LandingRow> RegisteredMean::landing(const std::vector<RowShift>& rows) {
    std::vector<LandingRow> all;
    for (std::int64_t row = 0; row < std::ssize(rows); ++row) {
        const RowShift& shift = rows[static_cast<std::size_t>(row)];
        const std::int64_t to = std::llround(static_cast<double>(row) + shift.y);
        if (!shift.is_valid() || to < 0 || to >= grid_.b_scans) continue;
        all.push_back({shift.z, shift.x, static_cast<float>(shift.quality), static_cast<std::int32_t>(row),
                       static_cast<std::int32_t>(to)});
    }
    used_ += std::ssize(all);
    std::ranges::stable_sort(all, {}, &LandingRow::to);
    return all;
}

// Each target B-scan is summed by one thread in the order of the source B-scans, so that results are reproducible.
void RegisteredMean::add(const PowerVolume& volume, const std::vector<RowShift>& rows) {
    const std::vector<LandingRow> all = landing(rows);
    const std::int64_t of_row = grid_.depth * grid_.a_scans;
    parallel_for(0, grid_.b_scans, [&](std::int64_t to) {
        const auto [begin, end] = std::ranges::equal_range(all, to, {}, &LandingRow::to);
        for (const LandingRow& one : std::ranges::subrange(begin, end)) {
            const Resampled resampled(volume.power.data() + one.row * of_row, grid_);
            resampled.add_to(sums_.data() + to * of_row, weights_.data() + to * of_row, one);
        }
    });
}

void RegisteredMean::add(const PowerOnGpu& volume, const std::vector<RowShift>& rows) {
    on_gpu_->add(volume.power, landing(rows));
}

void RegisteredMean::write_on_gpu(float* power) const {
    on_gpu_->write(power);
}

std::vector<float> RegisteredMean::power() const {
    std::vector<float> mean(static_cast<std::size_t>(grid_.voxels()));
    if (on_gpu_) {
        on_gpu_->write(mean.data());
        return mean;
    }
    parallel_for(0, grid_.b_scans, [&](std::int64_t b) {
        const std::int64_t of_row = grid_.depth * grid_.a_scans;
        for (auto at = static_cast<std::size_t>(b * of_row); at < static_cast<std::size_t>((b + 1) * of_row); ++at)
            mean[at] = weights_[at] > 0 ? sums_[at] / weights_[at] : std::numeric_limits<float>::quiet_NaN();
    });
    return mean;
}

Volume RegisteredMean::volume() const {
    constexpr float darkest = 1e-12F;  // floor of the dB scale, for samples clamped at zero
    const std::vector<float> mean_power = power();
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
            const float power = mean_power[static_cast<std::size_t>(i)];
            voxels[i] = std::isnan(power)               ? power
                        : grid_.quantity == "db"        ? 10 * std::log10(std::max(power, darkest))
                        : grid_.quantity == "amplitude" ? std::sqrt(power)
                                                        : power;
        }
    });
    return mean;
}

}  // namespace echolux
