// Quantities of a vessel other than the flow through its sections.
#include <algorithm>
#include <cmath>

#include "engine/flow/cross_section.h"
#include "engine/flow/grid_planes.h"
#include "engine/flow/plane_masks.h"

namespace echolux {

// Returns the centres of whole planes in the direction of flow, in um.
std::vector<std::array<double, 3>> VesselFlow::centres() const {
    const GridPlanes planes(grid_, course_.across);
    std::vector<std::array<double, 3>> all;
    for (std::size_t k = 0; k < planes_.size(); ++k) {
        if (planes_[k].is_cut) continue;
        std::array<double, 3> centre{};
        centre.at(static_cast<std::size_t>(course_.across)) =
            static_cast<double>(planes_[k].number) * planes.spacing(course_.across);
        centre.at(static_cast<std::size_t>(planes.in[0])) = planes_[k].column * planes.spacing(planes.in[0]);
        centre.at(static_cast<std::size_t>(planes.in[1])) = planes_[k].row * planes.spacing(planes.in[1]);
        all.push_back(centre);
    }
    if (course_.direction.at(static_cast<std::size_t>(course_.across)) < 0) std::ranges::reverse(all);
    return all;
}

std::vector<std::array<double, 3>> VesselFlow::course_points() const {
    constexpr std::int64_t reach = 2;  // planes on either side; fewer near the ends so that these stay in place
    const std::vector<std::array<double, 3>> raw = centres();
    std::vector<std::array<double, 3>> smooth;
    for (std::int64_t i = 0; i < std::ssize(raw); ++i) {
        const std::int64_t half = std::min({reach, i, std::ssize(raw) - 1 - i});
        std::array<double, 3> mean{};
        for (std::int64_t k = i - half; k <= i + half; ++k) {
            for (std::size_t c = 0; c < 3; ++c)
                mean[c] += raw[static_cast<std::size_t>(k)][c] / static_cast<double>(2 * half + 1);
        }
        smooth.push_back(mean);
    }
    return smooth;
}

std::vector<double> VesselFlow::arrows(std::int64_t count) const {
    constexpr double shaft = 0.7;  // length relative to the distance between arrows
    const std::vector<std::array<double, 3>> along = centres();
    std::vector<double> all;
    if (along.size() < 2) return all;
    const double step = static_cast<double>(along.size() - 1) / static_cast<double>(count);
    for (std::int64_t i = 0; i < count; ++i) {
        for (const double part : {0.0, shaft}) {
            const auto at = static_cast<std::size_t>(std::lround((static_cast<double>(i) + part) * step));
            all.insert(all.end(), along[at].begin(), along[at].end());
        }
    }
    return all;
}

double VesselFlow::en_face_ul_s(const MeanVelocity& mean) const {
    const GridPlanes planes(grid_, 0);
    const std::array<double, 3> at = in_um(place_, grid_);
    std::vector<double> flows;
    for (std::int64_t row = 0; row < grid_.depth; ++row) {
        const LumenMask lumen = mask_in(inside_, planes, row);
        if (lumen.area() == 0 || lumen.touches_edge()) continue;
        bool is_whole = true;
        double sum = 0;
        const LumenMask counted =
            widened(lumen, recipe_.margin_um / grid_.spacing_um[1], recipe_.margin_um / grid_.spacing_um[2]);
        std::vector<float> velocities = values_in(mean.mm_s, planes, row);
        unwrap_plane(velocities, lumen, from_rim(lumen), v_max_of(grid_));
        for (std::int64_t j = 0; j < lumen.height; ++j) {
            for (std::int64_t i = 0; i < lumen.width; ++i) {
                if (!counted.at(i, j)) continue;
                sum += static_cast<double>(velocities[static_cast<std::size_t>(j * lumen.width + i)]);
                const double from_um =
                    std::max(std::abs(static_cast<double>(i) * grid_.spacing_um[1] - at[1]) + grid_.spacing_um[1],
                             std::abs(static_cast<double>(j) * grid_.spacing_um[2] - at[2]) + grid_.spacing_um[2]);
                if (lumen.at(i, j) && from_um > recipe_.course_um) is_whole = false;
            }
        }
        constexpr double um2_of_mm2 = 1e6;
        if (is_whole) flows.push_back(std::abs(sum) * planes.pixel_um2() / um2_of_mm2);
    }
    // The lumen may seem to end in the volume only because the vessel becomes level there. Planes then disagree.
    constexpr std::size_t enough = 5;
    constexpr double alike = 0.15;  // max interquartile range relative to the median
    if (flows.size() < enough) return std::numeric_limits<double>::quiet_NaN();
    std::ranges::sort(flows);
    const double median = flows[flows.size() / 2];
    const bool agree = flows[3 * flows.size() / 4] - flows[flows.size() / 4] < alike * median;
    return agree ? median : std::numeric_limits<double>::quiet_NaN();
}

double VesselFlow::mean_within(const std::vector<float>& power) const {
    const GridPlanes planes(grid_, course_.across);
    double sum = 0, count = 0;
    for (const Plane& plane : planes_) {
        for (std::int64_t j = 0; j < plane.lumen.height; ++j) {
            for (std::int64_t i = 0; i < plane.lumen.width; ++i) {
                if (!plane.lumen.at(i, j)) continue;
                const auto here = static_cast<double>(power[planes.voxel(plane.number, i, j)]);
                if (!std::isfinite(here)) continue;
                sum += here;
                count += 1;
            }
        }
    }
    return count == 0 ? 0 : sum / count;
}

}  // namespace echolux
