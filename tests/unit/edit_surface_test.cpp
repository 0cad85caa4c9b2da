// Surfaces dragged by hand: the parts that follow, the parts that stay, and that surfaces never cross.
#include "compute/reason.h"
#include "engine/layers/layers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "compute/error.h"
#include "compute/indexing.h"

namespace echolux {
namespace {

constexpr std::int64_t lines_a = 41, lines_b = 9, rows = 200;

// Returns flat surfaces at these rows.
Surfaces flat_surfaces(const std::vector<float>& at) {
    Surfaces surfaces{lines_a, lines_b, {}, 0};
    for (std::size_t k = 0; k < at.size(); ++k) {
        const auto lines = index(surfaces.lines());
        surfaces.all.push_back({std::to_string(k), std::vector<float>(lines, at[k]), std::vector<float>(lines, 7.0f),
                                std::vector<Reason>(lines, Reason::ambiguous)});
    }
    return surfaces;
}

std::size_t line_of(std::int64_t a, std::int64_t b) {
    return index(b * lines_a + a);
}

// The surfaces are equal to the last bit.
void expect_same(const Surfaces& a, const Surfaces& b) {
    for (std::size_t k = 0; k < a.all.size(); ++k) {
        EXPECT_THAT(a.all[k].rows, testing::Pointwise(testing::NanSensitiveFloatEq(), b.all[k].rows));
        EXPECT_EQ(a.all[k].quality, b.all[k].quality);
        EXPECT_EQ(a.all[k].reasons, b.all[k].reasons);
    }
}

TEST(EditSurface, SurroundingsFollowByRaisedCosine) {
    Surfaces surfaces = flat_surfaces({50, 100, 150});
    const auto edits = dragged(surfaces, 1, 20, 4, 110, rows, {.a_scans = 9, .b_scans = 3});
    apply(surfaces, 1, edits);
    for (std::int64_t b = 0; b < lines_b; ++b) {
        for (std::int64_t a = 0; a < lines_a; ++a) {
            const double da = std::abs(static_cast<double>(a - 20)), db = std::abs(static_cast<double>(b - 4));
            const double of_a = da < 10 ? std::pow(std::cos(M_PI * da / 20), 2) : 0;
            const double of_b = db < 4 ? std::pow(std::cos(M_PI * db / 8), 2) : 0;
            EXPECT_NEAR(surfaces.all[1].rows[line_of(a, b)], 100 + 10 * of_a * of_b, 1e-4) << a << ", " << b;
            EXPECT_EQ(surfaces.all[0].rows[line_of(a, b)], 50);
            EXPECT_EQ(surfaces.all[2].rows[line_of(a, b)], 150);
        }
    }
    EXPECT_EQ(surfaces.all[1].reasons[line_of(20, 4)], Reason::ok) << "somebody set it";
    EXPECT_EQ(surfaces.all[1].quality[line_of(20, 4)], 0);
    EXPECT_EQ(surfaces.all[1].reasons[line_of(0, 0)], Reason::ambiguous) << "out of reach";
}

TEST(EditSurface, MovesSingleAScanWithoutReach) {
    const Surfaces surfaces = flat_surfaces({50, 100});
    const auto edits = dragged(surfaces, 0, 3, 2, 61.5f, rows, {.a_scans = 0, .b_scans = 0});
    ASSERT_EQ(edits.size(), 1U);
    EXPECT_EQ(edits[0].line, line_of(3, 2));
    EXPECT_EQ(edits[0].row, 61.5f);
    EXPECT_EQ(edits[0].row_before, 50);
}

TEST(EditSurface, SurfacesNeverCross) {
    Surfaces surfaces = flat_surfaces({40, 60, 60, 90});
    std::mt19937 random(5);
    const auto below = [&](std::int64_t end) {
        return std::uniform_int_distribution<std::int64_t>(0, end - 1)(random);
    };
    for (int i = 0; i < 300; ++i) {
        const auto row = std::uniform_real_distribution<float>(-50, 250)(random);
        const auto surface = index(below(4));
        apply(surfaces, surface,
              dragged(surfaces, surface, below(lines_a), below(lines_b), row, rows, {below(20), below(5)}));
    }
    for (std::size_t line = 0; line < surfaces.all[0].rows.size(); ++line) {
        EXPECT_GE(surfaces.all[0].rows[line], 0);
        for (std::size_t k = 1; k < 4; ++k) ASSERT_LE(surfaces.all[k - 1].rows[line], surfaces.all[k].rows[line]);
        EXPECT_LE(surfaces.all[3].rows[line], rows - 1);
    }
}

TEST(EditSurface, KeepsMissingPointsWithoutBlockingOthers) {
    Surfaces surfaces = flat_surfaces({50, 100, 150});
    const float none = std::numeric_limits<float>::quiet_NaN();
    surfaces.all[1].rows[line_of(20, 4)] = none;
    EXPECT_TRUE(dragged(surfaces, 1, 20, 4, 120, rows, {}).empty()) << "there is nothing to take hold of";
    apply(surfaces, 1, dragged(surfaces, 1, 21, 4, 120, rows, {}));
    EXPECT_TRUE(std::isnan(surfaces.all[1].rows[line_of(20, 4)]));
    apply(surfaces, 0, dragged(surfaces, 0, 20, 4, 140, rows, {.a_scans = 0, .b_scans = 0}));
    EXPECT_EQ(surfaces.all[0].rows[line_of(20, 4)], 140) << "up to the next surface that is there";
}

TEST(EditSurface, UndoRestoresEveryBit) {
    const Surfaces before = flat_surfaces({50, 51, 150});
    Surfaces surfaces = before;
    const auto edits = dragged(surfaces, 1, 0, 0, 12.3f, rows, {});
    ASSERT_FALSE(edits.empty());
    apply(surfaces, 1, edits);
    EXPECT_EQ(surfaces.all[1].rows[0], 50) << "on the surface above";
    take_back(surfaces, 1, edits);
    expect_same(surfaces, before);
}

TEST(EditSurface, RejectsMissingPositions) {
    const Surfaces surfaces = flat_surfaces({50});
    EXPECT_THROW(dragged(surfaces, 1, 0, 0, 3, rows, {}), Error);
    EXPECT_THROW(dragged(surfaces, 0, lines_a, 0, 3, rows, {}), Error);
    EXPECT_TRUE(dragged(surfaces, 0, 0, 0, std::numeric_limits<float>::quiet_NaN(), rows, {}).empty());
}

}  // namespace
}  // namespace echolux
