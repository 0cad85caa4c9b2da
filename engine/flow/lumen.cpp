#include "engine/flow/lumen.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "compute/error.h"

namespace echolux {
namespace {

constexpr double least_of_v_max = 0.005;   // min speed that counts as moving, even without noise
constexpr double least_of_fastest = 0.01;  // relative to the fastest voxel of the volume
constexpr double rim = 0.1;                // relative to the fastest voxel nearby; slower voxels are blur of the beam
                                           // and windows

using Voxel3 = std::array<std::int64_t, 3>;  // depth, A-scan, B-scan

// The search volume and the speed above which voxels move.
struct LumenSearch {
    const VolumeGrid& grid;
    const std::vector<float>& speed;
    // mm/s; faster voxels move
    float least;

    Voxel3 size() const { return {grid.depth, grid.a_scans, grid.b_scans}; }
    std::size_t index(const Voxel3& v) const {
        return static_cast<std::size_t>((v[2] * grid.a_scans + v[1]) * grid.depth + v[0]);
    }
    bool moves(const Voxel3& v) const { return std::abs(speed[index(v)]) > least; }
};

Voxel3 voxel_of(std::int64_t index, const VolumeGrid& grid) {
    return {index % grid.depth, index / grid.depth % grid.a_scans, index / grid.depth / grid.a_scans};
}

// Calls use(voxel, distance in um) for the voxels within `reach_um` of the point along each axis.
template <class Use>
void each_near(const LumenSearch& search, const Voxel3& point, double reach_um, const Use& use) {
    Voxel3 low{}, high{};
    for (std::size_t k = 0; k < 3; ++k) {
        const auto steps = static_cast<std::int64_t>(reach_um / search.grid.spacing_um[k]);
        low[k] = std::max<std::int64_t>(0, point[k] - steps);
        high[k] = std::min(search.size()[k] - 1, point[k] + steps);
    }
    for (std::int64_t b = low[2]; b <= high[2]; ++b) {
        for (std::int64_t a = low[1]; a <= high[1]; ++a) {
            for (std::int64_t z = low[0]; z <= high[0]; ++z) {
                const Voxel3 here{z, a, b};
                double square = 0;
                for (std::size_t k = 0; k < 3; ++k)
                    square += std::pow(static_cast<double>(here[k] - point[k]) * search.grid.spacing_um[k], 2);
                use(here, std::sqrt(square));
            }
        }
    }
}

// Returns the moving voxel nearest to the point.
std::optional<Voxel3> nearest(const LumenSearch& search, const Voxel3& point, double reach_um) {
    std::optional<Voxel3> best;
    double best_um = reach_um;
    each_near(search, point, reach_um, [&](const Voxel3& here, double um) {
        if (um >= best_um || !search.moves(here)) return;
        best = here;
        best_um = um;
    });
    return best;
}

// Returns the largest speed within `reach_um` of the point, in mm/s.
float fastest_near(const LumenSearch& search, const Voxel3& point, double reach_um) {
    float fastest = 0;
    each_near(search, point, reach_um, [&](const Voxel3& here, double) {
        fastest = std::max(fastest, std::abs(search.speed[search.index(here)]));
    });
    return fastest;
}

// Returns the fastest voxel of the middle B-scan, from where the vessel can be followed both ways.
Voxel3 fastest(const LumenSearch& search) {
    const std::int64_t plane = search.grid.depth * search.grid.a_scans;
    const std::int64_t middle = search.grid.b_scans / 2;
    const auto first = search.speed.begin() + middle * plane;
    const auto slower = [](float a, float b) { return std::abs(a) < std::abs(b); };
    const auto found = std::max_element(first, first + plane, slower);
    return voxel_of(found - search.speed.begin(), search.grid);
}

}  // namespace

std::array<std::int64_t, 3> voxel_at(const VolumeGrid& grid, const VoxelPlace& place, const char* setting) {
    const std::array<std::int64_t, 3> voxel{std::llround(place.row), std::llround(place.a_scan),
                                            std::llround(place.b_scan)};
    const std::array<std::int64_t, 3> size{grid.depth, grid.a_scans, grid.b_scans};
    for (std::size_t k = 0; k < 3; ++k) {
        if (voxel[k] >= 0 && voxel[k] < size[k]) continue;
        throw Error(ErrorCode::bad_setting,
                    fmt::format("the point {},{},{} lies outside of the volume of {} x {} x {}", place.a_scan,
                                place.b_scan, place.row, grid.a_scans, grid.b_scans, grid.depth),
                    setting, "A-scan, B-scan and depth row are counted from 0");
    }
    return voxel;
}

Lumen lumen_around(const VolumeGrid& grid, const MeanVelocity& mean, const CrossSectionRecipe& recipe,
                   const std::optional<VoxelPlace>& point) {
    float most = 0;
    for (const float one : mean.mm_s) most = std::max(most, std::abs(one));
    const double least = std::max({recipe.significance * mean.noise_mm_s, least_of_v_max * v_max_of(grid),
                                   least_of_fastest * static_cast<double>(most)});
    LumenSearch search{grid, mean.mm_s, static_cast<float>(std::max(least, 1e-9))};
    Voxel3 start = point ? voxel_at(grid, *point, "through") : fastest(search);
    const std::optional<Voxel3> found = nearest(search, start, point ? recipe.reach_um : 1);
    if (!found) {
        throw Error(ErrorCode::bad_setting,
                    point ? fmt::format("nothing within {:g} um of the point moves faster than noise ({:.2g} mm/s)",
                                        recipe.reach_um, least)
                          : std::string("nothing in the middle B-scan moves faster than noise"),
                    "through", "look at the velocities with `render`, and give a point within a vessel");
    }
    start = *found;
    search.least = std::max(search.least, static_cast<float>(rim) * fastest_near(search, start, recipe.reach_um));
    Lumen lumen{std::vector<std::uint8_t>(mean.mm_s.size()),
                {static_cast<double>(start[1]), static_cast<double>(start[2]), static_cast<double>(start[0])}};
    std::vector<Voxel3> open{start};
    lumen.inside[search.index(start)] = 1;
    while (!open.empty()) {
        const Voxel3 here = open.back();
        open.pop_back();
        for (std::size_t k = 0; k < 3; ++k) {
            for (const std::int64_t step : {-1, 1}) {
                Voxel3 next = here;
                next[k] += step;
                if (next[k] < 0 || next[k] >= search.size()[k]) continue;
                if (static_cast<double>(std::abs(next[k] - start[k])) * grid.spacing_um[k] > recipe.course_um) continue;
                auto& mark = lumen.inside[search.index(next)];
                if (mark != 0 || !search.moves(next)) continue;
                mark = 1;
                open.push_back(next);
            }
        }
    }
    return lumen;
}

}  // namespace echolux
