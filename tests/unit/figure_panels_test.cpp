// The panels of figures: pixels and bars for given values.
#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "app/figure/figure_page.h"
#include "compute/indexing.h"

namespace echolux {
namespace {

// One row of values as a B-scan.
Figure row(std::vector<float> values) {
    return {std::ssize(values), 1, std::move(values), 10, 10};
}

VolumeGrid grid_in(const std::string& unit) {
    VolumeGrid grid;
    grid.depth = 1;
    grid.unit = unit;
    return grid;
}

std::array<int, 3> pixel(const Picture& picture, std::size_t index) {
    return {picture.pixels[3 * index], picture.pixels[3 * index + 1], picture.pixels[3 * index + 2]};
}

TEST(FigurePanels, DrawsVelocitiesAndBarInFlowColours) {
    const FigurePanel panel = b_scan_panel(row({-8, -4, 0, 4, 2, NAN}), grid_in("mm/s"), {});
    ASSERT_EQ(panel.picture.channels, 3);
    ASSERT_EQ(panel.picture.pixels.size(), 18u);
    const std::array<int, 3> still = pixel(panel.picture, 2), away = pixel(panel.picture, 3),
                             towards = pixel(panel.picture, 1);
    EXPECT_NEAR(still[0], still[2], 8) << "no flow is gray";
    EXPECT_GT(away[0], away[2] + 30) << "orange";
    EXPECT_GT(towards[2], towards[0] + 30) << "blue";
    EXPECT_EQ(pixel(panel.picture, 5), still) << "not measured";
    ASSERT_TRUE(panel.bar);
    EXPECT_EQ(panel.bar->unit, "mm/s");
    EXPECT_EQ(panel.bar->range.black, -panel.bar->range.white) << "as far either way";
    EXPECT_NEAR(panel.bar->range.white, 8, 0.1);
    ASSERT_TRUE(panel.bar->colours);
    const Picture& bar = *panel.bar->colours;
    EXPECT_GT(pixel(bar, 0)[0], pixel(bar, 0)[2]) << "the highest is at the top";
    EXPECT_GT(pixel(bar, 255)[2], pixel(bar, 255)[0]);
}

TEST(FigurePanels, KeepsZeroFlowGrayForChosenRange) {
    FigureStyle style;
    style.low = 0;
    style.high = 5;
    const FigurePanel panel = b_scan_panel(row({-8, 0, 5, 10}), grid_in("mm/s"), style);
    EXPECT_EQ(panel.bar->range.black, 0);
    EXPECT_EQ(panel.bar->range.white, 5);
    EXPECT_EQ(pixel(panel.picture, 0), pixel(panel.picture, 1));
    EXPECT_NEAR(pixel(panel.picture, 1)[0], pixel(panel.picture, 1)[2], 8);
    EXPECT_EQ(pixel(panel.picture, 2), pixel(panel.picture, 3));
    EXPECT_EQ(pixel(panel.picture, 2), pixel(*panel.bar->colours, 0));
}

TEST(FigurePanels, DrawsNonVelocitiesInGray) {
    const FigurePanel panel = b_scan_panel(row({-8, 0, 8}), grid_in("dB"), {});
    EXPECT_EQ(panel.picture.channels, 1);
    EXPECT_FALSE(panel.bar->colours);
    EXPECT_EQ(panel.bar->unit, "dB");
}

TEST(FigurePanels, AmbiguousPlacesOfMapsAreHatchedAndNamed) {
    VolumeGrid grid;
    grid.depth = 1;
    grid.a_scans = 40;
    grid.b_scans = 20;
    const std::vector<float> values(800, 5.0F);
    std::vector<std::uint8_t> ambiguous(800);
    const auto colours_of = [&](std::size_t begin, std::size_t end) {
        const FigurePanel panel = map_panel({values, ambiguous, "retina", "um"}, grid, {});
        const auto width = index(panel.picture.width), cell = width / 40;
        std::array<int, 2> counts{};  // pixels that are white, and others, of the B-scan in the top row
        for (std::size_t y = 0; y < cell; ++y) {
            for (std::size_t x = begin * cell; x < end * cell; ++x)
                ++counts.at(pixel(panel.picture, y * width + x) != std::array{255, 255, 255} ? 1 : 0);
        }
        return counts;
    };
    EXPECT_EQ(map_panel({values, ambiguous, "retina", "um"}, grid, {}).heading, "retina");
    EXPECT_EQ(colours_of(0, 40)[0], 0);
    for (std::size_t a = 10; a < 20; ++a) ambiguous[19 * 40 + a] = 1;  // of the last B-scan, which is on top
    EXPECT_EQ(map_panel({values, ambiguous, "retina", "um"}, grid, {}).heading, "retina, hatched: ambiguous (1 %)");
    EXPECT_EQ(colours_of(0, 10)[0] + colours_of(20, 40)[0], 0);
    const auto [white, others] = colours_of(10, 20);
    EXPECT_NEAR(static_cast<double>(white) / (white + others), 1.0 / 3, 0.05);
    EXPECT_EQ(map_panel({values, {}, "retina", "um"}, grid, {}).heading, "retina");
}

}  // namespace
}  // namespace echolux
