// Recipes that come with the program: every setting exists, takes the value, and can work together with the others.
#include <gtest/gtest.h>

#include <regex>

#include "compute/error.h"
#include "engine/scan/recipes.h"
#include "engine/scan/scan.h"
#include "engine/scan/settings.h"

namespace echolux {
namespace {

// What every recipe may count on: dispersion, a source and a k map.
Scan calibrated_scan() {
    Scan scan;
    scan.geometry.samples = 1024;
    scan.geometry.a_scans = 16;
    scan.geometry.b_scans = 4;
    scan.geometry.line_rate_hz = 1e5;
    scan.recipe.a2_rad = 80;
    for (int p = 0; p < 1024; ++p) {
        scan.calibration.wavelengths_nm.push_back(800 + 0.1 * p);
        scan.calibration.background.push_back(1000 + p);
    }
    return scan;
}

TEST(Recipes, CanAllWork) {
    ASSERT_EQ(shipped_recipes().size(), 7u);
    for (const ShippedRecipe& recipe : shipped_recipes()) {
        Scan scan = calibrated_scan();
        Settings settings;
        bind(settings, scan);
        for (const std::string& assignment : recipe.assignments) EXPECT_NO_THROW(settings.set_assignment(assignment));
        EXPECT_NO_THROW(planned_grid(scan.spec(1))) << recipe.name;
    }
}

TEST(Recipes, SayInTwoLinesWhatTheyCostAndWhatTheyAreFor) {
    for (const ShippedRecipe& recipe : shipped_recipes()) {
        EXPECT_TRUE(std::regex_search(recipe.method, std::regex(R"( Cost: \d+(\.\d)?( \(a GPU: \d+\))?\.$)")))
            << recipe.method;
        for (const std::string& line : {recipe.method, recipe.use}) {
            EXPECT_GT(line.size(), 50u);
            EXPECT_LE(line.size(), 120u) << line;
            EXPECT_EQ(line.find('\n'), std::string::npos);
        }
    }
}

TEST(Recipes, AnUnknownNameTellsThoseThatThereAre) {
    try {
        assignments_of_recipe("magic");
        FAIL();
    } catch (const Error& error) {
        EXPECT_NE(error.line().find("ao-oct, ss-oct, defr, nufft, nudft, compressive, doppler"), std::string::npos);
    }
}

}  // namespace
}  // namespace echolux
