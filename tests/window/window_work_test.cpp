// Flow, measurements, layers, the palette and the tour in the window. Results are checked in pixels, in the positions
// of controls and in the workspace.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <tuple>

#include "app/viewer/pane_view.h"
#include "app/viewer/view_source.h"
#include "compute/indexing.h"
#include "ui/window/panes.h"
#include "ui/workspace/actions.h"
#include "window_run.h"

namespace echolux::test {
namespace {

class WindowWork : public WindowRun {
  protected:
    ViewSource& view_source() { return *work().viewer().view_source(); }
    void open_ball(const std::string& name = "ball.nrrd") {
        work().open(write_ball(name));
        ASSERT_TRUE(turn_until([&] { return work().viewer().is_open() && view_source().name() == name; }));
        ASSERT_TRUE(settle());
    }
    std::string report_problem(const std::string& place) {
        const Notice* notice = work().notices().standing(place);
        return notice == nullptr ? "" : notice->line;
    }
    void open_capillary() {
        SourceRequest wanted;
        wanted.name = "sim:capillary";
        wanted.assignments = {"simulation.samples=512", "simulation.a_scans=48", "simulation.b_scans=8",
                              "simulation.volumes=1"};
        work().open_source(wanted);
        ASSERT_TRUE(turn_until([this] { return work().viewer().is_open() && view_source().flow_grid(); }, 2000))
            << report_problem("source");
    }
    // Counts pixels that are far from gray, as flow is.
    std::int64_t coloured(const Image& image, const Region& part) {
        std::int64_t count = 0;
        for (std::int64_t y = part.top; y < part.top + part.height; ++y) {
            for (std::int64_t x = part.left; x < part.left + part.width; ++x) {
                const auto* pixel = image.pixels.data() + 4 * (y * image.width + x);
                if (pixel[0] > pixel[2] + 40) ++count;
            }
        }
        return count;
    }
};

TEST_F(WindowWork, CapillaryOpensWithItsFlow) {
    open_window();
    ASSERT_NO_FATAL_FAILURE(open_capillary());
    ASSERT_TRUE(turn_until([this] { return view_source().flow_scale(work().view())->range < 5; }));
    ASSERT_TRUE(turn_until([this] { return window().place_of("flow.bar.3").has_value(); }));
    turns(10);
    EXPECT_EQ(view_source().flow_grid()->quantity, "doppler");
    EXPECT_LT(view_source().flow_scale(work().view())->range, 0.5 * view_source().flow_grid()->v_max);
    for (int pane = 0; pane < 4; ++pane) {
        EXPECT_TRUE(window().place_of("flow.bar." + std::to_string(pane)).has_value()) << pane;
    }
    EXPECT_TRUE(window().place_of("view.flow_range").has_value());
}

// The scenes of the start page have no repeats. Choosing a method scans again with those that it compares.
TEST_F(WindowWork, SlowFlowWorksAtOnceInScenes) {
    open_window();
    for (const auto& [method, a_repeats, b_repeats] : {std::tuple{"doppler", 4, 1}, {"speckle_variance", 1, 4}}) {
        SourceRequest wanted{
            .name = "sim:vessel",
            .assignments = {"simulation.samples=256", "simulation.a_scans=32", "simulation.b_scans=8"}};
        work().open_source(wanted, Replacing::at_once);
        ASSERT_TRUE(turn_until([this] {
            return work().viewer().is_open() && view_source().grid() && !view_source().flow_grid();
        })) << report_problem("source");
        work().change_together("view", {{"view.mode", std::string("composite")}});
        work().change_together("view", {{"flow.method", std::string(method)}, {"view.mode", std::string("mip")}});
        ASSERT_TRUE(turn_until([this] { return work().viewer().is_open() && view_source().flow_grid(); }))
            << report_problem("source") << report_problem("flow");
        const Scan& scan = *work().settings().scan();
        EXPECT_EQ(scan.geometry.a_repeats, a_repeats);
        EXPECT_EQ(scan.geometry.b_repeats, b_repeats);
        EXPECT_EQ(scan.geometry.a_scans, 32);
        EXPECT_EQ(work().view().mode, ViewMode::mip);
        EXPECT_EQ(report_problem("flow"), "");
    }
}

TEST_F(WindowWork, ShowsVelocityUnderPointer) {
    open_window();
    ASSERT_NO_FATAL_FAILURE(open_capillary());
    work().stop_source();
    ASSERT_TRUE(settle());
    move(middle_of(PaneKind::b_scan));
    ASSERT_TRUE(turn_until([this] { return window().place_of("read-out.velocity").has_value(); }, 200));
    const auto read_out = window().place_of("read-out.velocity"),
               bar = window().place_of(fmt::format("flow.bar.{}", static_cast<int>(PaneKind::b_scan)));
    ASSERT_TRUE(bar.has_value());
    EXPECT_LE((*read_out)[2], (*bar)[0]) << "it covers the colour bar";
    move({2, 2});
    turns(5);
    EXPECT_FALSE(window().place_of("read-out.velocity").has_value());
}

// A range of v_max used to make all flow disappear.
TEST_F(WindowWork, SlowWideRangeKeepsFlowVisible) {
    open_window();
    work().change("window.cross_hair", false);
    ASSERT_NO_FATAL_FAILURE(open_capillary());
    ASSERT_TRUE(turn_until([this] { return view_source().flow_scale(work().view())->range < 5; }));
    work().change("view.flow_range", view_source().flow_grid()->v_max);
    const double threshold = view_source().flow_scale(work().view())->threshold;
    EXPECT_LT(threshold, 0.5);
    work().stop_source();
    ASSERT_TRUE(settle());
    const Image shown = picture();
    work().change("view.flow_shown", std::string("hidden"));
    ASSERT_TRUE(settle());
    EXPECT_GT(difference(shown, picture(), part(PaneKind::b_scan)), 3);
    EXPECT_FALSE(window().place_of("flow.bar.1").has_value());
}

TEST_F(WindowWork, LayersAreHiddenAndMoved) {
    options_.assignments = {"window.open_panels=layers"};
    open_window();
    ASSERT_NO_FATAL_FAILURE(open_capillary());
    turns(10);
    ASSERT_TRUE(window().place_of("layers.flow").has_value());
    EXPECT_LT((*window().place_of("layers.flow"))[1], (*window().place_of("layers.volume"))[1]);
    click(middle_of("layers.flow.move"));
    EXPECT_EQ(work().view().flow_shown, FlowDisplay::under);
    turns(5);
    EXPECT_GT((*window().place_of("layers.flow"))[1], (*window().place_of("layers.volume"))[1]);
    const auto place = *window().place_of("layers.flow");
    click({place[0] + 8.0, 0.5 * static_cast<double>(place[1] + place[3])});
    EXPECT_EQ(work().view().flow_shown, FlowDisplay::hidden);
    work().undo();
    EXPECT_EQ(work().view().flow_shown, FlowDisplay::under);
}

TEST_F(WindowWork, DrawsDistanceAtMeasuredPosition) {
    open_window();
    ASSERT_NO_FATAL_FAILURE(open_ball());
    work().change("window.cross_hair", false);
    work().change("view.scale_bar", false);
    settle();
    const Image before = picture();
    press("Ctrl+K");
    type("distance");
    press("Enter");
    const Pixel middle = middle_of(PaneKind::b_scan);
    for (const double by : {-30.0, 30.0}) {
        move({middle.x + by, middle.y + 10});
        turn_until([] { return false; }, 30);  // until the value there is known
        click({middle.x + by, middle.y + 10});
    }
    ASSERT_EQ(work().view().distances.size(), 6u);
    press("Esc");
    move({2, 2});
    ASSERT_TRUE(settle());
    EXPECT_GT(difference(before, picture(), part(PaneKind::b_scan)), 0.05);
    EXPECT_GT(difference(before, picture(), part(PaneKind::volume)), 0.02);
    EXPECT_LT(difference(before, picture(), part(PaneKind::en_face)), 0.02);  // the distance is in another plane
    for (int i = 0; i < 5; ++i) press("Up");
    ASSERT_TRUE(settle());
    const Image elsewhere = picture();
    work().change("view.distances", std::vector<double>{});
    ASSERT_TRUE(settle());
    EXPECT_EQ(difference(elsewhere, picture(), part(PaneKind::b_scan)), 0);
}

TEST_F(WindowWork, UnfinishedToolEndsWhenOtherFileOpens) {
    open_window();
    ASSERT_NO_FATAL_FAILURE(open_ball());
    press("Shift+D");
    turns(3);
    ASSERT_TRUE(work().actions().find("measure.distance")->is_on());
    open_ball("other.nrrd");
    EXPECT_FALSE(work().actions().find("measure.distance")->is_on());
}

TEST_F(WindowWork, ProfileAlongLineIsPlotted) {
    options_.assignments = {"window.open_panels=measure"};
    open_window();
    ASSERT_NO_FATAL_FAILURE(open_ball());
    press("Shift+P");
    const Pixel middle = middle_of(PaneKind::b_scan);
    for (const double by : {-25.0, 25.0}) {
        move({middle.x + by, middle.y});
        turn_until([] { return false; }, 30);
        click({middle.x + by, middle.y});
    }
    EXPECT_TRUE(turn_until([this] { return window().place_of("measure.profile.plot").has_value(); }, 500));
    open_ball("other.nrrd");
    turns(5);
    EXPECT_FALSE(window().place_of("measure.profile.plot").has_value());
}

TEST_F(WindowWork, ProbesKeepTheirPositions) {
    options_.assignments = {"window.open_panels=measure"};
    open_window();
    ASSERT_NO_FATAL_FAILURE(open_ball());
    press("Shift+V");
    move(middle_of(PaneKind::b_scan));
    turn_until([] { return false; }, 30);
    click(middle_of(PaneKind::b_scan));
    turns(5);
    ASSERT_TRUE(window().place_of("measure.probes.remove[0]").has_value());
    click(middle_of("measure.probes.remove[0]"));
    turns(3);
    EXPECT_FALSE(window().place_of("measure.probes.remove[0]").has_value());
}

// Search terms that people type, and the first result for Enter.
TEST_F(WindowWork, SlowPaletteFindsByWordsPeopleUse) {
    open_window();
    ASSERT_NO_FATAL_FAILURE(open_capillary());
    turns(5);
    const std::vector<std::pair<const char*, const char*>> words{{"flow", "panel.flow"},
                                                                 {"doppler", "panel.flow"},
                                                                 {"octa", "panel.flow"},
                                                                 {"distance", "measure.distance"},
                                                                 {"measure", "measure.distance"},
                                                                 {"angle", "measure.angle"},
                                                                 {"record", "source.record"},
                                                                 {"colour map", "view.colour_map"},
                                                                 {"color bar", "view.colour_bar"},
                                                                 {"brightness", "view.choose_range"},
                                                                 {"contrast curve", "panel.transfer"},
                                                                 {"screenshot", "file.screenshot"},
                                                                 {"plugin", "source.plugin"},
                                                                 {"flow range", "view.flow_range"},
                                                                 {"octa method", "flow.method"}};
    for (const auto& [word, id] : words) {
        press("Ctrl+K");
        type(word);
        turns(3);
        EXPECT_TRUE(window().place_of("palette.enter=" + std::string(id)).has_value()) << word;
        press("Esc");
    }
}

TEST_F(WindowWork, EnterRunsSelectedActionAndIgnoresScatteredLetters) {
    open_window();
    ASSERT_NO_FATAL_FAILURE(open_ball());
    const auto layout = work().settings().window().layout;
    press("Ctrl+K");
    type("sctonly");  // "SeCTions ONLY"
    press("Enter");
    EXPECT_EQ(work().settings().window().layout, layout);
    EXPECT_TRUE(window().place_of("palette.typed").has_value());
    press("Esc");
    press("Ctrl+K");
    type("opacity length");
    press("Enter");
    turns(3);
    EXPECT_TRUE(window().place_of("view.opacity_length_um").has_value());  // the control itself, in the palette
    click(middle_of("palette.done"));
    EXPECT_FALSE(window().place_of("palette.done").has_value());
}

// Enter must show the panel that was searched for instead of folding it.
TEST_F(WindowWork, SlowPaletteShowsPanelInsteadOfFoldingIt) {
    open_window();
    ASSERT_NO_FATAL_FAILURE(open_capillary());
    turns(5);
    for (int i = 0; i < 2; ++i) {
        press("Ctrl+K");
        type("doppler");
        turns(3);
        ASSERT_TRUE(window().place_of("palette.enter=panel.flow").has_value());
        press("Enter");
        turns(3);
        EXPECT_TRUE(window().place_of("flow.method").has_value()) << i;
        EXPECT_FALSE(window().place_of("palette.typed").has_value());
    }
}

// The controls of the flow display used to appear with the first flow, and moved the method under the pointer.
TEST_F(WindowWork, SlowFlowPanelIsCompleteAtOnce) {
    open_window();
    SourceRequest wanted;
    wanted.name = "sim:capillary";
    wanted.assignments = {"simulation.samples=512", "simulation.a_scans=48",        "simulation.b_scans=8",
                          "simulation.volumes=1",   "simulation.line_rate_hz=1000", "flow.method=none"};
    work().open_source(wanted);
    ASSERT_TRUE(turn_until([this] { return work().viewer().is_open() && view_source().grid(); }))
        << report_problem("source");
    turns(5);
    EXPECT_FALSE(window().place_of("view.flow_shown").has_value());
    work().change("flow.method", std::string("doppler"));
    move({5, 5});  // draws the next pictures even without flow
    const auto before = window().place_of("view.flow_shown"), method = window().place_of("flow.method");
    ASSERT_TRUE(before.has_value() && method.has_value());
    ASSERT_TRUE(turn_until([this] { return view_source().flow_grid() && view_source().flow_scale(work().view()); }));
    turns(3);
    EXPECT_EQ(window().place_of("view.flow_shown"), before);
    EXPECT_EQ(window().place_of("flow.method"), method);
}

TEST_F(WindowWork, ToolShowsHintWithoutItsPanel) {
    open_window();
    ASSERT_NO_FATAL_FAILURE(open_ball());
    EXPECT_FALSE(window().place_of("measure.hint").has_value());
    for (const char* key : {"Shift+D", "Shift+A", "Shift+V", "Shift+P"}) {
        press(key);
        EXPECT_TRUE(window().place_of("measure.hint").has_value()) << key;
    }
    press("Esc");
    EXPECT_FALSE(window().place_of("measure.hint").has_value());
}

TEST_F(WindowWork, NoTooltipLiesOverDialog) {
    open_window(1280, 3000);
    ASSERT_NO_FATAL_FAILURE(open_ball());
    move(middle_of("view.opacity"));
    ASSERT_TRUE(turn_until([this] { return window().place_of("tooltip").has_value(); }, 500));
    for (const char* dialog : {"Ctrl+K", "Ctrl+O", "?"}) {
        press(dialog);
        for (int i = 0; i < 60; ++i) {
            turns(1);
            if (i < 2) continue;  // the dialog is still opening
            ASSERT_FALSE(window().place_of("tooltip").has_value()) << dialog;
        }
        press("Esc");
        turns(3);
    }
}

TEST_F(WindowWork, EnterAdvancesTour) {
    open_window();
    ASSERT_NO_FATAL_FAILURE(open_ball());
    work().actions().run("window.tour");
    move({5, 5});
    turns(3);
    for (int hint = 0; hint < 5; ++hint) {
        EXPECT_TRUE(window().place_of("tour.next").has_value()) << hint;
        press("Enter");
    }
    EXPECT_FALSE(window().place_of("tour.next").has_value());
}

TEST_F(WindowWork, TourPointsAtVisibleParts) {
    open_window();
    ASSERT_NO_FATAL_FAILURE(open_ball());
    work().actions().run("window.tour");
    move({5, 5});
    turns(3);
    for (int hint = 0; hint < 5; ++hint) {
        EXPECT_TRUE(window().place_of("tour.about").has_value()) << hint;
        click(middle_of("tour.next"));
    }
    EXPECT_FALSE(window().place_of("tour.next").has_value());
}

// Dark letters on a dark background used to be unreadable.
TEST_F(WindowWork, HoveredPrimaryButtonStaysReadable) {
    open_window();
    work().actions().run("window.tour");
    move({5, 5});
    turns(3);
    move(middle_of("tour.next"));
    turns(5);
    const auto place = *window().place_of("tour.next");
    const Image shown = picture();
    const auto at = [&](float x, float y) {
        return shown.pixels[index(4 * (static_cast<std::int64_t>(y) * shown.width + static_cast<std::int64_t>(x)) + 2)];
    };
    EXPECT_GT(at(place[0] + 6, place[1] + 6), 150) << "blue of its ground";
}

TEST_F(WindowWork, PluginOpensFromWindow) {
    open_window();
    click(middle_of("start.plugin"));
    std::ofstream(folder() / "no_plugin.so") << "nothing";
    type((folder() / "no_plugin.so").string());
    press("Enter");
    EXPECT_TRUE(turn_until([this] { return !report_problem("source").empty(); }, 500));
    EXPECT_NE(report_problem("source").find("no_plugin.so"), std::string::npos) << report_problem("source");
}

TEST(PaneLetters, ShowOrientationOfPatient) {
    VolumeGrid grid{.depth = 10, .a_scans = 20, .b_scans = 30, .spacing_um = {1000, 1000, 1000}};
    const auto letters = [&grid](PaneKind kind, const std::string& orientation) {
        const SideLetters sides = letters_of(pane_view(View{}, {kind, 300, 200, {}, {}, 10, 13}), grid, orientation);
        return sides.left + sides.right + sides.top + sides.bottom;
    };
    // The convention of radiology: seen from the feet, right is on the left.
    EXPECT_EQ(letters(PaneKind::b_scan, "PLS"), "RLAP");
    EXPECT_EQ(letters(PaneKind::en_face, "PLS"), "RLSI");
    EXPECT_EQ(letters(PaneKind::side, "PLS"), "ISAP");
    EXPECT_EQ(letters(PaneKind::b_scan, ""), "");
    EXPECT_EQ(title_of(PaneKind::b_scan, grid, {}, "PLS").name, "Axial");
    EXPECT_EQ(title_of(PaneKind::en_face, grid, {}, "PLS").name, "Coronal");
    EXPECT_EQ(title_of(PaneKind::side, grid, {}, "PLS").name, "Sagittal");
    EXPECT_EQ(title_of(PaneKind::b_scan, grid, {}).name, "B-scan");
    EXPECT_EQ(title_of(PaneKind::b_scan, grid, {0, 0, -1e9}).index, "1 / 30");
    EXPECT_EQ(title_of(PaneKind::b_scan, grid, {0, 0, 1e9}).index, "30 / 30");
}

}  // namespace
}  // namespace echolux::test
