// Recipes: in the shipped ones every setting exists, accepts its value and is compatible with the others. For a user's
// recipes, errors are reported.
#include "engine/scan/scan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <regex>

#include "assets/assets.h"
#include "assets/table.h"
#include "bench/papers.h"
#include "compute/error.h"
#include "compute/plan/describe.h"
#include "engine/scan/settings.h"
#include "temporary_folder.h"
#include "tests/support/set_fields.h"

namespace echolux {
namespace {

using testing::ElementsAre;

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

// ---- embedded files -------------------------------------------------------------------------------------------------

std::vector<std::string> names_of(const std::vector<Asset>& assets) {
    std::vector<std::string> names;
    for (const Asset& asset : assets) names.push_back(asset.name);
    return names;
}

TEST(Assets, EqualTheirFiles) {
    for (const char* path : {"transfer/tissue.toml", "colour_maps/flow.txt", "recipes/defr.toml"}) {
        std::ifstream file(std::string(ECHOLUX_SOURCE_DIR "/assets/") + path, std::ios::binary);
        const std::string bytes{std::istreambuf_iterator<char>(file), {}};
        EXPECT_FALSE(bytes.empty());
        EXPECT_EQ(shipped_file(path), bytes) << path;
    }
    EXPECT_TRUE(shipped_file("transfer/none.toml").empty());
}

TEST(Assets, ListsBuiltInBeforeUserFiles) {
    const TemporaryFolder config;
    std::filesystem::create_directories(config / "recipes");
    for (const char* name : {"recipes/zebra.toml", "recipes/apple.toml", "recipes/defr.toml", "recipes/note.txt"}) {
        config.write(name, "");
    }
    const std::vector<Asset> assets = assets_of(recipe_files, config.path());
    EXPECT_THAT(names_of(assets), ElementsAre("ao-oct", "ss-oct", "defr", "nufft", "nudft", "compressive", "doppler",
                                              "retina-octa", "skin-octa", "ao-retina", "apple", "zebra"));
    EXPECT_EQ(origin_of(assets[0]), "shipped");
    EXPECT_EQ(origin_of(assets[2]), (config / "recipes/defr.toml").string() + ", in place of the shipped one");
    EXPECT_EQ(origin_of(assets[10]), (config / "recipes/apple.toml").string());
    EXPECT_EQ(own_file(recipe_files, "defr", config.path()), config / "recipes/defr.toml");
    EXPECT_EQ(own_file(recipe_files, "nufft", config.path()), "");
    EXPECT_EQ(own_file(recipe_files, "note", config.path()), "");
}

TEST(Assets, PublishedFiguresMatchPapers) {
    ASSERT_EQ(published_figures().size(), 39u);
    const auto value_of = [](std::string_view figure, std::string_view hardware) {
        for (const PublishedFigure& one : published_figures()) {
            if (one.figure == figure && one.hardware == hardware) return one;
        }
        return PublishedFigure{};
    };
    EXPECT_EQ(value_of("ao-oct/set", "a GPU").value, 1.450);
    EXPECT_EQ(value_of("ao-oct/set", "a GPU").lines, 240 * 240 * 11);
    EXPECT_EQ(value_of("ss-oct/1836", "Tesla C1060").value, 524'205);
    EXPECT_EQ(value_of("ss-oct/1836", "Tesla C1060").unit, "A-scans/s");
    EXPECT_DOUBLE_EQ(value_of("defr.double/10", "GeForce GTX 580").value, 0.04392 * 188.35 / 100);
    EXPECT_EQ(value_of("defr.memory/1024", "GeForce GTX 580").value, 152e6);
    EXPECT_DOUBLE_EQ(value_of("cs.fft/15", "GeForce GTX 580").value, 47.2e-6);
    EXPECT_DOUBLE_EQ(value_of("structure/2048", "a GPU").value * 1024, 18e9);
}

TEST(Assets, PublishedErrorsOfNufftMatchPaper) {
    const std::vector<PublishedNufftError> errors = published_nufft_errors();
    ASSERT_EQ(errors.size(), 13u);
    EXPECT_EQ(errors.front().oversampling, 1.25);
    EXPECT_EQ(errors[8].width, 5);
    EXPECT_THAT(errors[8].errors, ElementsAre(1.7e-3, 4.5e-5, 7.5e-5));
    EXPECT_THAT(errors.back().errors, ElementsAre(8.3e-7, 7.4e-12, 1.5e-11));
}

}  // namespace
}  // namespace echolux
