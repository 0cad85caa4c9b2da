// Scenes in files: the shipped ones, and the errors for a user's own.
#include "engine/simulate/scene.h"

#include <gmock/gmock.h>

#include <cmath>

#include "temporary_folder.h"

namespace echolux {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(SceneFiles, AreListedInOrderWithDescriptions) {
    std::vector<std::string> shown;
    for (const Asset& asset : assets_of(scene_files, {}))
        shown.push_back(asset.name + ": " + scene_of(asset).scene.text);
    EXPECT_THAT(shown, ElementsAre("vessel: tissue with pulsating blood flow", "retina: layers, vessels, a fovea",
                                   "layers: plain boundaries of known depth", "capillary: steady flow of known speed",
                                   "mirror: reflectors of known depth, for alignment",
                                   "eye-macula: as in recordings: tilt, reflex, shadows",
                                   "eye-disc: cup, ending layers, large shadowing vessels",
                                   "eye-disease: drusen and a pocket of fluid below the retina"));
}

TEST(SceneFiles, ScalesNumbersToFieldAndDepthRange) {
    Simulation simulation = with_scene_defaults(Simulation());
    const Scenery scenery(simulation, 1000);
    EXPECT_EQ(scenery.width_um, 1024);
    ASSERT_EQ(scenery.boundaries.size(), 5u);
    EXPECT_DOUBLE_EQ(scenery.boundaries[1].base_um, 165);
    EXPECT_DOUBLE_EQ(scenery.boundaries[4].wave_um, 12);
    ASSERT_EQ(scenery.tubes.size(), 2u);
    EXPECT_DOUBLE_EQ(scenery.tubes[0].x_um, -0.08 * 1024);
    EXPECT_DOUBLE_EQ(scenery.tubes[0].radius_um, 0.1 * 1024);  // less than a tenth of the depth range
    EXPECT_DOUBLE_EQ(scenery.tubes[1].radius_um, 0.05 * 1024);
    EXPECT_DOUBLE_EQ(scenery.tubes[1].peak_mm_s, -0.6 * simulation.flow_mm_s);
}

TEST(SceneFiles, LumpsRaiseTheirBoundaries) {
    Simulation simulation;
    simulation.scene = "eye-disease";
    simulation = with_scene_defaults(simulation);
    Scenery scenery(simulation, 1000);
    ASSERT_EQ(scenery.boundaries.size(), 13u);
    const double x = scenery.width_um * (0.5 - 0.25), y = scenery.length_um / 2;  // the first druse
    const auto thickness = [&](std::size_t upper) {
        return scenery.height_um(scenery.boundaries[upper + 1], x, y) -
               scenery.height_um(scenery.boundaries[upper], x, y);
    };
    EXPECT_NEAR(thickness(10), 45, 1);  // the druse itself; its neighbours are far away
    EXPECT_NEAR(thickness(9), 28, 1e-9);
    const double fluid = 60 * std::exp(-std::pow(0.2 * scenery.width_um / 260, 2));
    EXPECT_NEAR(thickness(8), fluid, 1e-6);
    const double before = thickness(2);
    scenery.boundaries[2].lumps.clear();
    EXPECT_NEAR(before - thickness(2), 45 + fluid, 0.1) << "boundaries above rise as well";
}

TEST(SceneFiles, ReportFileAndKeyOfUserScene) {
    const TemporaryFolder folder;
    const auto refusal = [&](std::string_view text) {
        return error_of([&] { scene_of({"mine", false, folder.write("mine.toml", text)}); }).line;
    };
    EXPECT_THAT(refusal("[boundaries]\ndepth = [0.1, 0.5, 0.4]\n[layers]\nbrightness = 1\n"),
                HasSubstr("mine.toml, boundaries.depth: is not in ascending order (name the boundaries from above)"));
    EXPECT_THAT(refusal("[boundaries]\ndepth = [0.1, 0.4]\nbow = [0, 1, 0]\n[layers]\nbrightness = 1\n"),
                HasSubstr("mine.toml, boundaries.bow: has 3 numbers for 2 (specify one for all, or one for each)"));
    EXPECT_THAT(refusal("[boundaries]\ndepth = [0.1, 0.4]\n"), HasSubstr("layers.brightness: has 0 numbers for 1"));
    EXPECT_THAT(refusal("[tubes]\ndepth = 0.5\nradios = 0.1\n"), HasSubstr("did you mean \"tubes.radius\"?"));
    EXPECT_THAT(refusal("[tubes]\nbright = 2\n"), HasSubstr("did you mean \"tubes.brightness\"?"));
    EXPECT_THAT(refusal("[boundaries]\ncolour = 2\n"),
                HasSubstr("[boundaries] has depth, tilt, bow, wave, pit, pit_radius, reflex"));
    EXPECT_THAT(refusal("[lumps]\nx = [0, 0.1]\nheight_um = [1, 2, 3]\n"), HasSubstr("has 3 numbers for 2"));
    EXPECT_THAT(refusal("[tube]\ndepth = 2\n"), HasSubstr("tubes"));
    EXPECT_THAT(refusal("[tubes]\ndepth = 2\n"), HasSubstr("tubes.depth"));
}

}  // namespace
}  // namespace echolux
