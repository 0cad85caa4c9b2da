#include "engine/flow/mean_velocity.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <numbers>
#include <numeric>

#include "compute/error.h"
#include "compute/parallel_for.h"
#include "engine/io/voxel_value.h"

namespace echolux {
namespace {

constexpr double of_normal = 1.4826;   // ratio of the standard deviation of normal noise to its median absolute value
constexpr double without_v_max = 1e4;  // mm/s; stands for an unknown v_max, so that nothing wraps around

// Estimates noise from second differences along B-scans, which cancel velocities that change evenly along a vessel.
// `step` is the distance in B-scans, `turn` the period of wrapping in mm/s.
double noise_of(const std::vector<float>& velocities, const VolumeGrid& grid, std::int64_t step, double turn) {
    const std::int64_t stride = grid.depth * grid.a_scans;
    const std::int64_t planes = grid.b_scans - 2 * step;
    if (planes < 1) return 0;
    // samples suffice for the median
    constexpr std::int64_t enough = 400'000;
    std::int64_t every = std::max<std::int64_t>(1, planes * stride / enough);
    while (std::gcd(every, grid.depth) != 1) ++every;  // otherwise some depths would never be sampled
    std::vector<float> differences;
    for (std::int64_t i = 0; i < planes * stride; i += every) {
        const auto at = [&](std::int64_t k) {
            return static_cast<double>(velocities[static_cast<std::size_t>(i + k * step * stride)]);
        };
        if (at(0) == 0 || at(1) == 0 || at(2) == 0) continue;
        differences.push_back(static_cast<float>(std::abs(std::remainder(at(0) - 2 * at(1) + at(2), turn))));
    }
    if (differences.empty()) return 0;
    const auto middle = differences.begin() + std::ssize(differences) / 2;
    std::nth_element(differences.begin(), middle, differences.end());
    return of_normal * static_cast<double>(*middle) / std::sqrt(6.0);
}

// Replaces each value by the sum of itself and its two neighbours along one axis.
void sum_of_three(std::vector<float>& values, const VolumeGrid& grid, int axis) {
    const std::int64_t sizes[] = {grid.depth, grid.a_scans, grid.b_scans};
    const std::int64_t strides[] = {1, grid.depth, grid.depth * grid.a_scans};
    const std::int64_t n = sizes[axis], stride = strides[axis], lines = grid.voxels() / n;
    parallel_for(0, (lines + 1023) / 1024, [&](std::int64_t block) {
        std::vector<float> line(static_cast<std::size_t>(n));
        for (std::int64_t l = block * 1024; l < std::min(lines, (block + 1) * 1024); ++l) {
            const std::int64_t first = l / stride * stride * n + l % stride;
            const auto at = [&](std::int64_t i) -> float& {
                return values[static_cast<std::size_t>(first + i * stride)];
            };
            for (std::int64_t i = 0; i < n; ++i) line[static_cast<std::size_t>(i)] = at(i);
            for (std::int64_t i = 0; i < n; ++i) {
                const auto from = line.begin() + std::max<std::int64_t>(0, i - 1);
                const auto to = line.begin() + std::min(n, i + 2);
                float sum = 0;
                for (auto one = from; one != to; ++one) sum += *one;
                at(i) = sum;
            }
        }
    });
}

// Returns the period of wrapping, 2 v_max, in mm/s.
double turn_of(const VolumeGrid& grid) {
    return 2 * (v_max_of(grid) > 0 ? v_max_of(grid) : without_v_max);
}

}  // namespace

double v_max_of(const VolumeGrid& grid) {
    return grid.v_max;
}

void require_velocities(const VolumeGrid& grid) {
    if (grid.unit != "mm/s") {
        throw Error(ErrorCode::bad_setting,
                    "flow is the sum of velocities in mm/s, and the volume holds " +
                        (grid.quantity.empty() ? std::string("something else") : grid.quantity),
                    "volume", "give what `reconstruct` writes as flow, with flow.method = doppler");
    }
    constexpr const char* remedy = "give a volume of at least eight B-scans";
    if (grid.b_scans < 2) {
        throw Error(ErrorCode::bad_setting,
                    "a single B-scan does not show the course of a vessel, so its angle to the beam is unknown",
                    "volume", remedy);
    }
    if (grid.b_scans == 2) {
        throw Error(ErrorCode::bad_setting, "two B-scans do not tell how much of their velocities is noise", "volume",
                    remedy);
    }
    if (grid.spacing_um[0] > 0 && grid.spacing_um[1] > 0 && grid.spacing_um[2] > 0) return;
    throw Error(ErrorCode::bad_setting, "areas need the spacing of voxels, and none is known", "volume",
                "give scan.spacing_a_um, scan.spacing_b_um and calibration.wavelengths");
}

std::vector<float> axial_velocities(const Volume& volume) {
    require_velocities(volume.grid);
    std::vector<float> values(static_cast<std::size_t>(volume.grid.voxels()));
    with_voxels(volume, [&](const auto* codes) {
        for (std::size_t i = 0; i < values.size(); ++i) {
            const double value = static_cast<double>(codes[i]) * volume.grid.scale + volume.grid.offset;
            values[i] = std::isfinite(value) ? static_cast<float>(value) : 0.0F;
        }
    });
    return values;
}

VelocitySum::VelocitySum(const VolumeGrid& grid)
    : grid_(grid), v_max_(turn_of(grid) / 2), real_(static_cast<std::size_t>(grid.voxels())),
      imaginary_(static_cast<std::size_t>(grid.voxels())) {}

void VelocitySum::add(const std::vector<float>& velocities) {
    const auto rad = static_cast<float>(std::numbers::pi / v_max_);
    const std::int64_t plane = grid_.depth * grid_.a_scans;
    parallel_for(0, grid_.b_scans, [&](std::int64_t b) {
        for (std::int64_t k = b * plane; k < (b + 1) * plane; ++k) {
            const auto i = static_cast<std::size_t>(k);
            if (velocities[i] == 0) continue;
            real_[i] += std::cos(velocities[i] * rad);
            imaginary_[i] += std::sin(velocities[i] * rad);
        }
    });
    single_.push_back(noise_of(velocities, grid_, 1, 2 * v_max_));
}

MeanVelocity VelocitySum::mean() const {
    constexpr float known = 14;  // min number of known voxels of 27
    MeanVelocity mean;
    std::vector<float> real = real_, imaginary = imaginary_, there(real.size());
    for (std::size_t i = 0; i < there.size(); ++i) there[i] = real[i] != 0 || imaginary[i] != 0 ? 1.0F : 0.0F;
    for (int axis = 0; axis < 3; ++axis) {
        for (auto* sum : {&real, &imaginary, &there}) sum_of_three(*sum, grid_, axis);
    }
    mean.mm_s.resize(real.size());
    const auto per_rad = static_cast<float>(v_max_ / std::numbers::pi);
    for (std::size_t i = 0; i < real.size(); ++i) {
        if (there[i] >= known) mean.mm_s[i] = std::atan2(imaginary[i], real[i]) * per_rad;
    }
    const std::int64_t apart = std::clamp<std::int64_t>((grid_.b_scans - 1) / 2, 1, 3);  // beyond the averaging window
    mean.noise_mm_s = noise_of(mean.mm_s, grid_, apart, 2 * v_max_);
    for (const double one : single_) mean.single_mm_s += one / static_cast<double>(single_.size());
    return mean;
}

}  // namespace echolux
