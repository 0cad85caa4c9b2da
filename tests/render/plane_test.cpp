// Transfer functions over two axes in pictures: compared with curves over one axis, with the absorption of rays
// computed independently, and with and without the optimisations that save samples. Also the histogram over both axes.
#include <gtest/gtest.h>
#include <algorithm>
#include <cmath>
#include <cstring>

#include "compute/plan/describe.h"
#include "tests/support/set_fields.h"
#include "two_axes.h"

namespace echolux::test {
namespace {

class Planes2D : public Rendering {
  protected:
    void show(const TransferCurve& curve) {
        view_.transfer = "test";
        view_.transfer_curve = curve;
    }

    // Along depth, one voxel per pixel.
    void look_down(const VolumeGrid& grid) {
        view_ = voxel_view(grid, grid.a_scans, grid.b_scans);
        set(view_, "look=top step=0.25 adaptive=false end_early=false");
    }

    double transmittance(std::int64_t x, std::int64_t y) {
        return renderer().measure(view_)[index(y * view_.width + x)].transmittance;
    }

    View view_;
};

TEST_F(Planes2D, SlowConstantSecondAxisEqualsCurveBitForBit) {
    const VolumeGrid grid = db_grid(30, 41, 37, VoxelType::u8);
    renderer().set_volume(grid, voxels(grid, speckle_in_boxes).data());
    set(view_, "width=80 height=80 ambient_occlusion=0.5");
    TransferCurve curve{.nodes = {{0, 0.1, 0.2, 0.3, 0}, {15, 0.9, 0.4, 0.2, 0}, {40, 1, 1, 0.9, 200}}};
    for (const ViewMode mode : {ViewMode::composite, ViewMode::mida, ViewMode::points, ViewMode::mip}) {
        view_.mode = mode;
        curve.plane.reset();
        show(curve);
        const Image plain = renderer().render(view_);
        for (const SecondAxis axis : {SecondAxis::gradient, SecondAxis::curvature}) {
            curve.plane = TransferPlane{axis, 0, 1, {}};
            show(curve);
            // Normals of points are computed by a shader that is compiled differently.
            EXPECT_LE(largest_difference(renderer().render(view_), plain), mode == ViewMode::points ? 1 : 0)
                << static_cast<int>(mode);
        }
    }
}

TEST_F(Planes2D, BoxOverSecondAxisEqualsStepOfCurve) {
    const VolumeGrid grid = db_grid(30, 41, 37, VoxelType::u8);
    renderer().set_volume(grid, voxels(grid, speckle_in_boxes).data());
    view_.width = view_.height = 80;
    show({.nodes = {{0, 0.9, 0.4, 0.2, 0},
                    {20.001, 0.9, 0.4, 0.2, 0},
                    {20.002, 0.9, 0.4, 0.2, 150},
                    {40, 0.9, 0.4, 0.2, 150}}});
    const Image step = renderer().render(view_);
    show(dark({SecondAxis::gradient, 0, 5, {box({20.0015, far_away}, {-far_away, far_away}, 150)}}));
    EXPECT_LE(largest_difference(renderer().render(view_), step), 1);
}

// Two materials with the same values, one steep and one flat. Expected values: shared/prototypes of the formula in
// NumPy, which sample the volume independently.
TEST_F(Planes2D, SlopesDistinguishMaterialsOfSameValues) {
    const VolumeGrid grid = db_grid(32, 16, 16);
    renderer().set_volume(grid, voxels(grid, [](std::int64_t z, std::int64_t a, std::int64_t) {
                                    return 20 + (a < 8 ? 0.5 : 4) * (static_cast<double>(z) - 15.5);
                                }).data());
    look_down(grid);
    show(dark({SecondAxis::gradient, 0, 8, {box({17, 23}, {2, 6}, 30, 0.4)}}, 32));
    EXPECT_EQ(transmittance(3, 8), 1);
    EXPECT_NEAR(transmittance(12, 8), 0.32213, 0.003);
    show(dark({SecondAxis::gradient, 0, 8, {box({17, 23}, {0, 1}, 30)}}, 32));
    EXPECT_NEAR(transmittance(3, 8), std::exp(-30 * 12. / 32), 0.003);  // 6 dB in steps of half a dB per voxel
    EXPECT_EQ(transmittance(12, 8), 1);
}

// In a ball whose brightness depends on the radius, each isosurface has the curvature of its radius.
TEST_F(Planes2D, CurvatureMatchesBalls) {
    const VolumeGrid grid = db_grid(48, 48, 48);
    const auto radius = [](std::int64_t z, std::int64_t a, std::int64_t b) {
        return std::hypot(static_cast<double>(z) - 23.5, static_cast<double>(a) - 23.5, static_cast<double>(b) - 23.5);
    };
    look_down(grid);
    set(view_, "gradient_radius=1 step=0.1");
    for (const double sign : {1., -1.}) {
        renderer().set_volume(grid, voxels(grid, [&](auto... at) { return 20 + sign * (20 - radius(at...)); }).data());
        const ValueRange shell{std::min(sign / 8, sign / 12), std::max(sign / 8, sign / 12)};
        show(dark({SecondAxis::curvature, -0.15, 0.15, {box({-far_away, far_away}, shell, 10)}}, 48));
        // 8.02 voxels of the exact shell on this ray; 8.8 with differences over a voxel, computed independently with
        // NumPy.
        EXPECT_NEAR(-std::log(transmittance(24, 24)) * 48 / 10, 8.8, 0.11) << sign;
    }
}

TEST_F(Planes2D, DistanceIsMeasuredFromSurface) {
    VolumeGrid grid = db_grid(40, 16, 16);
    grid.spacing_um = {2, 2, 2};
    grid.first_depth_um = 30;
    renderer().set_volume(grid, voxels(grid, [](auto...) { return 20; }).data());
    HeightMaps maps{.a_scans = 16, .b_scans = 16, .top_um = {}, .bottom_um = {}};
    for (int i = 0; i < 256; ++i) maps.top_um.push_back(static_cast<float>(40 + i % 16));
    look_down(grid);
    show(dark({SecondAxis::distance, 0, 80, {box({-far_away, far_away}, {10, 25}, 40)}}, 80));
    view_.top_from = "a map";
    renderer().set_heights(maps);
    view_.top_um = -30;
    EXPECT_NEAR(-std::log(transmittance(8, 8)), 40 * 15. / 80, 0.4);
    const double before = transmittance(8, 8);
    view_.clip_low[0] = (40. + 8 + 25 - 30 + 1) / 80;  // cuts away everything closer to the start of the rays
    EXPECT_GT(transmittance(8, 8), 0.9) << "what is seen lies " << before << " above";
    view_.top_from.clear();
    EXPECT_NE(refusal_of([&] { renderer().render(view_); }).line().find("view.top_from"), std::string::npos);
}

TEST_F(Planes2D, MovedWidgetsAreShownAtOnce) {
    const VolumeGrid grid = db_grid(32, 32, 32);
    renderer().set_volume(grid, voxels(grid, ball(grid, 14)).data());
    view_.width = view_.height = 48;
    std::vector<Image> pictures;
    for (int i = 0; i < 8; ++i) {
        show(dark({SecondAxis::gradient, 0, 5, {box({4. * i, 4. * i + 6}, {1, 5}, 300)}}));
        pictures.push_back(renderer().render(view_));
        for (int j = 0; j < i; ++j) EXPECT_NE(pictures.back().pixels, pictures[index(j)].pixels);
    }
    show(dark({SecondAxis::gradient, 0, 5, {box({8, 14}, {1, 5}, 300)}}));
    EXPECT_EQ(renderer().render(view_).pixels, pictures[2].pixels);
}

// Counts again independently: slopes from differences of the voxels themselves.
TEST_F(Planes2D, HistogramCountsVoxels) {
    VolumeGrid grid = db_grid(32, 16, 12);
    grid.spacing_um = {1, 2, 3};
    const auto value = [](std::int64_t z, std::int64_t a, std::int64_t b) {
        return 40 * noise(z, a, b) + 5 * std::sin(0.3 * static_cast<double>(z));
    };
    const std::vector<std::byte> bytes = voxels(grid, value);
    renderer().set_volume(grid, bytes.data());
    EXPECT_FALSE(renderer().plane_histogram(view_)) << "of one axis there is none";
    show(dark({SecondAxis::gradient, 0, 30, {}}));
    view_.gradient_radius = 1;
    std::optional<PlaneHistogram> histogram;
    for (int i = 0; i < 100000 && !histogram; ++i) histogram = renderer().plane_histogram(view_);
    ASSERT_TRUE(histogram);
    const auto voxel = [&](std::int64_t z, std::int64_t a, std::int64_t b) {
        const auto at = [](std::int64_t i, std::int64_t n) { return std::clamp<std::int64_t>(i, 0, n - 1); };
        float found = 0;
        std::memcpy(&found, bytes.data() + 4 * ((at(b, 12) * 16 + at(a, 16)) * 32 + at(z, 32)), 4);
        return static_cast<double>(found);
    };
    constexpr int bins = shared::plane_bins;
    std::vector<std::int64_t> expected(bins * bins);
    const auto bin = [](double at, const ValueRange& range) {
        return static_cast<std::size_t>(
            std::clamp(std::floor(bins * (at - range.low) / (range.high - range.low)), 0., bins - 1.));
    };
    for (std::int64_t b = 0; b < 12; ++b) {
        for (std::int64_t a = 0; a < 16; ++a) {
            for (std::int64_t z = 0; z < 32; ++z) {
                const double slope = std::hypot((voxel(z + 1, a, b) - voxel(z - 1, a, b)) / 2,
                                                (voxel(z, a + 1, b) - voxel(z, a - 1, b)) / 4,
                                                (voxel(z, a, b + 1) - voxel(z, a, b - 1)) / 6);
                ++expected[bin(slope, histogram->seconds) * bins + bin(voxel(z, a, b), histogram->values)];
            }
        }
    }
    std::int64_t elsewhere = 0, all = 0;
    for (std::size_t i = 0; i < expected.size(); ++i) {
        elsewhere += std::abs(histogram->counts[i] - expected[i]);
        all += histogram->counts[i];
    }
    EXPECT_EQ(all, grid.voxels());
    EXPECT_LE(elsewhere, 6) << "at the limits of bins";
    const std::uint64_t serial = histogram->serial;
    for (int i = 0; i < 100; ++i) EXPECT_EQ(renderer().plane_histogram(view_)->serial, serial) << "counted once";
}

// With live rings, only complete volumes are counted. A constant volume has no slope.
TEST_F(Planes2D, HistogramOfLiveRingUsesWholeVolumes) {
    const VolumeGrid grid = db_grid(16, 12, 10, VoxelType::u8);
    SlotRequest wanted{.grid = grid, .range = {0, 40}};
    SlotWriter& slots = *renderer().make_slots(wanted).writer;
    std::memset(slots.targets(0).structure.data, 77, index(grid.bytes()));
    show(dark({SecondAxis::gradient, 0, 30, {}}));
    std::uint64_t read = 0;
    const auto histogram_of = [&](const DisplayedSlots& now, int tries) {
        std::optional<PlaneHistogram> histogram;
        for (int i = 0; i < tries && !histogram; ++i) {
            histogram = with_next_signal(
                now, read, [&](const DisplayedSlots& shown) { return renderer().plane_histogram(view_, shown); });
        }
        return histogram;
    };
    slots.publish(0, 1, 0, 4);
    EXPECT_FALSE(histogram_of({DisplayedSlot{.slot = 0, .serial = 1, .filled_to = 4}, {}, 1, 0}, 20));
    EXPECT_EQ(read, 0u) << "nothing was begun";
    slots.publish(0, 2, 0, grid.b_scans);
    const auto histogram =
        histogram_of({DisplayedSlot{.slot = 0, .serial = 1, .filled_to = grid.b_scans}, {}, 2, 0}, 100000);
    ASSERT_TRUE(histogram);
    EXPECT_EQ(read, 1u);
    EXPECT_EQ(histogram->counts[77 * shared::plane_bins / 256], grid.voxels()) << "in the lowest row";
}

// ---- tables of widgets ----------------------------------------------------------------------------------------------

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
    View view = with(View{}, "low=100 high=500");
    view.transfer_curve = dark({SecondAxis::gradient, 0, 8, {box({10, 20}, {2, 6}, 1)}});
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
