// Tissue analysis in a workspace: filtered and stabilised volumes replace the raw one, and all of it can be undone.
#include "workspace_tissue.h"
#include "compute/indexing.h"
#include "ui/workspace/exporting.h"

namespace echolux::test {
namespace {

// ---- filters

TEST_F(WorkspaceTissue, FilteredVolumeReplacesRawOne) {
    open_tissue();
    const std::vector<std::byte> raw = volume()->voxels;
    EXPECT_NEAR(contrast_of(*volume()), 1, 0.05) << "speckle";
    show_filtered();
    EXPECT_LT(contrast_of(*volume()), 0.3) << "125 voxels are one";
    EXPECT_THAT(volume()->provenance.at("filter"), HasSubstr("median"));
    EXPECT_TRUE(read_volume(folder() / "tissue.nrrd").voxels == raw) << "files stay as they are";
    work().undo();
    ASSERT_TRUE(until([this] { return !work().filtering().is_filtered(work()); }));
    EXPECT_TRUE(volume()->voxels == raw);
    work().redo();
    ASSERT_TRUE(until([this] { return work().filtering().is_filtered(work()); }));
    EXPECT_FALSE(volume()->voxels == raw);
}

TEST_F(WorkspaceTissue, ChangedFilterSettingFiltersAgain) {
    open_tissue();
    show_filtered();
    const double of_five = contrast_of(*volume());
    work().change("filter.median_size", std::int64_t{3});
    ASSERT_TRUE(until([&] { return contrast_of(*volume()) > 1.2 * of_five; })) << troubles();
}

TEST_F(WorkspaceTissue, PictureOfFilteredVolumeIsReproduced) {
    open_tissue();
    work().change("view.width", std::int64_t{64});
    work().change("view.height", std::int64_t{48});
    show_filtered();
    work().exporting().save_picture(folder() / "filtered.png");
    settle();
    ASSERT_TRUE(std::filesystem::exists(folder() / "filtered.png")) << troubles();
    work().open(folder() / "filtered.png");
    ASSERT_TRUE(until([this] { return work().filtering().is_filtered(work()); })) << troubles();
    EXPECT_EQ(work().settings().tissue().filter.method, FilterMethod::median);
}

TEST_F(WorkspaceTissue, OtherVolumeIsShownRawAtFirst) {
    open_tissue();
    show_filtered();
    open_tissue_file(write(layered_volume(2), "other.nrrd"));
    EXPECT_FALSE(work().settings().tissue().filter_display.shown);
    EXPECT_NEAR(contrast_of(*volume()), 1, 0.05);
}

TEST_F(WorkspaceTissue, ReportsUnfilterableVolumeOnceAndShowsRaw) {
    Volume velocities = layered_volume();
    velocities.grid.quantity = "velocity";
    open_tissue(velocities);
    work().change("filter.shown", true);
    ASSERT_TRUE(until([this] { return !standing("filter").empty(); }));
    EXPECT_THAT(standing("filter"), HasSubstr("velocity"));
    settle();
    const std::size_t notices = work().notices().all().size();
    for (int i = 0; i < 50; ++i) turn(work());
    EXPECT_EQ(work().notices().all().size(), notices);
    EXPECT_FALSE(work().filtering().is_filtered(work()));
    EXPECT_FALSE(work().is_busy());
}

TEST_F(WorkspaceTissue, PictureStoresShownVolumeAfterFailedFilter) {
    Volume velocities = layered_volume();
    velocities.grid.quantity = "velocity";
    open_tissue(velocities);
    for (const char* side : {"view.width", "view.height"}) work().change(side, std::int64_t{32});
    work().change("filter.shown", true);
    ASSERT_TRUE(until([this] { return !standing("filter").empty(); }));
    work().exporting().save_picture(folder() / "raw.png");
    settle();
    ASSERT_TRUE(std::filesystem::exists(folder() / "raw.png")) << troubles();
    const std::string text = text_in_png(folder() / "raw.png");
    EXPECT_THAT(text, Not(HasSubstr("[filter]")));
    EXPECT_TRUE(work().settings().tissue().filter_display.shown) << "what is asked for stays";
}

TEST_F(WorkspaceTissue, SlowMoviesThroughTimeAreFiltered) {
    open_two_time_points();
    for (const char* side : {"view.width", "view.height"}) work().change(side, std::int64_t{32});
    const auto spread_in_movie = [&](const std::string& name) {
        work().exporting().make_movie(folder() / name / "m_%d.png", {.path = "time"});
        settle();
        EXPECT_EQ(troubles(), "");
        const Picture picture = read_png(folder() / name / "m_1.png");
        double rough = 0;  // differences of neighbouring pixels
        for (std::size_t i = 4; i < picture.pixels.size(); i += 4)
            rough += std::abs(picture.pixels[i] - picture.pixels[i - 4]);
        return rough;
    };
    std::filesystem::create_directories(folder() / "raw");
    std::filesystem::create_directories(folder() / "filtered");
    work().change_together("view", {{"view.show", std::string("slice")}, {"view.plane", std::string("b-scan")}});
    const double raw = spread_in_movie("raw");
    show_filtered();
    EXPECT_LT(spread_in_movie("filtered"), 0.7 * raw);
    EXPECT_THAT(text_in_png(folder() / "filtered/m_1.png"), HasSubstr("[filter]"));
    EXPECT_THAT(text_in_png(folder() / "raw/m_1.png"), Not(HasSubstr("[filter]")));
}

TEST_F(WorkspaceTissue, FiltersVolumesOfRunningSource) {
    open_source();
    ASSERT_TRUE(until([this] { return work().viewer().view_source()->grid().has_value(); }));
    work().change("filter.method", std::string("median"));
    work().change("filter.shown", true);
    EXPECT_THAT(Filtering::obstacle(work()), HasSubstr("Stop the source"));
    ASSERT_TRUE(until([this] { return work().filtering().is_filtered(work()); })) << troubles();
    const TissueSettings shown = work().filtering().as_shown(work());
    EXPECT_TRUE(shown.filter_display.shown);
    EXPECT_EQ(shown.filter.method, work().settings().tissue().filter.method);
    work().stop_source();
    ASSERT_TRUE(until([this] { return work().filtering().is_filtered(work()); })) << troubles();
    work().change("filter.shown", false);
    EXPECT_FALSE(work().filtering().as_shown(work()).filter_display.shown);
}

// ---- stabilisation

TEST_F(WorkspaceTissue, OtherTimePointReportsShiftsOfBScans) {
    std::vector<int> shifts;
    for (std::int64_t b = 0; b < layered_b_scans; ++b) shifts.push_back(static_cast<int>((b * 7) % 5) - 2);
    write(layered_volume(1), "series/v_0.nrrd");
    write(layered_volume(1, shifts), "series/v_1.nrrd");
    open_tissue_file(folder() / "series");
    ASSERT_NE(work().viewer().view_source()->timeline(), nullptr);
    work().viewer().view_source()->timeline()->pause();
    work().viewer().view_source()->timeline()->go_to(1);
    ASSERT_TRUE(until([this] { return work().viewer().view_source()->stamp()->volume == 1; }));
    work().change_together("registration", {{"registration.reference", std::int64_t{0}},
                                            {"registration.axial_range", std::int64_t{8}},
                                            {"registration.lateral_range", std::int64_t{4}},
                                            {"registration.row_range", std::int64_t{2}},
                                            {"registration.strip", std::int64_t{1}}});
    work().filtering().measure(work());
    ASSERT_TRUE(until([this] { return work().filtering().stabilised() != nullptr || !troubles().empty(); }));
    ASSERT_EQ(troubles(), "");
    EXPECT_FALSE(work().filtering().is_stabilised(work())) << "measured, not shown";
    const std::vector<RowShift>& rows = work().filtering().stabilised()->rows;
    ASSERT_EQ(rows.size(), index(layered_b_scans));
    int right = 0;
    for (std::size_t b = 0; b < rows.size(); ++b)
        right += rows[b].is_valid() && std::abs(rows[b].z + shifts[b]) < 0.5 ? 1 : 0;
    EXPECT_GE(right, 20) << "of 24";
    work().change("registration.shown", true);
    ASSERT_TRUE(until([this] { return work().filtering().is_stabilised(work()); })) << troubles();
    work().change("registration.shown", false);
    ASSERT_TRUE(until([this] { return !work().filtering().is_stabilised(work()); }));
}

TEST_F(WorkspaceTissue, SessionsKeepTissueSettings) {
    open_tissue();
    work().change("layers.count", std::int64_t{5});
    work().change("filter.sigma", 3.0);
    work().save_session(folder() / "session.toml");
    settle();
    const RestoredState kept =
        session_of(toml_entries(folder() / "session.toml"), (folder() / "session.toml").string());
    const TissueSettings tissue = tissue_of(kept.view_values);
    EXPECT_EQ(tissue.layers.count, 5);
    EXPECT_EQ(tissue.filter.sigma, 3);
    EXPECT_FALSE(tissue.filter_display.shown);
}

}  // namespace
}  // namespace echolux::test
