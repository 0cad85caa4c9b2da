#include "engine/layers/vessel_bridges.h"

#include <algorithm>
#include <cmath>

#include "compute/parallel_for.h"
#include "compute/steps/coarse_layers.h"
#include "engine/layers/lateral.h"

namespace echolux {
namespace {

constexpr std::int64_t reach = 4;  // nodes on either side, covering a vessel's width
constexpr double surely_off = 3;   // rows off the surface that a vessel's wall reaches somewhere
constexpr double off = 1;          // rows off the surface of all positions connected to such a wall
// Relative to a vessel's width; B-scans further apart are bridged one by one.
constexpr double farthest_share = 0.5;

// Evenly spaced positions on an axis, to which surfaces are fitted.
struct Nodes {
    std::int64_t step, first, count;

    static Nodes along(std::int64_t size, double spacing_um, double vessel_um) {
        const auto step = std::max<std::int64_t>(1, std::lround(vessel_um / static_cast<double>(reach) / spacing_um));
        const std::int64_t count = (size - 1) / step + 1;
        return {step, (size - 1 - (count - 1) * step) / 2, count};
    }
    std::int64_t place(std::int64_t node) const { return first + node * step; }
    std::int64_t nearest(std::int64_t at) const {
        return std::clamp<std::int64_t>((at - first + step / 2) / step, 0, count - 1);
    }
    double offset(std::int64_t at) const {
        return static_cast<double>(at - place(nearest(at))) / static_cast<double>(step);
    }
};

// Returns the boundary's rows according to the surrounding tissue. `rows` must not have gaps.
std::vector<float> smooth_course(const std::vector<float>& rows, const MapSize& size, const Nodes& a, const Nodes& b) {
    const MapSize nodes{a.count, b.count};
    std::vector<float> map(static_cast<std::size_t>(nodes.count()));
    for (std::int64_t y = 0; y < b.count; ++y) {
        for (std::int64_t x = 0; x < a.count; ++x)
            map[static_cast<std::size_t>(y * a.count + x)] =
                rows[static_cast<std::size_t>(b.place(y) * size.a_scans + a.place(x))];
    }
    std::vector<RobustSurface::Fit> fits(map.size());
    const RobustSurface surface{map.data(), a.count, b.count, reach, surely_off};
    parallel_for(0, b.count, [&](std::int64_t y) {
        for (std::int64_t x = 0; x < a.count; ++x) fits[static_cast<std::size_t>(y * a.count + x)] = surface.fit(y, x);
    });
    std::vector<float> course(rows.size());
    for (std::int64_t y = 0; y < size.b_scans; ++y) {
        for (std::int64_t x = 0; x < size.a_scans; ++x) {
            const auto& fit = fits[static_cast<std::size_t>(b.nearest(y) * a.count + a.nearest(x))];
            course[static_cast<std::size_t>(y * size.a_scans + x)] =
                static_cast<float>(fit.at(a.offset(x), b.offset(y)));
        }
    }
    return course;
}

// Returns positions that are surely off, and all connected ones that are off.
std::vector<std::uint8_t> parts_off(const std::vector<float>& distance, const MapSize& size) {
    std::vector<std::uint8_t> is_off(distance.size());
    std::vector<std::int64_t> open;
    const auto take = [&](std::int64_t at, double least) {
        const auto i = static_cast<std::size_t>(at);
        if (is_off[i] != 0 || !(static_cast<double>(distance[i]) > least)) return;
        is_off[i] = 1;
        open.push_back(at);
    };
    for (std::int64_t at = 0; at < size.count(); ++at) take(at, surely_off);
    while (!open.empty()) {
        const std::int64_t at = open.back(), x = at % size.a_scans;
        open.pop_back();
        if (x > 0) take(at - 1, off);
        if (x + 1 < size.a_scans) take(at + 1, off);
        if (at >= size.a_scans) take(at - size.a_scans, off);
        if (at + size.a_scans < size.count()) take(at + size.a_scans, off);
    }
    return is_off;
}

// A range of B-scans of a surface that is processed together.
class BScansTogether {
  public:
    BScansTogether(Surface& surface, const MapSize& size, std::int64_t first_b_scan)
        : surface_(surface), size_(size), first_(static_cast<std::size_t>(first_b_scan * size.a_scans)) {}

    void bridge(int polarity, const Nodes& a, const Nodes& b) const {
        std::vector<float> rows(static_cast<std::size_t>(size_.count()));
        std::vector<std::uint8_t> is_known(rows.size());
        for (std::size_t i = 0; i < rows.size(); ++i) {
            rows[i] = surface_.rows[first_ + i];
            is_known[i] = std::isnan(rows[i]) ? 0 : 1;
        }
        if (std::ranges::find(is_known, 1) == is_known.end()) return;
        fill_unknown(rows, is_known, size_);
        const std::vector<float> course = smooth_course(rows, size_, a, b);
        std::vector<float> distance(rows.size());
        for (std::size_t i = 0; i < rows.size(); ++i) {
            const float down = rows[i] - course[i];
            distance[i] = polarity == 0 ? std::abs(down) : static_cast<float>(-polarity) * down;
        }
        const std::vector<std::uint8_t> is_off = parts_off(distance, size_);
        for (std::size_t i = 0; i < rows.size(); ++i) {
            if (is_off[i] == 0 || is_known[i] == 0) continue;
            surface_.rows[first_ + i] = course[i];
            surface_.reasons[first_ + i] = Reason::ambiguous;
        }
    }

  private:
    Surface& surface_;
    MapSize size_;
    std::size_t first_;
};

}  // namespace

void bridge_vessels(Surface& surface, std::int64_t a_scans, std::int64_t b_scans, int polarity, double vessel_um,
                    const std::array<double, 2>& spacing_um) {
    if (!(vessel_um > 0 && spacing_um[0] > 0 && spacing_um[1] > 0)) return;
    const Nodes along_a = Nodes::along(a_scans, spacing_um[0], vessel_um);
    if (spacing_um[1] <= farthest_share * vessel_um) {
        BScansTogether(surface, {a_scans, b_scans}, 0)
            .bridge(polarity, along_a, Nodes::along(b_scans, spacing_um[1], vessel_um));
        return;
    }
    for (std::int64_t b = 0; b < b_scans; ++b)
        BScansTogether(surface, {a_scans, 1}, b).bridge(polarity, along_a, {1, 0, 1});
}

}  // namespace echolux
