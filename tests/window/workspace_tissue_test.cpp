// What a workspace makes of the tissue that it shows: filtered and stabilised volumes in place of the raw one, surfaces
// between layers, and all of it taken back.
#include <cmath>
#include <fstream>

#include "app/session/session_text.h"
#include "engine/layers/surface_files.h"
#include "layered_volume.h"
#include "ui/workspace/filtering.h"
#include "ui/workspace/layering.h"
#include "workspace_fixture.h"

namespace echolux::test {
namespace {

using testing::HasSubstr;

// Standard deviation by mean, between the surfaces.
double contrast_of(const Volume& volume) {
    const auto* values = reinterpret_cast<const float*>(volume.voxels.data());
    double sum = 0, squares = 0, count = 0;
    for (std::int64_t line = 0; line < volume.grid.a_scans * volume.grid.b_scans; ++line) {
        for (std::int64_t z = 35; z < 55; ++z) {
            const double value = static_cast<double>(values[line * volume.grid.depth + z]);
            sum += value;
            squares += value * value;
            ++count;
        }
    }
    const double mean = sum / count;
    return std::sqrt(squares / count - mean * mean) / mean;
}

class WorkspaceTissue : public WorkspaceTest {
  protected:
    std::filesystem::path write(const Volume& volume, const std::string& name = "tissue.nrrd") {
        std::filesystem::create_directories((folder() / name).parent_path());
        write_volume(folder() / name, volume);
        return folder() / name;
    }
    void open_tissue(const Volume& volume = layered_volume()) { open_tissue_file(write(volume)); }
    void open_tissue_file(const std::filesystem::path& path) {
        work().open(path);
        ASSERT_TRUE(until([this] { return work().is_open() && work().stage().exhibit()->grid(); })) << troubles();
        settle();
    }
    StandIn& shown() { return *work().stage().stand_in(); }
    std::shared_ptr<const Volume> volume() { return work().stage().exhibit()->volume(); }

