// Settings of a workspace: changed, refused with an explanation, and undone.
#include "workspace_fixture.h"

namespace echolux::test {
namespace {

using testing::HasSubstr;

class WorkspaceSettings : public WorkspaceTest {};

TEST_F(WorkspaceSettings, ViewIsChangedAndUndone) {
    open_volume();
    ASSERT_TRUE(work().change("view.mode", std::string("mip")));
    ASSERT_TRUE(work().change("view.opacity", std::int64_t{2}));  // integers are valid numbers
    EXPECT_EQ(work().view().mode, ViewMode::mip);
    EXPECT_EQ(work().view().opacity, 2);
    work().undo();
    EXPECT_EQ(work().view().opacity, 1);
    work().undo();
    EXPECT_EQ(work().view().mode, ViewMode::composite);
    EXPECT_FALSE(work().history().can_undo());
    work().redo();
    EXPECT_EQ(work().view().mode, ViewMode::mip);
}

TEST_F(WorkspaceSettings, ChangeReturnsChangedSettings) {
    const std::optional<Change> change =
        work().change_together("view.opacity", {{"view.opacity", 2.0}, {"view.box", true}});
    ASSERT_TRUE(change);
    EXPECT_EQ(change->after, (Values{{"view.opacity", 2.0}}));
    EXPECT_EQ(change->before, (Values{{"view.opacity", 1.0}}));
    EXPECT_EQ(work().change("view.opacity", -1.0), std::nullopt);
}

TEST_F(WorkspaceSettings, InvalidValueBecomesNoticeOfItsSection) {
    EXPECT_FALSE(work().change("view.opacity", -1.0));
    EXPECT_THAT(standing("view"), HasSubstr("view.opacity"));
    EXPECT_EQ(work().view().opacity, 1);
    EXPECT_FALSE(work().history().can_undo());
    EXPECT_FALSE(work().change("view.opcity", 1.0));
    EXPECT_THAT(standing("view"), HasSubstr("view.opacity"));  // suggests the nearest name
    EXPECT_FALSE(work().change("recipe.window", std::string("hann")));
    EXPECT_NE(standing("recipe"), "");
    EXPECT_TRUE(work().change("view.opacity", 2.0));
    EXPECT_EQ(standing("view"), "") << "trouble that is overcome still stands";
}

TEST_F(WorkspaceSettings, DraggedSliderIsOneUndoStep) {
    for (const double value : {1.1, 1.2, 1.3}) work().change("view.opacity", value, Edit::in_progress);
    work().change("view.opacity", 1.3, Edit::done);
    work().change("view.opacity", 5.0);
    work().undo();
    EXPECT_EQ(work().view().opacity, 1.3);
    work().undo();
    EXPECT_EQ(work().view().opacity, 1);
}

TEST_F(WorkspaceSettings, MovedCameraIsOneUndoStep) {
    for (int i = 1; i <= 5; ++i) {
        work().view().azimuth_deg = 35 + i;
        work().view().elevation_deg = 25 + i;
        work().view_edited(Edit::in_progress);
    }
    work().view_edited(Edit::done);
    EXPECT_EQ(work().view().azimuth_deg, 40);
    work().undo();
    EXPECT_EQ(work().view().azimuth_deg, 35);
    EXPECT_EQ(work().view().elevation_deg, 25);
    work().redo();
    EXPECT_EQ(work().view().azimuth_deg, 40);
}

TEST_F(WorkspaceSettings, ResetRestoresDefault) {
    work().change("view.opacity", 7.0);
    EXPECT_TRUE(work().reset("view.opacity"));
    EXPECT_EQ(work().view().opacity, 1);
    EXPECT_FALSE(work().reset("view.nothing"));
}

TEST_F(WorkspaceSettings, ChangesSeveralTogetherOrNone) {
    EXPECT_TRUE(work().change_together("view.low", {{"view.low", 1.0}, {"view.high", 9.0}}));
    EXPECT_FALSE(work().change_together("view.low", {{"view.low", 0.0}, {"view.high", -9.0}}));
    EXPECT_EQ(work().view().low, 1);
    work().undo();
    EXPECT_EQ(work().view().low, lowest_value);
    EXPECT_EQ(work().view().high, highest_value);
}

TEST_F(WorkspaceSettings, DrawnCurveIsUndone) {
    const TransferCurve curve{.nodes = {{0, 0, 0, 0, 0}, {5, 1, 0.5, 0, 3}, {40, 1, 1, 1, 9}}};
    EXPECT_TRUE(work().set_transfer_curve(curve));
    ASSERT_TRUE(work().view().transfer_curve);
    EXPECT_EQ(work().view().transfer_curve->nodes, curve.nodes);
    work().undo();
    EXPECT_FALSE(work().view().transfer_curve);
    work().redo();
    EXPECT_EQ(work().view().transfer_curve->nodes, curve.nodes);
    const TransferCurve backwards{.nodes = {{5, 0, 0, 0, 0}, {0, 1, 1, 1, 1}}};
    EXPECT_FALSE(work().set_transfer_curve(backwards));
    EXPECT_EQ(work().view().transfer_curve->nodes, curve.nodes);
}

TEST_F(WorkspaceSettings, TransferFunctionFileIsReadAndUndone) {
    const auto file = folder().write("mine.toml",
                                     "[transfer]\nversion = 1\ncolours = [0.0, 0, 0, 0, 10.0, 1, 1, 1]\n"
                                     "extinctions = [0.0, 0.0, 10.0, 4.0]\n");
    EXPECT_TRUE(work().change("view.transfer", file.string()));
    ASSERT_TRUE(work().view().transfer_curve);
    EXPECT_EQ(work().view().transfer_curve->nodes.back().extinction, 4);
    EXPECT_FALSE(work().change("view.transfer", std::string("nowhere.toml")));
    EXPECT_EQ(work().view().transfer, file.string());
    work().undo();
    EXPECT_FALSE(work().view().transfer_curve);
}

TEST_F(WorkspaceSettings, HeightsCountFromFoundSurface) {
    open_volume();
    ASSERT_TRUE(work().change("view.top_from", std::string("surface")));
    settle();
    EXPECT_EQ(work().view().top_from, "surface") << troubles();
    ASSERT_TRUE(work().change("view.top_um", 20.0));
    EXPECT_EQ(work().viewer().view_source()->still(work().view()).width, work().view().width);
    work().undo();
    work().undo();
    settle();
    EXPECT_EQ(work().view().top_from, "");
}

TEST_F(WorkspaceSettings, RequestedHeightsAreFoundForEachOpenedFile) {
    const auto other = make("other", {"view.top_from=surface"});
    for (int i = 0; i < 2; ++i) {
        other->open(volume_file());
        ASSERT_TRUE(
            until(*other, [&] { return other->viewer().is_open() && other->viewer().view_source()->has_heights(); }));
        ASSERT_TRUE(until(*other, [&] { return !other->is_busy(); }));
        EXPECT_EQ(other->view().top_from, "surface");
        EXPECT_NO_THROW(other->viewer().view_source()->still(other->view()));
        other->close();
    }
}

TEST_F(WorkspaceSettings, CommandLineSetsViewAndWindow) {
    const auto other = make("other", {"view.mode=mip", "window.layout=sections"});
    EXPECT_EQ(other->view().mode, ViewMode::mip);
    EXPECT_EQ(other->settings().window().layout, PaneLayout::sections);
    EXPECT_ANY_THROW(make("third", {"view.mode=nothing"}));
}

// ---- with a live source

TEST_F(WorkspaceSettings, LiveSourceHasSettingsOfItsScan) {
    open_source();
    ASSERT_NE(work().settings().scan(), nullptr);
    EXPECT_EQ(work().settings().scan()->geometry.samples, 128);
    EXPECT_TRUE(work().change("recipe.window", std::string("hamming")));
    EXPECT_EQ(work().settings().scan()->recipe.window, Window::hamming);
    EXPECT_TRUE(until([&] { return work().viewer().view_source()->live()->stats().changes > 0; })) << troubles();
    work().undo();
    EXPECT_EQ(work().settings().scan()->recipe.window, Window::hann);
    EXPECT_FALSE(work().change("scan.samples", std::int64_t{64}));
    EXPECT_THAT(standing("scan"), HasSubstr("cannot be changed while it is open"));
    work().close();
    EXPECT_EQ(work().settings().field("recipe.window"), nullptr);
    EXPECT_EQ(work().settings().scan(), nullptr);
}

TEST_F(WorkspaceSettings, SlowHeightsAreFoundAgainInVolumeOfOtherShape) {
    open_source();
    ASSERT_TRUE(work().change("view.top_from", std::string("surface")));  // the volume need not exist yet
    const auto is_there = [this] {
        return work().viewer().view_source()->has_heights() && work().view().top_from == "surface";
    };
    ASSERT_TRUE(until(is_there)) << troubles();
    ASSERT_TRUE(work().change("recipe.depth_end", std::int64_t{40}));
    const auto is_shorter = [this] {
        const auto grid = work().viewer().view_source()->grid();
        return grid && grid->depth == 40;
    };
    ASSERT_TRUE(until(is_shorter)) << troubles();
    ASSERT_TRUE(until(is_there)) << troubles();
    EXPECT_NO_THROW(work().viewer().view_source()->still(work().view()));
}

TEST_F(WorkspaceSettings, InvalidRecipeChangesNoSetting) {
    open_source();
    EXPECT_FALSE(work().change("recipe.depth_begin", std::int64_t{1} << 20));
    EXPECT_THAT(standing("recipe"), HasSubstr("depth_begin"));
    EXPECT_EQ(work().settings().scan()->recipe.depth_begin, 0);
    EXPECT_FALSE(work().history().can_undo());
}

// ---- the cross-hair

TEST_F(WorkspaceSettings, CrossHairStaysInVolume) {
    open_volume();
    work().set_cross_um({1e6, -1e6, 3});
    EXPECT_NEAR(work().cross_um()[0], 115, 1e-4);  // the middle of the last of 24 voxels of 10 um
    EXPECT_NEAR(work().cross_um()[1], -95, 1e-4);
    EXPECT_NEAR(work().cross_um()[2], 3, 1e-4);
    work().actions().run("slice.next_b_scan");
    EXPECT_NEAR(work().cross_um()[2], 13, 1e-4);
}

}  // namespace
}  // namespace echolux::test
