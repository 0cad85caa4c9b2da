// Editing the second axis of a transfer function in a window, and the plain functions behind its widgets.
// ECHOLUX_PICTURES=FOLDER writes pictures for inspection.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>

#include "app/open/show_opened.h"
#include "compute/plan/describe.h"
#include "engine/io/png_file.h"
#include "ui/panels/curve_editor.h"
#include "ui/panels/plane_editor.h"
#include "window_run.h"

namespace echolux::test {
namespace {

TransferFunction editable_function() {
    TransferFunction function{.nodes = {{0, 0, 0, 0, 0}, {40, 1, 1, 1, 0}},
                              .range = {0, 40},
                              .plane = TransferPlane{SecondAxis::gradient, 0, 8, {}}};
    return function;
}

TEST(PlaneEditing, HandlesKeepTheirSideAndWidgetsTheirSize) {
    const ValueRange values{0, 40};
    TransferPlane plane = with_widget(*editable_function().plane, WidgetShape::box, values, {});
    const std::vector<PlanePoint> corners = handles_of(plane.widgets[0]);
    ASSERT_EQ(corners.size(), 4u);
    plane = with_handle_moved(plane, {0, 3}, values, {36, 7});
    EXPECT_EQ(plane.widgets[0].points[1], (PlanePoint{36, 7}));
    EXPECT_EQ(plane.widgets[0].points[0], corners[0]);
    plane = with_handle_moved(plane, {0, 0}, values, {50, 9});
    EXPECT_LT(plane.widgets[0].points[0].value, 36);
    EXPECT_LT(plane.widgets[0].points[0].second, 7);
    const TransferPlane moved = with_widget_moved(plane, 0, {-3, 1});
    EXPECT_DOUBLE_EQ(moved.widgets[0].points[1].value, 33);
    EXPECT_DOUBLE_EQ(moved.widgets[0].points[1].second, 8);
    plane = with_widget(plane, WidgetShape::arc, values, {});
    plane = with_handle_moved(plane, {1, 2}, values, {0, 3});
    EXPECT_EQ(handles_of(plane.widgets[1])[2].second, 3);
    EXPECT_EQ(with_widget_moved(plane, 1, {2, 5}).widgets[1].points[0].second, 3) << "arcs stand on their feet";
    EXPECT_EQ(without_widget(plane, 0).widgets.size(), 1u);
}

TEST(PlaneEditing, HandlesOfSelectedWidgetHavePrecedence) {
    TransferFunction function = editable_function();
    const ValueRange values{0, 40};
    function.plane = with_widget(*function.plane, WidgetShape::box, values, {});
    function.plane = with_widget(*function.plane, WidgetShape::box, values, {});
    const PlaneScale scale{10, 20};
    const PlanePoint corner = function.plane->widgets[0].points[0];
    EXPECT_EQ(widget_under(function, {22, 4}, scale, 9, 0), (WidgetHold{1, {}})) << "the last one lies on top";
    EXPECT_EQ(widget_under(function, {corner.value - 0.5, corner.second}, scale, 9, 0), (WidgetHold{0, 0}));
    EXPECT_FALSE(widget_under(function, {corner.value - 0.5, corner.second}, scale, 9, {}));
    EXPECT_FALSE(widget_under(function, {1, 1}, scale, 9, 0));
}

TEST(PlaneEditing, AnotherAxisKeepsWidgetsInTheirPlace) {
    VolumeGrid grid{.depth = 10, .a_scans = 10, .b_scans = 10, .spacing_um = {2, 2, 2}};
    TransferFunction function = editable_function();
    function.plane = with_widget(*function.plane, WidgetShape::box, {0, 40}, {});
    const TransferPlane bent = with_second_axis(*function.plane, SecondAxis::curvature, function, grid);
    EXPECT_DOUBLE_EQ(bent.from, -0.25);
    EXPECT_DOUBLE_EQ(bent.to, 0.25);
    EXPECT_DOUBLE_EQ(bent.widgets[0].points[0].second, -0.25 + 0.5 * 0.3);
    EXPECT_DOUBLE_EQ(with_second_axis(*function.plane, SecondAxis::distance, function, grid).to, 20);
}

TEST(CurveRoughness, IsSetPerPointAndInterpolated) {
    TransferCurve curve{.nodes = {{0, 0, 0, 0, 0}, {20, 0.5, 0.5, 0.5, 5}, {40, 1, 1, 1, 9}}};
    curve = with_roughness(curve, 2, 0.01, 0.5);
    EXPECT_EQ(curve.nodes[0].roughness, 0.5);
    EXPECT_EQ(curve.nodes[2].roughness, 0.05) << "as rough as there is at least";
    const PointAdded added = with_point(curve, 30);
    EXPECT_DOUBLE_EQ(added.curve.nodes[added.point].roughness, 0.275);
    EXPECT_EQ(with_colour(curve, 1, {1, 0, 0}).nodes[1].roughness, 0.5);
}

class PlanePanel : public WindowRun {
  protected:
    void open_editor() {
        options_.assignments = {"window.open_panels=transfer", "view.step=2", "view.rest_samples=1"};
        open_window(1280, 1100);
        work().open(write_ball("ball.nrrd"));
        ASSERT_TRUE(turn_until([this] { return work().viewer().is_open() && work().viewer().view_source()->grid(); }));
        ASSERT_TRUE(settle());
        click(middle_of("section.Second axis"));
        turns(3);
        click(middle_of("transfer.plane.add"));
        turns(3);
        ASSERT_TRUE(
            turn_until([this] { return work().viewer().view_source()->plane_histogram(work().view()).has_value(); }));
        ASSERT_TRUE(settle());
    }
    const TransferPlane& plane() { return *work().view().transfer_curve->plane; }