    void show_filtered() {
        work().change("filter.method", std::string("median"));
        work().change("filter.shown", true);
        ASSERT_TRUE(until([this] { return work().filtering().is_filtered(work()) || !troubles().empty(); }));
        ASSERT_EQ(troubles(), "");
    }
    void find_layers() {
        work().change_together(
            "layers", {{"layers.names", std::string("front back")}, {"layers.polarity", std::vector<double>{1, -1}}});
        work().layering().find(work());
        ASSERT_TRUE(until([this] { return work().layering().surfaces() != nullptr || !standing("layers").empty(); }));
        ASSERT_EQ(standing("layers"), "");
    }
    float row(std::size_t surface, std::int64_t a, std::int64_t b) {
        return work().layering().surfaces()->all[surface].rows[static_cast<std::size_t>(b * layered_a_scans + a)];
    }
};

// ---- filters

TEST_F(WorkspaceTissue, TheFilteredVolumeStandsInPlaceOfTheRawOne) {
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

TEST_F(WorkspaceTissue, ASettingOfTheFilterMakesItAnew) {
    open_tissue();
    show_filtered();
    const double of_five = contrast_of(*volume());
    work().change("filter.median_size", std::int64_t{3});
    ASSERT_TRUE(until([&] { return contrast_of(*volume()) > 1.2 * of_five; })) << troubles();
}

TEST_F(WorkspaceTissue, ThePictureOfAFilteredVolumeIsMadeAgain) {
    open_tissue();
    work().change("view.width", std::int64_t{64});
    work().change("view.height", std::int64_t{48});
    show_filtered();
    work().take_screenshot(folder() / "filtered.png");
    settle();
    ASSERT_TRUE(std::filesystem::exists(folder() / "filtered.png")) << troubles();
    work().open(folder() / "filtered.png");
    ASSERT_TRUE(until([this] { return work().filtering().is_filtered(work()); })) << troubles();
    EXPECT_EQ(work().tissue().filter.method, FilterMethod::median);
}

TEST_F(WorkspaceTissue, AnotherVolumeIsShownRawUntilAskedFor) {
    open_tissue();
    show_filtered();
    open_tissue_file(write(layered_volume(2), "other.nrrd"));
    EXPECT_FALSE(work().tissue().filter_display.shown);
    EXPECT_NEAR(contrast_of(*volume()), 1, 0.05);
}

TEST_F(WorkspaceTissue, WhatCannotBeFilteredIsSaidOnceAndStaysRaw) {
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

TEST_F(WorkspaceTissue, ARunningSourceIsFilteredWhenItStops) {
    open_source();
    ASSERT_TRUE(until([this] { return work().stage().exhibit()->grid().has_value(); }));
    work().change("filter.method", std::string("median"));
    work().change("filter.shown", true);
    EXPECT_THAT(Filtering::obstacle(work()), HasSubstr("Stop the source"));
    for (int i = 0; i < 20; ++i) turn(work());
    EXPECT_FALSE(work().filtering().is_filtered(work()));
    work().stop_source();
    ASSERT_TRUE(until([this] { return work().filtering().is_filtered(work()); })) << troubles();
    work().start_source();
    ASSERT_TRUE(until([this] { return !work().filtering().is_filtered(work()); })) << "what comes is shown";
}

// ---- layers

TEST_F(WorkspaceTissue, SurfacesAreFoundAndTakenBack) {
    open_tissue();
    find_layers();
    for (const std::int64_t b : {0, 11, 23}) {
        for (const std::int64_t a : {0, 20, 39}) {
            EXPECT_NEAR(row(0, a, b), first_surface, 0.6);
            EXPECT_NEAR(row(1, a, b), second_surface, 0.6);
        }
    }
    work().undo();
    EXPECT_EQ(work().layering().surfaces(), nullptr);
    work().redo();
    ASSERT_NE(work().layering().surfaces(), nullptr);
    EXPECT_EQ(work().layering().surfaces()->all[0].name, "front");
}

TEST_F(WorkspaceTissue, ADragIsOneStepOfUndo) {
    open_tissue();
    find_layers();
    const Surfaces before = *work().layering().surfaces();
    Layering& layering = work().layering();
    layering.begin_drag(work(), 1, 20, 12);
    for (const float to : {55.0f, 50.0f, 10.0f, 45.0f}) layering.drag_to(work(), to);
    layering.end_drag(work());
    EXPECT_FLOAT_EQ(row(1, 20, 12), 45);
    EXPECT_GT(row(1, 30, 12), 46) << "its surroundings follow";
    EXPECT_LT(row(1, 30, 12), row(1, 39, 12) - 1);
    EXPECT_FLOAT_EQ(row(1, 20, 20), before.all[1].rows[20 * layered_a_scans + 20]) << "out of reach";
    for (std::size_t line = 0; line < before.all[0].rows.size(); ++line)
        ASSERT_LE(layering.surfaces()->all[0].rows[line], layering.surfaces()->all[1].rows[line]);
    work().undo();
    EXPECT_EQ(work().layering().surfaces()->all[1].rows, before.all[1].rows);
    work().redo();
    EXPECT_FLOAT_EQ(row(1, 20, 12), 45);
    work().undo();
    layering.begin_drag(work(), 0, 5, 5);
    layering.drag_to(work(), 33);
    layering.end_drag(work());
    EXPECT_FALSE(work().can_redo()) << "another way was taken";
    EXPECT_FLOAT_EQ(row(0, 5, 5), 33);
}

TEST_F(WorkspaceTissue, EditedSurfacesAreSavedAndRead) {
    open_tissue();
    find_layers();
    Layering& layering = work().layering();
    layering.begin_drag(work(), 0, 20, 12);
    layering.drag_to(work(), 40);
    layering.end_drag(work());
    layering.save(work(), folder() / "surfaces.csv");
    layering.save(work(), folder() / "surfaces.nrrd");
    settle();
    ASSERT_EQ(troubles(), "");
    std::ifstream table(folder() / "surfaces.csv");
    const std::string text(std::istreambuf_iterator<char>(table), {});
    EXPECT_THAT(text, HasSubstr("12,20,front,80"));  // um
    const Surfaces read = read_surfaces(folder() / "surfaces.nrrd", layering.grid());
    EXPECT_NEAR(read.all[0].rows[12 * layered_a_scans + 20], 40, 1e-3);
    work().undo();
    EXPECT_LT(row(0, 20, 12), 31);
    layering.open(work(), folder() / "surfaces.nrrd");
    ASSERT_TRUE(until([&] { return row(0, 20, 12) > 39; })) << troubles();
}

TEST_F(WorkspaceTissue, TheVolumeIsCutBetweenSurfacesAndFollowsThem) {
    open_tissue();
    find_layers();
    work().layering().show_between(work(), 0, 1);
    EXPECT_EQ(work().view().top_from, "layers:front");
    EXPECT_EQ(work().view().bottom_from, "layers:back");
    EXPECT_TRUE(work().stage().exhibit()->has_heights());
    const auto mean = [this] {
        View view = work().view();
        view.width = view.height = 48;
        view.mode = ViewMode::mip;
        const Image image = work().stage().exhibit()->still(view);
        double sum = 0;
        for (const std::uint8_t level : image.pixels) sum += level;
        return sum;
    };
    EXPECT_NEAR(work().layering().heights("layers:front", true)[0], 2 * first_surface, 1.2);
    const double cut = mean();
    Layering& layering = work().layering();
    work().change("layers.drag_a_scans", std::int64_t{100});
    work().change("layers.drag_b_scans", std::int64_t{100});
    layering.begin_drag(work(), 0, 20, 12);
    layering.drag_to(work(), 59);
    layering.end_drag(work());
    EXPECT_NE(mean(), cut) << "the cut follows its surface";
    layering.show_all(work());
    EXPECT_FALSE(work().stage().exhibit()->has_heights());
    EXPECT_EQ(troubles(), "");
}

TEST_F(WorkspaceTissue, ACutBySurfacesThatThereAreNotIsSaid) {
    open_tissue();
    EXPECT_FALSE(work().change("view.top_from", std::string("layers:front")));
    EXPECT_THAT(standing("view"), HasSubstr("find them first"));
    find_layers();
    EXPECT_FALSE(work().change("view.top_from", std::string("layers:frond")));
    EXPECT_THAT(standing("view"), HasSubstr("front"));
}

TEST_F(WorkspaceTissue, NoiseHasNoSurfaces) {
    Volume noise = layered_volume();
    std::mt19937 random(3);
    std::exponential_distribution<float> speckle(1);
    auto* values = reinterpret_cast<float*>(noise.voxels.data());
    for (std::int64_t i = 0; i < noise.grid.voxels(); ++i) values[i] = speckle(random);
    open_tissue(noise);
    work().layering().find(work());
    ASSERT_TRUE(until([this] { return !standing("layers").empty(); }));
    EXPECT_THAT(standing("layers"), HasSubstr("no surface was found"));
    EXPECT_EQ(work().layering().surfaces(), nullptr);
}

// ---- stabilising

TEST_F(WorkspaceTissue, AnotherTimePointSaysHowFarBScansWereShifted) {
    std::vector<int> shifts;
    for (std::int64_t b = 0; b < layered_b_scans; ++b) shifts.push_back(static_cast<int>((b * 7) % 5) - 2);
    write(layered_volume(1), "series/v_0.nrrd");
    write(layered_volume(1, shifts), "series/v_1.nrrd");
    open_tissue_file(folder() / "series");
    ASSERT_NE(work().stage().exhibit()->timeline(), nullptr);
    work().stage().exhibit()->timeline()->pause();
    work().stage().exhibit()->timeline()->go_to(1);
    ASSERT_TRUE(until([this] { return work().stage().exhibit()->stamp()->volume == 1; }));
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
    ASSERT_EQ(rows.size(), static_cast<std::size_t>(layered_b_scans));
    int right = 0;
    for (std::size_t b = 0; b < rows.size(); ++b)
        right += rows[b].is_valid() && std::abs(rows[b].z + shifts[b]) < 0.5 ? 1 : 0;
    EXPECT_GE(right, 20) << "of 24";
    work().change("registration.shown", true);
    ASSERT_TRUE(until([this] { return work().filtering().is_stabilised(work()); })) << troubles();
    work().change("registration.shown", false);
    ASSERT_TRUE(until([this] { return !work().filtering().is_stabilised(work()); }));
}

TEST_F(WorkspaceTissue, SessionsKeepWhatIsMadeOfTissue) {
    open_tissue();
    work().change("layers.count", std::int64_t{5});
    work().change("filter.sigma", 3.0);
    work().save_session(folder() / "session.toml");
    settle();
    const RestoredSession kept =
        session_of(toml_entries(folder() / "session.toml"), (folder() / "session.toml").string());
    const TissueSettings tissue = tissue_of(kept.view_values);
    EXPECT_EQ(tissue.layers.count, 5);
    EXPECT_EQ(tissue.filter.sigma, 3);
    EXPECT_FALSE(tissue.filter_display.shown);
}

}  // namespace
}  // namespace echolux::test
