#include "engine/layers/catheter_frame.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <type_traits>
#include <vector>

#include "compute/indexing.h"
#include "compute/parallel_for.h"

namespace echolux {
namespace {

constexpr std::int64_t degrees = 360;
constexpr std::int64_t least_side = 64;

double middle(std::int64_t count) {
    return static_cast<double>(count - 1) / 2;
}

template <class T>
double interpolated(const T* frame, const VolumeGrid& grid, double a, double z) {
    const double left = std::clamp(std::floor(a), 0.0, static_cast<double>(grid.a_scans - 2)),
                 top = std::clamp(std::floor(z), 0.0, static_cast<double>(grid.depth - 2));
    const double part_a = std::clamp(a - left, 0.0, 1.0), part_z = std::clamp(z - top, 0.0, 1.0);
    const T* line = frame + static_cast<std::int64_t>(left) * grid.depth + static_cast<std::int64_t>(top);
    const auto between = [&](const T* at) {
        return static_cast<double>(at[0]) * (1 - part_z) + static_cast<double>(at[1]) * part_z;
    };
    return between(line) * (1 - part_a) + between(line + grid.depth) * part_a;
}

template <class T>
void resample_frame(const T* from, const VolumeGrid& grid, T* to, std::int64_t radii) {
    for (std::int64_t degree = 0; degree < degrees; ++degree) {
        const double angle = static_cast<double>(degree) * std::numbers::pi / 180;
        for (std::int64_t radius = 0; radius < radii; ++radius) {
            const auto r = static_cast<double>(radius);
            const double value = interpolated(from, grid, middle(grid.a_scans) + r * std::cos(angle),
                                              middle(grid.depth) + r * std::sin(angle));
            to[degree * radii + radius] = static_cast<T>(std::is_integral_v<T> ? std::nearbyint(value) : value);
        }
    }
}

}  // namespace

bool is_cartesian_frame(const Volume& volume) {
    constexpr double far_out = 1.03, most_dark = 0.02, least_dark_share = 0.95;
    const VolumeGrid& grid = volume.grid;
    const std::int64_t difference = std::abs(grid.depth - grid.a_scans);
    if (grid.type == VoxelType::complex64 || grid.depth < least_side || 50 * difference > grid.depth) return false;
    bool is_disc = false;
    with_voxels(volume, [&](const auto* voxels) {
        const auto* frame = voxels + grid.b_scans / 2 * grid.depth * grid.a_scans;
        std::vector<double> inside, corners;
        const double reach = middle(std::min(grid.depth, grid.a_scans));
        for (std::int64_t a = 0; a < grid.a_scans; ++a) {
            for (std::int64_t z = 0; z < grid.depth; ++z) {
                const double r = std::hypot(static_cast<double>(a) - middle(grid.a_scans),
                                            static_cast<double>(z) - middle(grid.depth));
                const auto value = static_cast<double>(frame[a * grid.depth + z]);
                if (r > far_out * reach)
                    corners.push_back(std::isfinite(value) ? value : -INFINITY);
                else if (r < reach && std::isfinite(value))
                    inside.push_back(value);
            }
        }
        if (inside.empty() || corners.empty()) return;
        const auto place = [&](double share) {
            const auto at =
                inside.begin() + static_cast<std::ptrdiff_t>(share * static_cast<double>(inside.size() - 1));
            std::ranges::nth_element(inside, at);
            return *at;
        };
        const double low = place(0), dark = low + most_dark * (place(0.99) - low);
        const auto count = std::ranges::count_if(corners, [dark](double value) { return value <= dark; });
        is_disc = static_cast<double>(count) > least_dark_share * static_cast<double>(corners.size());
    });
    return is_disc;
}

Volume polar_frame(const Volume& volume) {
    const VolumeGrid& grid = volume.grid;
    Volume polar{grid, {}, volume.provenance};
    const std::int64_t radii = std::min(grid.depth, grid.a_scans) / 2;
    polar.grid.depth = radii;
    polar.grid.a_scans = degrees;
    polar.grid.spacing_um[1] = 0;
    polar.grid.first_depth_um = 0;
    polar.voxels.resize(index(polar.grid.bytes()));
    with_voxels(volume, [&](const auto* from) {
        using Voxel = std::remove_const_t<std::remove_pointer_t<decltype(from)>>;
        auto* to = reinterpret_cast<Voxel*>(polar.voxels.data());
        parallel_for(0, grid.b_scans, [&](std::int64_t b) {
            resample_frame(from + b * grid.depth * grid.a_scans, grid, to + b * degrees * radii, radii);
        });
    });
    return polar;
}

}  // namespace echolux
