// Layout of the window's parts at many sizes and scales: inside the window, without overlap, large enough to work in.
#include "ui/window/layout.h"

#include <gtest/gtest.h>

#include "compute/plan/describe.h"
#include "ui/window/panes.h"

namespace echolux {
namespace {

bool overlap(const Region& a, const Region& b) {
    return a.left < b.left + b.width && b.left < a.left + a.width && a.top < b.top + b.height &&
           b.top < a.top + a.height;
}

bool is_inside(const Region& inner, const Region& outer) {
    return inner.left >= outer.left && inner.top >= outer.top && inner.left + inner.width <= outer.left + outer.width &&
           inner.top + inner.height <= outer.top + outer.height;
}

struct Size {
    std::int64_t width, height;
    double scale;
};

class WindowLayout : public testing::TestWithParam<Size> {};

INSTANTIATE_TEST_SUITE_P(Sizes, WindowLayout,
                         testing::Values(Size{1024, 700, 1}, Size{1280, 800, 1}, Size{1920, 1080, 1.25},
                                         Size{3840, 2160, 2}, Size{2048, 1400, 2}, Size{640, 400, 1}));

TEST_P(WindowLayout, PartsDoNotOverlap) {
    const auto [width, height, scale] = GetParam();
    const WindowPlan plan = plan_window(WindowSettings{}, {width, height, scale, true, 90});
    const std::vector<Region> parts{plan.top, plan.left, plan.right, plan.centre, plan.bottom, plan.status};
    for (std::size_t i = 0; i < parts.size(); ++i) {
        EXPECT_TRUE(is_inside(parts[i], {0, 0, width, height})) << i;
        for (std::size_t j = 0; j < i; ++j) EXPECT_FALSE(overlap(parts[i], parts[j])) << i << " " << j;
    }
}

TEST_P(WindowLayout, PanesFillCentre) {
    const auto [width, height, scale] = GetParam();
    const WindowPlan plan = plan_window(WindowSettings{}, {width, height, scale, true, 90});
    for (const PaneLayout layout : {PaneLayout::volume, PaneLayout::volume_and_sections, PaneLayout::sections}) {
        const PanePlan panes = plan_panes(plan.centre, layout, {0.62, 0.5}, scale);
        double area = 0;
        for (std::size_t i = 0; i < panes.panes.size(); ++i) {
            const Region& place = panes.panes[i].place;
            EXPECT_TRUE(is_inside(place, plan.centre));
            area += static_cast<double>(place.width) * static_cast<double>(place.height);
            for (std::size_t j = 0; j < i; ++j) EXPECT_FALSE(overlap(place, panes.panes[j].place));
        }
        EXPECT_GT(area, 0.95 * static_cast<double>(plan.centre.width) * static_cast<double>(plan.centre.height));
    }
}

TEST(LayoutAt1024x700, LeavesRoomForPictures) {
    const WindowPlan plan = plan_window(WindowSettings{}, {1024, 700, 1, true, 90});
    EXPECT_GE(plan.centre.width, 440);
    for (const PaneArea& pane : plan_panes(plan.centre, PaneLayout::volume_and_sections, {0.62, 0.5}, 1).panes) {
        EXPECT_GE(pane.place.width, 140);
        EXPECT_GE(pane.place.height, 140);
    }
}

// The left panels are folded first, then the right ones.
TEST(LayoutOfSmallWindows, LeavesMostOfRoomToPictures) {
    for (const auto& [width, height] : {std::pair{640, 480}, {800, 600}, {480, 400}, {320, 240}}) {
        const WindowPlan plan = plan_window(WindowSettings{}, {width, height, 1, true, 90});
        EXPECT_GT(plan.centre.width, width / 2 - 1) << width;
        EXPECT_GT(plan.centre.height, height / 3) << height;
    }
    EXPECT_GT(plan_window(WindowSettings{}, {640, 480, 1, true, 90}).right.width, 0);
    EXPECT_EQ(plan_window(WindowSettings{}, {640, 480, 1, true, 90}).left.width, 0);
    EXPECT_GT(plan_window(WindowSettings{}, {1280, 800, 1, true, 90}).left.width, 0);
    WindowSettings left;
    left.right_panels = false;
    EXPECT_GT(plan_window(left, {640, 480, 1, true, 90}).left.width, 0);
}

TEST(LayoutOfFoldedSides, GivesRoomToCentre) {
    WindowSettings settings;
    settings.left_panels = settings.right_panels = false;
    const WindowPlan plan = plan_window(settings, {1280, 800, 1, true, 0});
    EXPECT_EQ(plan.centre.left, 0);
    EXPECT_EQ(plan.centre.width, 1280);
}

TEST(PaneInput, FollowsSlicerOrParaView) {
    EXPECT_EQ(drag_in_volume({0, false, false}, true), Drag::rotate);
    EXPECT_EQ(drag_in_volume({0, false, false}, false), Drag::rotate);
    EXPECT_EQ(drag_in_volume({0, true, false}, true), Drag::pan);
    EXPECT_EQ(drag_in_volume({0, true, false}, false), Drag::roll);
    EXPECT_EQ(drag_in_volume({0, false, true}, true), Drag::roll);
    EXPECT_EQ(drag_in_volume({0, false, true}, false), Drag::zoom);
    EXPECT_EQ(drag_in_volume({2, false, false}, true), Drag::pan);
    EXPECT_EQ(drag_in_volume({1, false, false}, true), Drag::zoom);
    EXPECT_EQ(drag_in_section({0, false, false}), Drag::cross);
    EXPECT_EQ(drag_in_section({1, false, false}), Drag::values);
    EXPECT_EQ(drag_in_section({2, false, false}), Drag::pan);
}

TEST(PaneInput, ValuesWidenToRightAndBrightenUpwards) {
    const ValueRange range{10, 30};
    const ValueRange wider = values_dragged(range, {40, 0}, 200);
    EXPECT_LT(wider.low, 10);
    EXPECT_GT(wider.high, 30);
    EXPECT_NEAR(0.5 * (wider.low + wider.high), 20, 1e-9);
    const ValueRange brighter = values_dragged(range, {0, -40}, 200);  // lower values become white
    EXPECT_LT(brighter.high, 30);
    EXPECT_NEAR(brighter.high - brighter.low, 20, 1e-9);
}

// A quarter turn clockwise around the centre of the picture, from the right to below.
TEST(PaneInput, RollTurnsPicture) {
    View view;
    view.width = view.height = 200;
    const View turned = dragged(view, Drag::roll, {-50, 50}, {0, 50}, {1, 1, 1});
    EXPECT_NEAR(turned.roll_deg, 90, 1e-9);
    EXPECT_EQ(turned.azimuth_deg, view.azimuth_deg);
}

TEST(PaneInput, ZoomUpwardsEnlarges) {
    View view;
    const View nearer = dragged(view, Drag::zoom, {0, -20}, {0, 0}, {100, 100, 100});
    EXPECT_LT(nearer.distance, view.distance);
    EXPECT_GT(zoom_factor(-20), 1);
}

}  // namespace
}  // namespace echolux
