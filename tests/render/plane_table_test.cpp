// Tables computed from the widgets of transfer functions over two axes, compared with closed forms.
#include <gtest/gtest.h>

#include <algorithm>

#include "two_axes.h"

namespace echolux::test {
namespace {

TEST(PlaneTable, BoxIsPyramidWithFadingRim) {
    const TransferFunction function = function_of({SecondAxis::gradient, 0, 8, {box({10, 20}, {2, 6}, 100, 0.5)}});
    const auto extinction = [&](double value, double second) { return seen_at(function, {value, second}).extinction; };
    EXPECT_DOUBLE_EQ(extinction(15, 4), 100);
    EXPECT_DOUBLE_EQ(extinction(11.25, 4), 50);     // a quarter of the way from the rim to the centre
    EXPECT_NEAR(extinction(15, 5.8), 20, 1e-9);     // a tenth of it
    EXPECT_NEAR(extinction(11.25, 5.8), 20, 1e-9);  // the nearer rim determines the value
    EXPECT_EQ(extinction(9.9, 4), 0);
    EXPECT_EQ(extinction(15, 6.1), 0);
    EXPECT_DOUBLE_EQ(seen_at(function, {15, 4}).red, 0.9);
    EXPECT_DOUBLE_EQ(seen_at(function, {30, 4}).red, 0.2 + 0.8 * 0.75) << "the curve's";
}

TEST(PlaneTable, RimsAtEndsOfAxesDoNotFade) {
    const TransferFunction function = function_of({SecondAxis::gradient, 0, 8, {box({10, 40}, {0, 4}, 100, 1)}});
    EXPECT_DOUBLE_EQ(seen_at(function, {40, 0}).extinction, 100);
    EXPECT_DOUBLE_EQ(seen_at(function, {17.5, 0}).extinction, 50);
    EXPECT_DOUBLE_EQ(seen_at(function, {40, 3}).extinction, 50);
}

TEST(PlaneTable, ArcConnectsTwoMaterials) {
    const TransferWidget arc{.shape = WidgetShape::arc,
                             .points = {{8, 4}, {24, 4}},
                             .width = 0.25,
                             .softness = 1,
                             .colour = {1, 1, 1},
                             .extinction = 80};
    const TransferFunction function = function_of({SecondAxis::gradient, 0, 8, {arc}});
    const auto extinction = [&](double value, double second) { return seen_at(function, {value, second}).extinction; };
    EXPECT_DOUBLE_EQ(extinction(16, 4), 80);          // its top
    EXPECT_DOUBLE_EQ(extinction(12, 3), 80);          // 4 x 1/4 x 3/4
    EXPECT_NEAR(extinction(12, 3.5), 80. / 3, 1e-9);  // two thirds of a width of 0.75
    EXPECT_DOUBLE_EQ(extinction(16, 4.75), 20);
    EXPECT_EQ(extinction(16, 2.9), 0) << "below it";
    EXPECT_EQ(extinction(7.9, 0), 0);
}

TEST(PlaneTable, StrokeCoversItsPoints) {
    const TransferWidget stroke{.shape = WidgetShape::stroke,
                                .points = {{4, 0.8}, {20, 0.8}, {20, 6}},
                                .width = 0.1,
                                .softness = 1,
                                .colour = {1, 1, 1},
                                .extinction = 10};
    const TransferFunction function = function_of({SecondAxis::gradient, 0, 8, {stroke}});
    EXPECT_DOUBLE_EQ(seen_at(function, {12, 0.8}).extinction, 10);
    EXPECT_NEAR(seen_at(function, {12, 1.2}).extinction, 5, 1e-9);  // a twentieth of the axis away
    EXPECT_NEAR(seen_at(function, {2, 0.8}).extinction, 5, 1e-9);   // before its beginning
    EXPECT_NEAR(seen_at(function, {22, 4}).extinction, 5, 1e-9);
    EXPECT_EQ(seen_at(function, {12, 1.7}).extinction, 0);
}

TEST(PlaneTable, LargestExtinctionCountsAndColoursMixInAnyOrder) {
    TransferWidget red = box({0, 30}, {0, 8}, 30), blue = box({10, 40}, {0, 8}, 10);
    red.colour = {1, 0, 0};
    blue.colour = {0, 0, 1};
    const TransferFunction one = function_of({SecondAxis::gradient, 0, 8, {red, blue}});
    const TransferFunction other = function_of({SecondAxis::gradient, 0, 8, {blue, red}});
    const TransferNode node = seen_at(one, {20, 4});
    EXPECT_DOUBLE_EQ(node.extinction, 30);
    EXPECT_DOUBLE_EQ(node.red, 0.75);
    EXPECT_DOUBLE_EQ(node.blue, 0.25);
    EXPECT_EQ(node, seen_at(other, {20, 4}));
}

TEST(PlaneTable, StoresLargestExtinctionOfEachValue) {
    const PlaneTable table =
        plane_table(function_of({SecondAxis::gradient, 0, 8, {box({10, 20}, {2, 6}, 100, 0.5)}}), 81);
    for (std::size_t i = 0; i < 81; ++i) {
        float largest = 0;
        for (std::size_t row = 0; row < shared::second_rows; ++row) {
            largest = std::max(largest, table.entries[row * 81 + i].extinction);
        }
        EXPECT_EQ(table.largest[i], largest) << i;
        EXPECT_EQ(largest > 0, i > 20 && i < 40) << i;
    }
}

// For relative curves, slopes are per voxel and relative to the range; otherwise they are per micrometre.
TEST(PlaneFunction, SpreadsWithValues) {
    VolumeGrid grid = db_grid(8, 8, 8);
    grid.spacing_um = {4, 5, 6};
    View view;
    view.transfer_curve = dark({SecondAxis::gradient, 0, 8, {box({10, 20}, {2, 6}, 1)}});
    view.low = 100;
    view.high = 500;
    TransferFunction function = transfer_function(view, grid, {});
    EXPECT_DOUBLE_EQ(function.plane->to, 80);
    EXPECT_DOUBLE_EQ(function.plane->widgets[0].points[0].value, 200);
    EXPECT_DOUBLE_EQ(function.plane->widgets[0].points[1].second, 60);
    view.transfer_curve->is_relative = true;
    function = transfer_function(view, grid, {});
    EXPECT_DOUBLE_EQ(function.plane->to, 20);
    view.transfer_curve->plane->second = SecondAxis::curvature;
    EXPECT_DOUBLE_EQ(transfer_function(view, grid, {}).plane->to, 2);
    view.transfer_curve->plane->second = SecondAxis::distance;
    EXPECT_DOUBLE_EQ(transfer_function(view, grid, {}).plane->to, 8);
}

}  // namespace
}  // namespace echolux::test
