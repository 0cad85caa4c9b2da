// Typical work in the window, with injected input and no screen: from the start page to pictures, panes, keys and
// dialogs. Results are checked in pixels and in the workspace, never by elapsed time.
#include "ui/window/window.h"

#include <algorithm>
#include <cmath>

#include "app/viewer/view_source.h"
#include "engine/io/png_file.h"
#include "engine/io/volume_file.h"
#include "raw_spectra.h"
#include "tests/support/volumes.h"
#include "ui/workspace/exporting.h"
#include "ui/workspace/raw_proposal.h"
#include "window_run.h"

namespace echolux::test {
namespace {

class WindowTest : public WindowRun {
  protected:
    void open_ball() {
        work().open(write_ball("ball.nrrd"));
        ASSERT_TRUE(turn_until([this] { return work().viewer().is_open(); }));
        ASSERT_TRUE(settle());
    }
    ViewSource& view_source() { return *work().viewer().view_source(); }
    std::array<double, 3> cross() { return work().cross_um(); }
};

TEST_F(WindowTest, SlowStartPageLeadsToLivePicture) {
    open_window();
    const Image before = picture();
    click(middle_of("start.sim.layers"));
    ASSERT_TRUE(turn_until([this] { return work().viewer().is_open() && view_source().grid().has_value(); }));
    ASSERT_NE(view_source().live(), nullptr);
    EXPECT_TRUE(view_source().live()->is_running());
    ASSERT_TRUE(turn_until([this] { return view_source().live()->stats().finished_volumes > 1; }));
    turns(5);
    EXPECT_GT(difference(before, picture(), part(PaneKind::volume)), 1);
}

TEST_F(WindowTest, FilesOpenByDropAndFromDialog) {
    open_window();
    const std::filesystem::path path = write_ball("dropped.nrrd");
    native().push(FilesDropped{{path}});
    ASSERT_TRUE(turn_until([this] { return work().viewer().is_open(); }));
    EXPECT_EQ(view_source().name(), "dropped.nrrd");

    write_ball("typed.nii");
    press("Ctrl+O");
    type((folder() / "typed.nii").string());
    press("Enter");
    EXPECT_TRUE(turn_until([this] { return work().viewer().is_open() && view_source().name() == "typed.nii"; }));
}

TEST_F(WindowTest, FindsFilesByPartOfName) {
    open_window();
    write_ball("first.nrrd");
    write_ball("second.nrrd");
    press("Ctrl+O");
    type(folder().path().string() + "/");
    press("Enter");  // enters the folder
    ASSERT_TRUE(turn_until([this] { return window().place_of("file.second.nrrd").has_value(); }));
    turns(5);
    type("sec");
    EXPECT_FALSE(window().place_of("file.first.nrrd").has_value());
    press("Enter");
    ASSERT_TRUE(turn_until([this] { return work().viewer().is_open(); }));
    EXPECT_EQ(view_source().name(), "second.nrrd");
}

TEST_F(WindowTest, DraggingTurnsVolume) {
    open_window();
    open_ball();
    const Image before = picture();
    const double azimuth = work().view().azimuth_deg;
    const Pixel middle = middle_of(PaneKind::volume);
    drag(middle, {middle.x + 60, middle.y + 10});
    EXPECT_GT(std::abs(work().view().azimuth_deg - azimuth), 5);
    ASSERT_TRUE(settle());
    EXPECT_GT(difference(before, picture(), part(PaneKind::volume)), 0.5);
    ASSERT_TRUE(work().history().can_undo());
    work().undo();
    EXPECT_NEAR(work().view().azimuth_deg, azimuth, 1e-9);
}

// The whole drag happens between two pictures.
TEST_F(WindowTest, QuickDragIsNotLost) {
    open_window();
    open_ball();
    const double azimuth = work().view().azimuth_deg;
    const Pixel middle = middle_of(PaneKind::volume);
    native().push(PointerMoved{middle.x, middle.y});
    native().push(PointerButton{0, true});
    native().push(PointerMoved{middle.x + 60, middle.y});
    native().push(PointerButton{0, false});
    turns(8);
    EXPECT_GT(std::abs(work().view().azimuth_deg - azimuth), 5);
}

TEST_F(WindowTest, WheelZoomsVolumeAndStepsSlices) {
    open_window();
    open_ball();
    const double distance = work().view().distance;
    scroll(middle_of(PaneKind::volume), 2);
    EXPECT_LT(work().view().distance, distance);
    const double before = cross()[2];
    scroll(middle_of(PaneKind::b_scan), 1);
    EXPECT_NEAR(cross()[2] - before, 10, 1e-9);  // moved by one B-scan
}

TEST_F(WindowTest, DraggedCrossHairMovesOtherSections) {
    open_window();
    open_ball();
    const Image before = picture();
    const Pixel middle = middle_of(PaneKind::b_scan);
    drag(middle, {middle.x + 30, middle.y + 20});
    EXPECT_GT(cross()[1], 5);
    EXPECT_GT(cross()[0], 5);
    EXPECT_EQ(cross()[2], 0);
    ASSERT_TRUE(settle());
    EXPECT_GT(difference(before, picture(), part(PaneKind::en_face)), 0.5);
    EXPECT_GT(difference(before, picture(), part(PaneKind::side)), 0.5);
}

// The volume keeps its curve unless both are linked.
TEST_F(WindowTest, RightDragInSectionChangesValuesOfSections) {
    open_window();
    open_ball();
    const Image before = picture();
    const Pixel middle = middle_of(PaneKind::b_scan);
    drag(middle, {middle.x, middle.y - 40}, 1);
    ASSERT_TRUE(settle());
    EXPECT_EQ(work().view().low, lowest_value);
    EXPECT_GT(work().settings().window().section_low, lowest_value);
    EXPECT_GT(difference(before, picture(), part(PaneKind::b_scan)), 2);
    EXPECT_GT(difference(before, picture(), part(PaneKind::en_face)), 2);
    EXPECT_LT(difference(before, picture(), part(PaneKind::volume)), 0.5);
    work().undo();
    EXPECT_EQ(work().settings().window().section_low, lowest_value);

    work().change("window.link_levels", true);
    drag(middle, {middle.x, middle.y - 40}, 1);
    EXPECT_GT(work().view().low, lowest_value);
    EXPECT_EQ(work().settings().window().section_low, lowest_value);
    work().open(write_ball("other.nrrd"));
    ASSERT_TRUE(turn_until([this] { return view_source().name() == "other.nrrd"; }));
    EXPECT_EQ(work().settings().window().section_low, lowest_value);
}

// Thin sections show voxels even if the volume shows maxima.
TEST_F(WindowTest, ProjectionsOfVolumeKeepSectionsBright) {
    open_window();
    open_ball();
    const Image before = picture();
    for (const char* mode : {"mip", "average", "attenuated-mip", "isosurface", "depth-mip"}) {
        work().change("view.mode", std::string(mode));
        ASSERT_TRUE(settle());
        EXPECT_EQ(difference(before, picture(), part(PaneKind::b_scan)), 0) << mode;
    }
}

TEST_F(WindowTest, DoubleClickMaximizesPaneAndEscRestoresOthers) {
    open_window();
    open_ball();
    const Region before = part(PaneKind::en_face);
    double_click(middle_of(PaneKind::en_face));
    EXPECT_GT(part(PaneKind::en_face).width, 2 * before.width);
    EXPECT_FALSE(window().place_of(PaneKind::volume).has_value());
    press("Esc");
    EXPECT_EQ(part(PaneKind::en_face).width, before.width);
    EXPECT_TRUE(window().place_of(PaneKind::volume).has_value());
    EXPECT_TRUE(work().viewer().is_open());
}

TEST_F(WindowTest, DoubleClickKeepsCrossHair) {
    open_window();
    open_ball();
    const std::array<double, 3> before = cross();
    const Pixel middle = middle_of(PaneKind::b_scan);
    double_click({middle.x + 30, middle.y + 20});
    EXPECT_FALSE(window().place_of(PaneKind::volume).has_value());
    EXPECT_EQ(cross(), before);
}

TEST_F(WindowTest, PaletteRunsTypedAction) {
    open_window();
    open_ball();
    ASSERT_EQ(work().settings().window().layout, PaneLayout::volume_and_sections);
    press("Ctrl+K");
    type("sections only");
    press("Enter");
    EXPECT_EQ(work().settings().window().layout, PaneLayout::sections);
    EXPECT_FALSE(window().place_of("palette.typed").has_value());
}

// Ctrl is released before K, and all events arrive between two pictures.
TEST_F(WindowTest, UnderstandsQuickKeyCombinations) {
    open_window();
    native().push(KeyPressed{"Ctrl", true, false});
    turns(2);
    for (const auto& [key, down] : {std::pair{"K", true}, {"Ctrl", false}, {"K", false}}) {
        native().push(KeyPressed{key, down, false});
    }
    turns(6);
    EXPECT_TRUE(window().place_of("palette.typed").has_value());
}

TEST_F(WindowTest, TypingTriggersNoShortcuts) {
    open_window();
    open_ball();
    const bool cross_hair = work().settings().window().cross_hair;
    press("Ctrl+K");
    press("X");  // would toggle the cross-hair
    type("x");
    EXPECT_EQ(work().settings().window().cross_hair, cross_hair);
    press("Esc");
    EXPECT_FALSE(window().place_of("palette.typed").has_value());
    press("X");
    EXPECT_NE(work().settings().window().cross_hair, cross_hair);
}

TEST_F(WindowTest, EscClosesOneThingAtOnceAndKeepsProgramRunning) {
    open_window();
    open_ball();
    press("?");
    press("Ctrl+K");
    ASSERT_TRUE(window().place_of("palette.typed").has_value());
    press("Esc");
    EXPECT_FALSE(window().place_of("palette.typed").has_value());
    const Image with_keys = picture();
    press("Esc");
    turns(3);
    EXPECT_GT(difference(with_keys, picture(), part(PaneKind::volume)), 1);
    for (int i = 0; i < 5; ++i) press("Esc");
    EXPECT_TRUE(work().viewer().is_open());
}

TEST_F(WindowTest, MenusRunActions) {
    open_window();
    open_ball();
    click(middle_of("menu.Window"));
    click(middle_of("menu.layout.volume"));
    EXPECT_EQ(work().settings().window().layout, PaneLayout::volume);
}

// New, Open and the recent files come first, Quit is last.
TEST_F(WindowTest, FileMenuHasUsualOrder) {
    open_window();
    open_ball();
    click(middle_of("menu.File"));
    double above = 0;
    for (const char* item : {"menu.file.new", "menu.window.open", "menu.Open recent", "menu.session.save",
                             "menu.window.save_session", "menu.file.screenshot", "menu.window.picture",
                             "menu.window.save_volume", "menu.file.close", "menu.window.quit"}) {
        ASSERT_TRUE(window().place_of(item).has_value()) << item;
        EXPECT_GT(middle_of(item).y, above) << item;
        above = middle_of(item).y;
    }
    for (const auto& [name, place] : window().places()) {
        if (!name.starts_with("menu.") || name == "menu.window.quit") continue;
        EXPECT_LT(place[1], (*window().place_of("menu.window.quit"))[1]) << name;
    }
}

TEST_F(WindowTest, RecentFileOpensFromMenu) {
    open_window();
    open_ball();
    work().open(write_ball("other.nrrd"));
    ASSERT_TRUE(turn_until([this] { return view_source().name() == "other.nrrd"; }));
    click(middle_of("menu.File"));
    move(middle_of("menu.Open recent"));
    turns(30);  // submenus open with a delay
    click(middle_of("menu.recent[1]"));
    EXPECT_TRUE(turn_until([this] { return view_source().name() == "ball.nrrd"; }));
}

TEST_F(WindowTest, NewReturnsToStartPageWithDefaults) {
    open_window();
    open_ball();
    work().change("view.mode", std::string("mip"));
    press("Ctrl+N");
    EXPECT_FALSE(work().viewer().is_open());
    EXPECT_TRUE(window().place_of("start.open").has_value());
    EXPECT_EQ(work().view().mode, View{}.mode);
}

// Process 999999999 does not exist: its state is left over from a crash.
TEST_F(WindowTest, OffersLastStateAfterCrash) {
    const std::filesystem::path ball = write_ball("ball.nrrd");
    for (const bool restores : {true, false}) {
        const std::string state = restores ? "state" : "other";
        std::filesystem::create_directory(folder() / state);
        folder().write(state + "/running-999999999.toml", "[session]\nfile = \"" + ball.string() + "\"\n");
        options_.state_folder = folder() / state;
        open_window();
        ASSERT_TRUE(window().place_of("question.confirm") && window().place_of("question.keep"));
        click(middle_of(restores ? "question.confirm" : "question.keep"));
        EXPECT_FALSE(window().place_of("question.confirm").has_value());
        if (restores) {
            EXPECT_TRUE(turn_until([this] { return work().viewer().is_open(); }));
        }
        ASSERT_TRUE(settle());
        EXPECT_EQ(work().viewer().is_open(), restores);
        TearDown();
    }
}

// The other panes of a line scan would show lines.
TEST_F(WindowTest, SingleBScanFillsWindow) {
    open_window();
    Volume line = make_volume({.depth = 64, .a_scans = 96, .b_scans = 1, .spacing_um = {4, 6, 0}});
    line.voxels.resize(64 * 96 * sizeof(float));
    write_volume(folder() / "line.nrrd", line);
    work().open(folder() / "line.nrrd");
    ASSERT_TRUE(turn_until([this] { return work().viewer().is_open() && view_source().grid().has_value(); }));
    turns(3);
    EXPECT_FALSE(window().place_of(PaneKind::volume).has_value());
    EXPECT_GT(part(PaneKind::b_scan).width, 500);
    press("Ctrl+1");  // the volume on request
    EXPECT_TRUE(window().place_of(PaneKind::volume).has_value());
}

TEST_F(WindowTest, TabMovesFocusAndSpaceClicks) {
    open_window();
    open_ball();
    const std::string open = work().settings().window().open_panels;
    const auto has_focus = [this] { return window().place_of("focus") == window().place_of("panel.view"); };
    ASSERT_TRUE(window().place_of("panel.view").has_value());
    EXPECT_FALSE(window().place_of("focus").has_value());
    for (int presses = 0; presses < 200 && !has_focus(); ++presses) press("Tab");
    ASSERT_TRUE(has_focus());
    press("Space");
    turns(6);
    EXPECT_NE(work().settings().window().open_panels, open);
    press("Tab");
    EXPECT_FALSE(has_focus());
    press("Shift+Tab");
    EXPECT_TRUE(has_focus());
    press("Esc");
    EXPECT_FALSE(window().place_of("focus").has_value());
    EXPECT_TRUE(work().viewer().is_open());
}

TEST_F(WindowTest, TabLeavesTextForNextField) {
    open_window();
    click(middle_of("start.sim.layers"));
    ASSERT_TRUE(turn_until([this] { return work().viewer().is_open() && view_source().grid().has_value(); }));
    turns(3);
    const auto& settings = work().settings().window();
    click(middle_of("window.record_subject"));
    for (const char letter : std::string("P7\tleft eye\t20\t")) {  // without waiting for pictures
        if (letter != '\t') native().push(TextTyped{static_cast<std::uint32_t>(letter)});
        if (letter == '\t') native().push(KeyPressed{"Tab", true, false});
        if (letter == '\t') native().push(KeyPressed{"Tab", false, false});
    }
    turns(20);
    EXPECT_EQ(settings.record_subject, "P7");
    EXPECT_EQ(settings.record_note, "left eye");
    EXPECT_EQ(settings.record_volumes, 20);
    press("Shift+Tab");
    press("Shift+Tab");
    type("right eye");
    press("Shift+Tab");
    EXPECT_EQ(settings.record_note, "right eye") << "typing replaces the text";
    EXPECT_EQ(settings.record_subject, "P7");
}

TEST_F(WindowTest, FocusIsClickedOnlyWhereItIsVisible) {
    open_window();
    open_ball();
    const auto before = work().settings().window().open_panels;
    for (int presses = 0; presses < 60; ++presses) {
        press("Tab");
        turns(2);
        const auto place = window().place_of("focus");
        ASSERT_TRUE(place.has_value()) << presses;
        EXPECT_LT((*place)[1], 800) << presses;
        EXPECT_GT((*place)[3], 0) << presses;
    }
    EXPECT_EQ(work().settings().window().open_panels, before);
}

TEST_F(WindowTest, EnterChoosesInLists) {
    open_window();
    open_ball();
    ASSERT_EQ(work().view().mode, ViewMode::composite);
    click(middle_of("view.mode"));
    press("Down");
    press("Down");
    press("Enter");
    turns(6);
    EXPECT_NE(work().view().mode, ViewMode::composite);
    EXPECT_FALSE(window().place_of("view.mode=mip").has_value()) << "the list is still open";
}

TEST_F(WindowTest, FoldsPanelsAndHidesColumns) {
    open_window();
    open_ball();
    const Region before = part(PaneKind::volume);
    const std::string open = work().settings().window().open_panels;
    click(middle_of("panel.view"));
    EXPECT_NE(work().settings().window().open_panels, open);
    work().change("window.right_panels", false);
    turns(3);
    const Region now = part(PaneKind::volume);
    EXPECT_GT(now.width * now.height, before.width * before.height);
    EXPECT_FALSE(window().place_of("panel.view").has_value());
}

TEST_F(WindowTest, InputIsSeenWithinTwoTurns) {
    open_window();
    open_ball();
    const Pixel middle = middle_of(PaneKind::volume);
    move(middle);
    native().push(PointerButton{0, true});
    turns(2);
    for (int i = 1; i < 8; ++i) {
        native().push(PointerMoved{middle.x + 5 * i, middle.y});
        const std::int64_t shown = window().stats().shown;
        ASSERT_TRUE(turn_until([&] { return window().stats().shown > shown; }, 3));
        EXPECT_LE(window().stats().turns_since_input, 2);
    }
    native().push(PointerButton{0, false});
    turns(2);
}

TEST_F(WindowTest, DrawsNoPictureWithoutChange) {
    open_window();
    open_ball();
    const std::int64_t shown = window().stats().shown;
    for (int i = 0; i < 40; ++i) window().turn(0.02);
    EXPECT_EQ(window().stats().shown, shown);
}

TEST_F(WindowTest, WorksFrom1024x700AndAtDoubleScale) {
    open_window(1024, 700);
    open_ball();
    for (const PaneKind pane : {PaneKind::volume, PaneKind::b_scan, PaneKind::en_face, PaneKind::side}) {
        EXPECT_GE(part(pane).width, 140);
        EXPECT_GE(part(pane).height, 140);
    }
    native().push(Resized{3840, 2160, 2});
    turns(5);
    EXPECT_EQ(picture().width, 3840);
    const auto heading = window().place_of("panel.view");
    ASSERT_TRUE(heading.has_value());
    EXPECT_NEAR((*heading)[3] - (*heading)[1], 60, 1);  // twice the height of 30
    EXPECT_GT(part(PaneKind::volume).width, 900);
}

TEST_F(WindowTest, ScreenshotRestoresItsView) {
    open_window();
    open_ball();
    work().change("view.azimuth_deg", 111.0);
    work().change("view.mode", std::string("mip"));
    const std::filesystem::path kept = folder() / "kept.png";
    work().exporting().save_picture(kept);
    ASSERT_TRUE(turn_until([&] { return std::filesystem::exists(kept) && !work().is_busy(); }));
    EXPECT_EQ(read_png(kept).width, work().view().width);
    work().change("view.azimuth_deg", 20.0);
    work().change("view.mode", std::string("composite"));
    work().open(kept);
    EXPECT_TRUE(turn_until([this] { return std::abs(work().view().azimuth_deg - 111) < 1e-6; }));
    EXPECT_EQ(work().view().mode, ViewMode::mip);
}

TEST_F(WindowTest, DraggedSliderChangesPicture) {
    open_window(1280, 1600);
    open_ball();
    const Image before = picture();
    const auto place = window().place_of("view.opacity");
    ASSERT_TRUE(place.has_value());
    const double y = 0.5 * static_cast<double>((*place)[1] + (*place)[3]);
    const double x = 0.5 * static_cast<double>((*place)[0] + (*place)[2]);
    const double opacity = work().view().opacity;
    drag({x, y}, {x - 40, y});
    EXPECT_LT(work().view().opacity, opacity);
    ASSERT_TRUE(settle());
    EXPECT_GT(difference(before, picture(), part(PaneKind::volume)), 0.2);
}

TEST_F(WindowTest, RawFileIsProposedShownAndOpened) {
    open_window();
    write_raw_spectra(folder(), "unknown.raw");
    work().open(folder() / "unknown.raw");
    const auto is_proposed = [this] {
        return window().place_of("raw.accept") && work().raw().proposal() != nullptr &&
               work().raw().proposal()->preview.width > 0;
    };
    ASSERT_TRUE(turn_until(is_proposed));
    EXPECT_EQ(work().raw().proposal()->problem, "");
    const ScanGeometry& geometry = work().raw().proposal()->scan.geometry;
    EXPECT_EQ(geometry.samples, 256);
    EXPECT_EQ(geometry.a_scans, 32);
    EXPECT_EQ(geometry.b_scans, 24);
    for (const char* key : {"scan.samples", "scan.a_scans", "scan.b_scans"}) {
        EXPECT_TRUE(window().place_of(key).has_value()) << key;
    }
    press("Esc");
    EXPECT_EQ(work().raw().proposal(), nullptr);
    EXPECT_FALSE(std::filesystem::exists(folder() / "unknown.toml"));

    work().open(folder() / "unknown.raw");
    ASSERT_TRUE(turn_until(is_proposed));
    click(middle_of("raw.accept"));
    EXPECT_TRUE(turn_until([this] { return work().viewer().is_open(); }));
    EXPECT_EQ(work().raw().proposal(), nullptr);
    EXPECT_TRUE(std::filesystem::exists(folder() / "unknown.toml"));
}

TEST_F(WindowTest, RestoresLostDevice) {
    bool is_lost = false;
    options_.device.loses = [&is_lost] { return std::exchange(is_lost, false); };
    open_window();
    open_ball();
    const Image before = picture();
    is_lost = true;
    work().change("view.azimuth_deg", work().view().azimuth_deg + 1);
    ASSERT_TRUE(turn_until([&] { return !is_lost; }));
    ASSERT_TRUE(turn_until([this] { return work().viewer().is_open() && view_source().grid().has_value(); }));
    work().change("view.azimuth_deg", work().view().azimuth_deg - 1);
    ASSERT_TRUE(settle());
    EXPECT_LT(difference(before, picture(), part(PaneKind::volume)), 2);
}

}  // namespace
}  // namespace echolux::test