    // Converts a position in the plane's picture, as fractions of its width from the left and of its height from below.
    Pixel in_plane(double across, double up) {
        const auto place = window().place_of("transfer.plane");
        EXPECT_TRUE(place.has_value());
        const auto& [left, top, right, bottom] = *place;
        return {std::lerp(double{left}, double{right}, across), std::lerp(double{bottom}, double{top}, up)};
    }
    void keep(const std::string& name) {
        ASSERT_TRUE(settle());
        if (const char* pictures = std::getenv("ECHOLUX_PICTURES"))
            write_png(std::filesystem::path(pictures) / ("plane-" + name + ".png"), picture_of(picture()));
    }
};

TEST_F(PlanePanel, SlowWidgetsAreAddedDraggedPaintedRemovedAndUndone) {
    ASSERT_NO_FATAL_FAILURE(open_editor());
    EXPECT_TRUE(plane().widgets.empty());
    click(middle_of("transfer.plane.box"));
    ASSERT_EQ(plane().widgets.size(), 1u);
    const Image with_box = (settle(), picture());
    const TransferPlane added = plane();

    drag(in_plane(0.55, 0.5), in_plane(0.35, 0.6));  // moves the whole shape
    const ValueRange range = work().viewer().renderer().transfer_function(work().view()).range;
    const double span = range.high - range.low;
    EXPECT_NEAR(plane().widgets[0].points[0].value, added.widgets[0].points[0].value - 0.2 * span, 0.02 * span);
    EXPECT_GT(plane().widgets[0].points[0].second, added.widgets[0].points[0].second);
    drag(in_plane(0.5, 0.8), in_plane(0.9, 0.9));  // moves its upper right corner
    const TransferPlane stretched = plane();
    EXPECT_GT(stretched.widgets[0].points[1].value, added.widgets[0].points[1].value);
    ASSERT_TRUE(settle());
    EXPECT_GT(difference(with_box, picture(), part(PaneKind::volume)), 0.1) << "it is seen";
    press("Ctrl+Z");
    press("Ctrl+Z");
    EXPECT_EQ(plane(), added) << "a step each";
    press("Ctrl+Y");
    press("Ctrl+Y");
    EXPECT_EQ(plane(), stretched);

    click(middle_of("transfer.plane.arc"));
    ASSERT_EQ(plane().widgets.size(), 2u);
    EXPECT_EQ(plane().widgets[1].shape, WidgetShape::arc);
    click(middle_of("transfer.plane.brush"));
    drag(in_plane(0.1, 0.9), in_plane(0.3, 0.95));
    ASSERT_EQ(plane().widgets.size(), 3u);
    EXPECT_GE(plane().widgets[2].points.size(), 2u);
    keep("widgets");
    const std::size_t all = plane().widgets.size();
    click(in_plane(0.2, 0.925), 1);
    EXPECT_EQ(plane().widgets.size(), all - 1) << "a right click takes the stroke away";
    press("Ctrl+Z");
    EXPECT_EQ(plane().widgets.size(), all);
    press("Ctrl+Z");
    EXPECT_EQ(plane().widgets.size(), all - 1) << "a stroke is one step";
}

TEST_F(PlanePanel, SecondAxisIsChosenAndItsEndIsTyped) {
    ASSERT_NO_FATAL_FAILURE(open_editor());
    EXPECT_EQ(plane().second, SecondAxis::gradient);
    click(middle_of("transfer.plane.curvature"));
    EXPECT_EQ(plane().second, SecondAxis::curvature);
    EXPECT_LT(plane().from, 0);
    double_click(middle_of("transfer.plane.to"));
    type("0.125");
    press("Enter");
    EXPECT_DOUBLE_EQ(plane().to, 0.125);
    press("Ctrl+Z");
    press("Ctrl+Z");
    EXPECT_EQ(plane().second, SecondAxis::gradient);
    click(middle_of("transfer.plane.distance"));
    EXPECT_EQ(plane().second, SecondAxis::gradient) << "there is no surface";
}

}  // namespace
}  // namespace echolux::test
