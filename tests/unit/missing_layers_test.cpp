// Searches for boundaries that do not exist: none is made up.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "compute/indexing.h"
#include "compute/reason.h"
#include "layer_scenes.h"

namespace echolux {
namespace {

// Searches for one boundary too many in the speckle around a bright line: few positions look like one.
TEST(MissingSurfaces, AreNotReportedAsCertain) {
    const std::vector<float> boundaries{60.5f, 120.5f, 123.5f, 180.5f};
    for (const double below : {0.05, 1.0}) {
        const LayeredScene scene = blurred(boundaries, {0.01, 1, 50, below, 0.02}, {256, 96, 32}, 3);
        for (const std::size_t count : {3u, 4u, 5u}) {
            for (const int polarity : {0, 1}) {
                const Surfaces surfaces = found_in(scene, search_for(std::vector<int>(count, polarity), 0));
                std::int64_t wrong = 0;
                for (const Surface& surface : surfaces.all) {
                    for (std::size_t i = 0; i < surface.rows.size(); ++i) {
                        const bool is_near = std::ranges::any_of(
                            boundaries, [&](float at) { return std::abs(surface.rows[i] - at) < 3; });
                        wrong += surface.reasons[i] == Reason::ok && !is_near ? 1 : 0;
                    }
                }
                EXPECT_LT(wrong, scene.lines() / 500) << below << " " << count << " " << polarity;
            }
        }
    }
}

// Positions reported as certain are at boundaries, and no two coincide.
TEST(MissingSurfaces, HaveNoPosition) {
    const LayeredScene scene = three_boundaries(4);
    for (std::size_t surplus = 1; surplus <= 3; ++surplus) {
        const Surfaces surfaces = found_in(scene, search_for(std::vector<int>(3 + surplus, 0), 0));
        std::int64_t doubled = 0, elsewhere = 0, found = 0;
        for (std::size_t i = 0; i < index(scene.lines()); ++i) {
            for (const std::vector<float>& boundary : scene.boundaries) {
                const auto near = std::ranges::count_if(
                    surfaces.all, [&](const Surface& surface) { return std::abs(surface.rows[i] - boundary[i]) < 3; });
                found += near > 0 ? 1 : 0;
            }
            float last = -100;
            for (const Surface& surface : surfaces.all) {
                if (std::isnan(surface.rows[i])) continue;
                doubled += surface.rows[i] - last < 2.99f ? 1 : 0;
                last = surface.rows[i];
            }
            elsewhere += std::ranges::count_if(surfaces.all, [&](const Surface& surface) {
                return !std::isnan(surface.rows[i]) &&
                       std::ranges::none_of(scene.boundaries, [&](const auto& boundary) {
                           return std::abs(surface.rows[i] - boundary[i]) < 3;
                       });
            });
        }
        EXPECT_GT(found, 3 * scene.lines() * 95 / 100) << surplus;
        EXPECT_EQ(doubled, 0) << surplus;
        EXPECT_LT(elsewhere, static_cast<std::int64_t>(surplus) * scene.lines() / 2) << surplus;
    }
}

}  // namespace
}  // namespace echolux
