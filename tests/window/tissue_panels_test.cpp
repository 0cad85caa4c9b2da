// Using the panels Stabilise, Filters and Layers in a window, and dragging surfaces in a section.
// ECHOLUX_PICTURES=FOLDER writes pictures for inspection.
#include <gmock/gmock.h>

#include <cstdlib>

#include "app/open/show_opened.h"
#include "compute/indexing.h"
#include "engine/io/png_file.h"
#include "layered_volume.h"
#include "ui/workspace/filtering.h"
#include "ui/workspace/layering.h"
#include "window_run.h"

namespace echolux::test {
namespace {

class TissuePanels : public WindowRun {
  protected:
    void open_tissue(const std::string& panels) {
        options_.assignments = {"window.open_panels=" + panels, "view.mode=mip", "view.step=2", "view.rest_samples=1"};
        open_window(1280, 1600);
        write_volume(folder() / "tissue.nrrd", layered_volume());
        work().open(folder() / "tissue.nrrd");
        ASSERT_TRUE(turn_until([this] { return work().viewer().is_open() && work().viewer().view_source()->grid(); }));
        ASSERT_TRUE(settle());
    }
    void find_layers() {
        work().change_together(
            "layers", {{"layers.names", std::string("front back")}, {"layers.polarity", std::vector<double>{1, -1}}});
        turns(3);
        click(middle_of("layers.find"));
        ASSERT_TRUE(turn_until([this] { return work().layering().surfaces() != nullptr; }));
        ASSERT_TRUE(settle());
    }
    void keep(const std::string& name) {
        move({1, 500});
        ASSERT_TRUE(settle());
        if (const char* pictures = std::getenv("ECHOLUX_PICTURES"))
            write_png(std::filesystem::path(pictures) / ("tissue-" + name + ".png"), picture_of(picture()));
    }
    // Row of a surface in the B-scan at the cross-hair.
    double row(std::size_t surface, std::int64_t a_scan) {
        const std::int64_t b = voxel_index(work().cross_um()[2], *work().viewer().view_source()->grid(), 2);
        const auto line = index(b * layered_a_scans + a_scan);
        return static_cast<double>(work().layering().surfaces()->all[surface].rows[line]);
    }
};

TEST_F(TissuePanels, FilteredVolumeIsSwitchedOnAndOff) {
    open_tissue("filters");
    const Image raw = picture();
    ASSERT_TRUE(work().change("filter.method", std::string("median")));
    turns(3);
    click(middle_of("filter.shown"));
    ASSERT_TRUE(turn_until([this] { return work().filtering().is_filtered(work()); }));
    keep("filters");
    EXPECT_GT(difference(raw, picture(), part(PaneKind::b_scan)), 2);
    press("Ctrl+Z");
    ASSERT_TRUE(turn_until([this] { return !work().filtering().is_filtered(work()); }));
    ASSERT_TRUE(settle());
    EXPECT_LT(difference(raw, picture(), part(PaneKind::b_scan)), 0.5);
}

TEST_F(TissuePanels, FilterIsCancelledAndBegunAgain) {
    open_tissue("filters");
    work().change_together("filter", {{"filter.search_depth", std::int64_t{31}},
                                      {"filter.search_a_scans", std::int64_t{31}},
                                      {"filter.search_b_scans", std::int64_t{15}}});
    turns(3);
    click(middle_of("filter.shown"));
    ASSERT_TRUE(turn_until([this] { return !work().jobs().states().empty(); }));
    click(middle_of("filter.cancel"));
    ASSERT_TRUE(turn_until([this] { return work().jobs().is_idle(); }));
    turns(10);
    EXPECT_FALSE(work().filtering().is_filtered(work()));
    EXPECT_TRUE(work().jobs().is_idle()) << "it does not begin again by itself";
    ASSERT_TRUE(work().change("filter.method", std::string("median")));
    ASSERT_TRUE(turn_until([this] { return work().filtering().is_filtered(work()); })) << "another request is tried";
}

TEST_F(TissuePanels, SurfaceIsDraggedInBScanAndUndone) {
    open_tissue("surfaces");
    ASSERT_NO_FATAL_FAILURE(find_layers());
    keep("layers");
    EXPECT_TRUE(window().place_of("layers.thickness.bar").has_value());
    click(middle_of("layers.edit"));
    ASSERT_TRUE(work().layering().edits);
    // The cross-hair is in the middle of the pane and of the volume: row 47.5.
    const Region pane = part(PaneKind::b_scan);
    const Pixel middle = middle_of(PaneKind::b_scan);
    const double before = row(1, 20);
    ASSERT_NEAR(before, second_surface, 0.7);
    // Move down until the pointer is near the lower surface.
    double found = 0;
    for (double y = 0; y < 0.5 * static_cast<double>(pane.height) && found == 0; y += 6) {
        drag({middle.x, middle.y + y}, {middle.x, middle.y + y - 30});
        if (row(1, 20) != before) found = y;
    }
    ASSERT_GT(found, 0) << "no drag took hold of the surface";
    const double after = row(1, 20);
    EXPECT_LT(after, before - 0.5);
    EXPECT_GE(after, row(0, 20));
    keep("layers-edited");
    press("Ctrl+Z");
    EXPECT_EQ(row(1, 20), before);
    press("Ctrl+Y");
    EXPECT_EQ(row(1, 20), after);
}

TEST_F(TissuePanels, FoundSurfacesAreReportedInOpenedPanel) {
    open_tissue("view");
    work().change_together(
        "layers", {{"layers.names", std::string("front back")}, {"layers.polarity", std::vector<double>{1, -1}}});
    ASSERT_TRUE(work().actions().run("layers.search"));
    ASSERT_TRUE(turn_until([this] { return work().layering().surfaces() != nullptr; }));
    ASSERT_TRUE(settle());
    EXPECT_TRUE(window().place_of("layers.find").has_value()) << "the panel is open";
    ASSERT_FALSE(work().notices().all().empty());
    EXPECT_THAT(work().notices().all().back().line, testing::HasSubstr("found 2 surfaces: front, back; "));
    ASSERT_TRUE(work().actions().run("layers.search"));
    ASSERT_TRUE(settle());
    EXPECT_TRUE(window().place_of("layers.find").has_value()) << "it stays open";
}

TEST_F(TissuePanels, SlowShowsSlabBetweenSurfacesAndWholeAgain) {
    open_tissue("surfaces");
    ASSERT_NO_FATAL_FAILURE(find_layers());
    const Image whole = picture();
    click(middle_of("layers.between"));
    keep("layers-between");
    EXPECT_EQ(work().view().top_from, "layers:front");
    EXPECT_GT(difference(whole, picture(), part(PaneKind::en_face)), 0.5);
    click(middle_of("layers.between"));
    ASSERT_TRUE(settle());
    EXPECT_EQ(work().view().top_from, "");
}

TEST_F(TissuePanels, MotionIsMeasuredAndShown) {
    open_tissue("stabilise");
    work().change_together("registration", {{"registration.axial_range", std::int64_t{8}},
                                            {"registration.lateral_range", std::int64_t{4}},
                                            {"registration.row_range", std::int64_t{2}}});
    turns(3);
    click(middle_of("registration.measure"));
    ASSERT_TRUE(turn_until(
        [this] { return work().filtering().stabilised() != nullptr || work().notices().standing("registration"); }));
    keep("stabilise");
    ASSERT_NE(work().filtering().stabilised(), nullptr);
    EXPECT_TRUE(window().place_of("registration.shifts").has_value());
    EXPECT_TRUE(window().place_of("registration.quality").has_value());
    click(middle_of("registration.shown"));
    ASSERT_TRUE(turn_until([this] { return work().filtering().is_stabilised(work()); }));
}

}  // namespace
}  // namespace echolux::test
