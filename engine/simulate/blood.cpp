#include "engine/simulate/blood.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "engine/simulate/counter_random.h"

namespace echolux {
namespace {

constexpr double pitch_um = 10;  // mean distance between scatterers of a streamline

}  // namespace

Blood::Blood(const SampleArm& arm, std::uint64_t seed) : arm_(arm) {
    for (std::size_t t = 0; t < arm.scenery.tubes.size(); ++t) {
        const Tube& tube = arm.scenery.tubes[t];
        const double area_um2 = std::numbers::pi * tube.radius_um * tube.radius_um;
        const auto count = static_cast<std::uint64_t>(std::ceil(area_um2 * pitch_um * arm.density));
        std::vector<Streamline>& lines = tubes_.emplace_back();
        for (std::uint64_t i = 0; i < count; ++i) {
            const std::uint64_t key = hashed(seed, t, i);
            const double share = low_fraction(hashed(key));  // share of the tube's area inside r: (r / R)^2
            const double angle = 2 * std::numbers::pi * high_fraction(hashed(key));
            const double r = tube.radius_um * std::sqrt(share);
            lines.push_back({r * std::cos(angle), r * std::sin(angle), 1000 * tube.peak_mm_s * (1 - share), key});
        }
        std::sort(lines.begin(), lines.end(), [](const Streamline& a, const Streamline& b) { return a.dx < b.dx; });
    }
}

Blood::Slice Blood::slice(std::size_t number, double y, double x_low, double x_high) const {
    const Scenery& scenery = arm_.scenery;
    const Tube& tube = scenery.tubes[number];
    Slice slice{scenery.x_slope(tube, y), scenery.z_slope(tube, y), 0, {}};
    const std::vector<Streamline>& lines = tubes_[number];
    const double axis = scenery.x_um(tube, y);
    const double reach = reach_um(slice);
    const auto first = std::lower_bound(lines.begin(), lines.end(), x_low - reach - axis - 1,
                                        [](const Streamline& line, double low) { return line.dx < low; });
    slice.first = static_cast<std::size_t>(first - lines.begin());
    std::vector<double> heights(scenery.boundaries.size());
    std::transform(scenery.boundaries.begin(), scenery.boundaries.end(), heights.begin(),
                   [&](const Boundary& boundary) { return scenery.height_um(boundary, scenery.x_um(tube, y), y); });
    for (auto line = first; line != lines.end() && axis + line->dx < x_high + reach; ++line) {
        const double x = axis + line->dx;
        const double z = scenery.z_um(tube, y) + line->dz;
        slice.points.push_back({x, z, arm_.amplitude(tube.brightness, z, scenery.loss(heights, x, y, z))});
    }
    return slice;
}

double Blood::reach_um(const Slice& slice) const {
    return arm_.reach_um() * (1 + std::abs(slice.x_slope));
}

Blood::Section Blood::section(double y, double x_low, double x_high) const {
    Section section{y, {}};
    for (std::size_t t = 0; t < tubes_.size(); ++t) section.tubes.push_back(slice(t, y, x_low, x_high));
    return section;
}

void Blood::gather(const Section& section, double x, double time_s, SlabLists& lists) const {
    const double flow_time_s = arm_.scenery.flow_time_s(time_s);
    for (std::size_t t = 0; t < tubes_.size(); ++t) {
        const Slice& slice = section.tubes[t];
        const double reach = reach_um(slice);
        const auto first = std::lower_bound(slice.points.begin(), slice.points.end(), x - reach,
                                            [](const Slice::Point& point, double low) { return point.x < low; });
        for (auto point = first; point != slice.points.end() && point->x < x + reach; ++point) {
            const Streamline& line = tubes_[t][slice.first + static_cast<std::size_t>(point - slice.points.begin())];
            gather_streamline(line, slice, *point, x, section.y, line.speed * flow_time_s, lists);
        }
    }
}

void Blood::gather_streamline(const Streamline& line, const Slice& slice, const Slice::Point& point, double x, double y,
                              double flown, SlabLists& lists) const {
    const double reach = arm_.reach_um();
    const auto inverse_square = static_cast<float>(1 / (arm_.beam_um * arm_.beam_um));
    const auto first = static_cast<std::int64_t>(std::floor((y - reach - flown) / pitch_um)) - 1;
    const auto last = static_cast<std::int64_t>(std::floor((y + reach - flown) / pitch_um));
    for (std::int64_t c = first; c <= last; ++c) {
        const std::uint64_t bits = hashed(line.key, static_cast<std::uint64_t>(c));
        const double dy = (static_cast<double>(c) + low_fraction(bits)) * pitch_um + flown - y;
        const double dx = point.x + slice.x_slope * dy - x;
        if (std::abs(dy) > reach || std::abs(dx) > reach) continue;
        // Streamlines are 1 um thick.
        const double z = point.z + slice.z_slope * dy + high_fraction(bits) - 0.5;
        if (z < 0 || z >= arm_.scenery.deepest_um) continue;
        const float weight = beam_weight(static_cast<float>(dx), static_cast<float>(dy), inverse_square);
        const Echo echo = arm_.echo(z, point.amplitude * static_cast<double>(weight));
        SlabLists::List& list = lists.lists[static_cast<std::size_t>(echo.slab)];
        list.u.push_back(echo.u);
        list.real.push_back(echo.real);
        list.imaginary.push_back(echo.imaginary);
    }
}

}  // namespace echolux
