// Surfaces between layers in a workspace: found, edited by hand, used for cutting, and all of it undone.
#include <fstream>

#include "tests/support/set_fields.h"
#include "workspace_tissue.h"

namespace echolux::test {
namespace {

class WorkspaceLayers : public WorkspaceTissue {};

TEST_F(WorkspaceLayers, FindsSurfacesAndUndoes) {
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

TEST_F(WorkspaceLayers, DragIsOneStepOfUndo) {
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
    EXPECT_FALSE(work().history().can_redo()) << "another way was taken";
    EXPECT_FLOAT_EQ(row(0, 5, 5), 33);
}

TEST_F(WorkspaceLayers, EditedSurfacesAreSavedAndRead) {
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

TEST_F(WorkspaceLayers, CutFollowsSurfaces) {
    open_tissue();
    find_layers();
    work().layering().show_between(work(), 0, 1);
    EXPECT_EQ(work().view().top_from, "layers:front");
    EXPECT_EQ(work().view().bottom_from, "layers:back");
    EXPECT_TRUE(work().viewer().view_source()->has_heights());
    const auto mean = [this] {
        View view = with(work().view(), "width=48 height=48 mode=mip");
        const Image image = work().viewer().view_source()->still(view);
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
    EXPECT_FALSE(work().viewer().view_source()->has_heights());
    EXPECT_EQ(troubles(), "");
}

TEST_F(WorkspaceLayers, UndoPassesCutBetweenMissingSurfaces) {
    open_two_time_points();
    find_layers();
    work().layering().show_between(work(), 0, 1);
    ASSERT_TRUE(work().viewer().view_source()->has_heights());
    go_to(1);
    EXPECT_EQ(work().view().top_from, "") << "another volume is not cut between these surfaces";
    EXPECT_EQ(work().layering().surfaces(), nullptr);
    for (int steps = 0; work().history().can_undo() && steps < 20; ++steps) work().undo();
    EXPECT_FALSE(work().history().can_undo());
    EXPECT_EQ(work().view().top_from, "");
    go_to(0);
    EXPECT_EQ(work().layering().surfaces(), nullptr) << "they were taken back";
    for (int steps = 0; work().history().can_redo() && steps < 20; ++steps) {
        work().redo();
        turn(work());
    }
    EXPECT_FALSE(work().history().can_redo());
    EXPECT_NE(work().layering().surfaces(), nullptr);
    EXPECT_EQ(troubles(), "");
}

TEST_F(WorkspaceLayers, InterruptedDragChangesNoSurface) {
    open_two_time_points();
    find_layers();
    Layering& layering = work().layering();
    const Surfaces found = *layering.surfaces();
    layering.begin_drag(work(), 1, 20, 12);
    layering.drag_to(work(), 45);
    go_to(1);
    EXPECT_FALSE(layering.is_dragging());
    go_to(0);
    ASSERT_NE(layering.surfaces(), nullptr);
    EXPECT_EQ(layering.surfaces()->all[1].rows, found.all[1].rows) << "another volume was shown meanwhile";
    layering.begin_drag(work(), 1, 20, 12);
    layering.drag_to(work(), 45);
    work().undo();
    EXPECT_FALSE(layering.is_dragging());
    work().redo();
    ASSERT_NE(layering.surfaces(), nullptr);
    EXPECT_EQ(layering.surfaces()->all[1].rows, found.all[1].rows) << "undone while the button was held";
}

TEST_F(WorkspaceLayers, ManualEditsReturnWithTimePointOfRecording) {
    run_operation("simulate", {"scene=layers", "simulation.samples=512", "simulation.a_scans=32",
                               "simulation.b_scans=12", "simulation.volumes=2", "simulation.line_rate_hz=20000",
                               "output=" + (folder() / "two/scan.toml").string()});
    open_tissue_file(folder() / "two/scan.toml");
    find_layers();
    Layering& layering = work().layering();
    const float before = layering.surfaces()->all[0].rows[5 * 32 + 16];
    layering.begin_drag(work(), 0, 16, 5);
    layering.drag_to(work(), before - 6);
    layering.end_drag(work());
    const std::vector<float> edited = layering.surfaces()->all[0].rows;
    go_to(1);
    EXPECT_EQ(layering.surfaces(), nullptr);
    go_to(0);
    ASSERT_TRUE(until([&] { return layering.surfaces() != nullptr; }));
    EXPECT_EQ(layering.surfaces()->all[0].rows, edited);
    const Moment moment = work().filtering().moment(work());
    work().change("recipe.window", std::string("blackman"));
    EXPECT_TRUE(until([&] { return layering.surfaces() == nullptr; })) << "other settings make another volume";
    work().undo();
    settle();
    EXPECT_EQ(work().filtering().moment(work()), moment);
    EXPECT_TRUE(until([&] { return layering.surfaces() != nullptr; }));
}

TEST_F(WorkspaceLayers, ReportsCutByMissingSurfaces) {
    open_tissue();
    EXPECT_FALSE(work().change("view.top_from", std::string("layers:front")));
    EXPECT_THAT(standing("view"), HasSubstr("find them first"));
    find_layers();
    EXPECT_FALSE(work().change("view.top_from", std::string("layers:frond")));
    EXPECT_THAT(standing("view"), HasSubstr("front"));
}

TEST_F(WorkspaceLayers, SearchesLikeOperationWithoutSettings) {
    run_operation("simulate", {"scene=retina", "simulation.a_scans=32", "simulation.b_scans=8", "simulation.seed=3",
                               "output=" + (folder() / "eye/scan.toml").string()});
    run_operation("reconstruct",
                  {"scan=" + (folder() / "eye/scan.toml").string(), "output=" + (folder() / "eye.nrrd").string()});
    run_operation("segment",
                  {"input=" + (folder() / "eye.nrrd").string(), "output=" + (folder() / "wanted.nrrd").string()});
    open_tissue_file(folder() / "eye.nrrd");
    Layering& layering = work().layering();
    EXPECT_EQ(layering.used_preset(work()), "retina");
    layering.find(work());
    ASSERT_TRUE(until([&] { return layering.surfaces() != nullptr || !standing("layers").empty(); }));
    ASSERT_EQ(standing("layers"), "");
    const Surfaces wanted = read_surfaces(folder() / "wanted.nrrd", layering.grid());
    ASSERT_EQ(layering.surfaces()->all.size(), wanted.all.size());
    for (std::size_t k = 0; k < wanted.all.size(); ++k) {
        EXPECT_EQ(layering.surfaces()->all[k].name, wanted.all[k].name);
        for (std::size_t i = 0; i < wanted.all[k].rows.size(); ++i) {
            const float row = wanted.all[k].rows[i];
            if (std::isnan(row)) continue;
            ASSERT_NEAR(layering.surfaces()->all[k].rows[i], row, 1e-2) << k << " " << i;
        }
    }
    EXPECT_EQ(layering.used_preset(work()), "retina");
    layering.take_preset(work(), "layers");
    EXPECT_EQ(layering.used_preset(work()), "layers");
    work().change("layers.count", std::int64_t{4});
    EXPECT_EQ(layering.used_preset(work()), "");
}

TEST_F(WorkspaceLayers, NoiseHasNoSurfaces) {
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

}  // namespace
}  // namespace echolux::test
