// Recipes: in the shipped ones every setting exists, accepts its value and is compatible with the others. For a user's
// recipes, errors are reported.
#include "engine/scan/scan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <regex>

#include "compute/error.h"
#include "engine/scan/settings.h"
#include "temporary_folder.h"
#include "tests/support/set_fields.h"

namespace echolux {
namespace {

// The calibration that every recipe may assume: dispersion, a source and a k map.
Scan calibrated_scan() {
    Scan scan = with(Scan{}, "samples=1024 a_scans=16 b_scans=4 line_rate_hz=100000 a2_rad=80");
    for (int p = 0; p < 1024; ++p) {
        scan.calibration.wavelengths_nm.push_back(800 + 0.1 * p);
        scan.calibration.background.push_back(1000 + p);
    }
    return scan;
}

TEST(Recipes, WorkWithCalibratedScan) {
    const std::vector<Asset> shipped = assets_of(recipe_files, {});
    ASSERT_EQ(shipped.size(), 10u);
    for (const Asset& asset : shipped) {
        Scan scan = calibrated_scan();
        Settings settings;
        bind(settings, scan);
        const std::vector<std::string> assignments = recipe_of(asset).assignments;
        ASSERT_FALSE(assignments.empty()) << asset.name;
        for (const std::string& assignment : assignments) EXPECT_NO_THROW(settings.set_assignment(assignment));
        if (scan.flow.method >= FlowMethod::speckle_variance) scan.geometry.b_repeats = 2;
        EXPECT_NO_THROW(planned_grid(scan.spec(1))) << asset.name;
    }
}

TEST(Recipes, DescribeCostAndUseInTwoLines) {
    for (const Asset& asset : assets_of(recipe_files, {})) {
        const NamedRecipe recipe = recipe_of(asset);
        EXPECT_TRUE(std::regex_search(recipe.method, std::regex(R"( Cost: \d+(\.\d)?( \(a GPU: \d+\))?\.$)")))
            << recipe.method;
        for (const std::string& line : {recipe.method, recipe.use}) {
            EXPECT_GT(line.size(), 50u);
            EXPECT_LE(line.size(), 120u) << line;
            EXPECT_EQ(line.find('\n'), std::string::npos);
        }
    }
}

TEST(Recipes, ListKnownNamesForUnknownOne) {
    EXPECT_THAT(error_of([] { assignments_of_recipe("magic"); }).line,
                testing::HasSubstr("ao-oct, ss-oct, defr, nufft, nudft, compressive, doppler, retina-octa, skin-octa, "
                                   "ao-retina"));
}

TEST(Recipes, MisspeltNameSuggestsNearest) {
    EXPECT_THAT(error_of([] { assignments_of_recipe("dopler"); }).line,
                testing::HasSubstr("did you mean \"doppler\"?"));
    EXPECT_THAT(error_of([] { assignments_of_recipe("compress"); }).line,
                testing::HasSubstr("did you mean \"compressive\"?"));
}

TEST(Recipes, AreAlsoReadFromFile) {
    const TemporaryFolder folder;
    const auto file = folder.write("mine.toml", "[recipe]\nwindow = \"rect\"\n");
    EXPECT_EQ(assignments_of_recipe(file.string()), std::vector<std::string>{"recipe.window=rect"});
    EXPECT_THAT(error_of([&] { assignments_of_recipe((folder / "none.toml").string()); }).line,
                testing::HasSubstr("none.toml: does not exist"));
}

TEST(Recipes, KeepOrderOfTheirFile) {
    const std::vector<std::string> expected{"recipe.method=defr", "recipe.upsample=2",     "recipe.resample=linear",
                                            "recipe.window=hann", "recipe.zero_padding=1", "recipe.depth_begin=0",
                                            "recipe.depth_end=0", "defr.iterations=10",    "defr.delta=0.5"};
    EXPECT_EQ(assignments_of_recipe("defr"), expected);
}

TEST(Recipes, ReportFileLineAndKeyOfUserRecipe) {
    const TemporaryFolder folder;
    const auto own = [&](std::string_view text) { return Asset{"mine", false, folder.write("mine.toml", text)}; };
    const NamedRecipe recipe = recipe_of(own("[about]\nuse = \"skin\"\n[recipe]\nwindow = \"hann\"\n"));
    EXPECT_EQ(recipe.use, "skin");
    EXPECT_EQ(recipe.assignments, std::vector<std::string>{"recipe.window=hann"});
    EXPECT_EQ(
        error_of([&] { recipe_of(own("[recipe]\n\nwindov = \"hann\"\n")); }).line,
        (folder / "mine.toml").string() + " line 3, recipe.windov: unknown key (did you mean \"recipe.window\"?)");
}

}  // namespace
}  // namespace echolux
