// Rings of a lumen by the distance from its rim, compared with a search over every edge of the rim.
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "compute/indexing.h"
#include "engine/flow/cross_section.h"

namespace echolux {
namespace {

std::vector<std::int32_t> plain_rings(const LumenMask& lumen, const LumenMask& counted, double dx, double dy,
                                      double step_um) {
    std::vector<std::int32_t> rings(lumen.inside.size(), no_ring);
    for (std::int64_t j = 0; j < lumen.height; ++j) {
        for (std::int64_t i = 0; i < lumen.width; ++i) {
            if (!counted.at(i, j)) continue;
            double square = 1e300;
            int side = 0;
            const auto ask = [&](double x, double y, int of) {
                const double across = x - static_cast<double>(i) * dx, up = y - static_cast<double>(j) * dy;
                if (across * across + up * up >= square) return;
                square = across * across + up * up;
                side = of;
            };
            for (std::int64_t v = 0; v < lumen.height; ++v) {
                for (std::int64_t u = 0; u < lumen.width; ++u) {
                    if (!lumen.at(u, v)) continue;
                    const auto x = static_cast<double>(u), y = static_cast<double>(v);
                    if (!lumen.at(u - 1, v)) ask((x - 0.5) * dx, y * dy, 0);
                    if (!lumen.at(u + 1, v)) ask((x + 0.5) * dx, y * dy, 0);
                    if (!lumen.at(u, v - 1)) ask(x * dx, (y - 0.5) * dy, 1);
                    if (!lumen.at(u, v + 1)) ask(x * dx, (y + 0.5) * dy, 1);
                }
            }
            const double um = lumen.at(i, j) ? std::sqrt(square) : -std::sqrt(square);
            rings[index(j * lumen.width + i)] = 2 * static_cast<std::int32_t>(std::lround(um / step_um)) + side;
        }
    }
    return rings;
}

TEST(VesselRings, UseNearestSideOfRim) {
    std::mt19937 random(4);
    for (const double dy : {2.0, 4.0, 1.3}) {
        VolumeGrid grid;
        grid.depth = 41;
        grid.a_scans = 57;
        grid.b_scans = 4;
        grid.spacing_um = {dy, 4, 4};
        const GridPlanes planes(grid, 2);
        LumenMask lumen{planes.width(), planes.height(), {}}, counted = lumen;
        for (std::int64_t j = 0; j < lumen.height; ++j) {
            for (std::int64_t i = 0; i < lumen.width; ++i) {
                const double r = std::hypot(static_cast<double>(i - 26) * 4, static_cast<double>(j - 20) * dy);
                const bool is_hole = random() % 40 == 0;
                lumen.inside.push_back(r < 24 && !is_hole ? 1 : 0);
                counted.inside.push_back(r < 32 ? 1 : 0);
            }
        }
        const double dx = planes.spacing(planes.in[0]), down = planes.spacing(planes.in[1]);
        EXPECT_EQ(rings_of(lumen, counted, planes, 2), plain_rings(lumen, counted, dx, down, 2)) << dy;
    }
}

}  // namespace
}  // namespace echolux
