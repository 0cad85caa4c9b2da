// Sections of scenes for small drawings, compared with the scene files.
#include "engine/simulate/scene.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "compute/error.h"

namespace echolux::test {
namespace {

TEST(SceneSections, ShowLayersInOrderWithCentralPit) {
    const SceneFile file = scene_named("retina");
    const SceneSection section = scene_section("retina", 33);
    ASSERT_EQ(section.boundaries.size(), file.boundaries.depth.size());
    ASSERT_EQ(section.brightness.size() + 1, section.boundaries.size());
    EXPECT_EQ(*std::ranges::max_element(section.brightness), 1);
    for (std::size_t column = 0; column < 33; ++column) {
        for (std::size_t i = 0; i + 1 < section.boundaries.size(); ++i)
            EXPECT_LT(section.boundaries[i][column], section.boundaries[i + 1][column]) << i << ", " << column;
    }
    const auto thickness = [&](std::size_t column) {
        return section.boundaries[9][column] - section.boundaries[0][column];
    };
    EXPECT_LT(thickness(16), 0.95 * thickness(2));
    EXPECT_NEAR(thickness(2), thickness(30), 1e-9);
}

TEST(SceneSections, ShowTubesAndReflectors) {
    const SceneSection retina = scene_section("retina", 2);
    ASSERT_EQ(retina.tubes.size(), 2U);
    const TubeLists lists = scene_named("retina").tubes;  // in the middle, where their depth does not swing or bow
    for (std::size_t i = 0; i < 2; ++i) {
        EXPECT_EQ(retina.tubes[i].flows_away, lists.speed[i] * lists.descent[i] > 0) << i;
    }
    EXPECT_LT(retina.tubes[0].x, 0.5);
    EXPECT_GT(retina.tubes[1].x, 0.5);
    const SceneSection mirror = scene_section("mirror", 2);
    ASSERT_EQ(mirror.reflectors.size(), 2U);
    EXPECT_NEAR(mirror.reflectors[1] / mirror.reflectors[0], 300. / 120, 1e-9);  // simulation.mirror_um
    EXPECT_THROW(scene_section("nowhere", 2), Error);
}

}  // namespace
}  // namespace echolux::test
