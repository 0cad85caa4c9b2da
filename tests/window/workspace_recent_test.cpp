// The last volumes of a live source: paused, browsed and saved while newer ones arrive.
#include "app/viewer/live_source.h"

#include <algorithm>

#include "ui/workspace/exporting.h"
#include "workspace_fixture.h"

namespace echolux::test {
namespace {

using testing::HasSubstr;

class WorkspaceRecent : public WorkspaceTest {
  protected:
    void open_keeping(double gb = 0.001) {
        SourceRequest wanted = small_source();
        wanted.assignments.emplace_back("simulation.line_rate_hz=10000");
        wanted.settings.keep_gb = gb;
        work().open_source(wanted);
        settle();
        ASSERT_TRUE(work().viewer().is_open()) << troubles();
    }
    void fill() {
        ASSERT_TRUE(until([this] {
            return work().viewer().view_source()->recent_timeline() != nullptr &&
                   std::ssize(kept().volumes()) == kept().max_volumes();
        }));
        ASSERT_GE(kept().max_volumes(), 3);
    }
    RecentTimeline& kept() { return *work().viewer().view_source()->recent_timeline(); }
    ViewSource& view_source() { return *work().viewer().view_source(); }
    bool runs(const std::string& action) { return work().actions().run(action); }
    std::int64_t finished() { return work().viewer().live()->stats().finished_volumes; }
    std::vector<std::int64_t> numbers() {
        std::vector<std::int64_t> list;
        for (const RecentVolume& volume : kept().volumes()) list.push_back(volume.stamp.volume);
        return list;
    }
    void turns_until_more_came(std::int64_t volumes) {
        const std::int64_t before = finished();
        ASSERT_TRUE(until([&] { return finished() >= before + volumes; }));
    }
};

TEST_F(WorkspaceRecent, PausesWhileVolumesArrive) {
    open_keeping();
    fill();
    ASSERT_TRUE(runs("timeline.play"));
    EXPECT_TRUE(kept().is_paused());
    ASSERT_TRUE(runs("timeline.last"));
    EXPECT_EQ(kept().step(), kept().max_volumes() - 1);
    EXPECT_EQ(kept().ago_s(), 0);
    ASSERT_TRUE(runs("timeline.previous"));
    ASSERT_TRUE(runs("timeline.previous"));
    turn(work());
    const std::vector<std::int64_t> held = numbers();
    const std::int64_t shown = held[held.size() - 3];
    EXPECT_EQ(view_source().stamp()->volume, shown);
    EXPECT_NEAR(kept().ago_s(), static_cast<double>(held.back() - shown) * 24 * 12 / 10000, 0.01);
    const auto voxels = view_source().volume();
    turns_until_more_came(3 * kept().max_volumes());
    EXPECT_EQ(numbers(), held);
    EXPECT_EQ(view_source().stamp()->volume, shown);
    EXPECT_EQ(view_source().volume()->voxels, voxels->voxels) << "it was written over";
    EXPECT_EQ(work().viewer().live()->stats().dropped_volumes, 0);
    ASSERT_TRUE(runs("timeline.first"));
    turn(work());
    EXPECT_EQ(view_source().stamp()->volume, held.front());
    ASSERT_TRUE(runs("timeline.play"));
    turn(work());
    EXPECT_FALSE(kept().is_paused());
    EXPECT_GT(view_source().stamp()->volume, held.back() + 2 * kept().max_volumes());
    turns_until_more_came(2 * kept().max_volumes());
    turn(work());
    EXPECT_GT(numbers().front(), held.back()) << "all of those before have gone";
}

TEST_F(WorkspaceRecent, SavesKeptVolumesWhileSourceRuns) {
    open_keeping();
    fill();
    ASSERT_TRUE(runs("timeline.play"));
    std::vector<std::shared_ptr<const Volume>> seen;
    for (std::int64_t step = 0; step < kept().max_volumes(); ++step) {
        kept().go_to(step);
        seen.push_back(view_source().volume());
    }
    // Neighbours may be equal: a source that is late repeats a stored volume.
    EXPECT_FALSE(std::ranges::all_of(seen, [&](const auto& volume) { return volume->voxels == seen[0]->voxels; }));
    const std::vector<RecentVolume> volumes = kept().volumes();
    work().exporting().save_kept(folder() / "last.nrrd");
    ASSERT_TRUE(runs("timeline.play"));  // the job keeps its own references to the volumes
    settle();
    ASSERT_EQ(standing("export"), "");
    SeriesFile file(folder() / "last.nrrd");
    ASSERT_EQ(file.time_points(), std::ssize(volumes));
    for (std::size_t t = 0; t < seen.size(); ++t) {
        EXPECT_EQ(file.read(static_cast<std::int64_t>(t)).voxels, seen[t]->voxels) << "time point " << t;
    }
    EXPECT_NEAR(file.step_s() * static_cast<double>(volumes.size() - 1),
                volumes.back().stamp.time_s - volumes.front().stamp.time_s, 1e-6);
    EXPECT_EQ(file.header().provenance.at("volumes"),
              std::to_string(volumes.front().stamp.volume) + " to " + std::to_string(volumes.back().stamp.volume));
    turns_until_more_came(2 * kept().max_volumes());
    turn(work());
    EXPECT_GT(numbers().front(), volumes.back().stamp.volume) << "they are held still";
    ASSERT_TRUE(runs("timeline.play"));
    const double step_s = kept().seconds() / static_cast<double>(kept().max_volumes() - 1);
    work().exporting().save_kept(folder() / "short.h5", 1.5 * step_s);
    settle();
    ASSERT_EQ(standing("export"), "");
    EXPECT_EQ(SeriesFile(folder() / "short.h5").time_points(), 2);
}

TEST_F(WorkspaceRecent, ReportsWhySavingFails) {
    open_source();
    EXPECT_EQ(view_source().recent_timeline(), nullptr);
    EXPECT_FALSE(runs("timeline.play"));
    EXPECT_FALSE(runs("source.save_kept"));
    work().exporting().save_kept(folder() / "none.nrrd");
    EXPECT_THAT(troubles(), HasSubstr("open a live source with `source.keep_gb` above 0"));
    work().close();
    settle();
    open_keeping();
    fill();
    work().exporting().save_kept(folder() / "one.dcm");
    EXPECT_THAT(troubles(), HasSubstr("one.dcm: has a format that can only be read"));
    work().exporting().save_kept("/dev/full/last.nrrd");
    settle();
    EXPECT_THAT(troubles(), HasSubstr("/dev/full"));
}

TEST_F(WorkspaceRecent, ClosingEndsSave) {
    open_keeping(0.02);
    fill();
    work().exporting().save_kept(folder() / "never.nrrd");
    work().close();
    settle();
    EXPECT_FALSE(std::filesystem::exists(folder() / "never.nrrd"));
    EXPECT_THAT(troubles(), HasSubstr("closed"));
}

// Reconstructed voxels of another size need new slots.
TEST_F(WorkspaceRecent, NewShapeDiscardsKeptVolumes) {
    open_keeping();
    fill();
    ASSERT_TRUE(runs("timeline.play"));
    const VolumeGrid before = view_source().grid().value();
    work().change("recipe.depth_end", std::int64_t{20});
    ASSERT_TRUE(until([&] { return view_source().grid() && view_source().grid()->depth != before.depth; }))
        << troubles();
    EXPECT_FALSE(kept().is_paused());
    fill();
    EXPECT_EQ(view_source().volume()->grid.depth, view_source().grid()->depth);
}

}  // namespace
}  // namespace echolux::test
