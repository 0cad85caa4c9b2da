// The last volumes of a live display: their description, the effect of changed settings, and the note about it in saved
// files.
#include <gmock/gmock.h>

#include <filesystem>

#include "app/live/session_run.h"
#include "engine/io/volume_file.h"
#include "live_fixture.h"

namespace echolux::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

constexpr std::int64_t plenty = 1 << 20;  // bytes: more than a hundred of these volumes

class LiveRecent : public LiveTest {
  protected:
    bool loses() override { return submissions_ > 0 && --submissions_ == 0; }
    void keep(std::int64_t bytes) { make({.keep_bytes = bytes}); }
    void change(const ReconstructionSpec& plan) {
        path_->feeder.change(plan);
        AWAIT(path_->feeder.has_change_ready());
    }
    ReconstructionSpec cropped() const {
        ReconstructionSpec plan = plan_;
        plan.recipe.depth_end = 20;
        return plan;
    }
    std::string told() {
        std::string lines;
        for (const BlockSink::SinkMessage& news : path_->feeder.take_messages()) lines += news.line + "\n";
        return lines;
    }

    int submissions_ = 0;  // if above 0: counts down to the submission that loses the device
};

TEST_F(LiveRecent, OneLineReportsNumberOrReason) {
    const auto line = [](std::size_t kept, std::int64_t keep_bytes, const std::string& why_none = "") {
        return recent_line({.remark = {}, .kept = kept, .slot_bytes = 250'000'000}, keep_bytes, why_none);
    };
    EXPECT_EQ(line(6, 2'000'000'000), "keeping the last 6 volumes in 1.5 GB of memory");
    EXPECT_THAT(line(0, 200'000'000), AllOf(HasSubstr("one takes 0.25 GB"), HasSubstr("raise `source.keep_gb`")));
    EXPECT_THAT(line(0, 250'000'000), AllOf(HasSubstr("not enough memory is free"), Not(HasSubstr("keep_gb"))));
    EXPECT_EQ(line(0, 200'000'000, "lost"), "cannot keep volumes: lost");
    keep(10);
    EXPECT_THAT(told(), HasSubstr("raise `source.keep_gb`"));
    EXPECT_EQ(path_->display.kept().max_volumes, 0);
}

// The earlier slots are already gone, so the new ones are used.
TEST_F(LiveRecent, UsesNewSlotsIfNoneCanBeKept) {
    keep(plenty);
    ASSERT_TRUE(feed(0) && feed(1));
    EXPECT_GE(path_->display.kept().max_volumes, 3);
    told();
    change(cropped());
    submissions_ = 2;  // the first creates slots, the second those for kept volumes
    EXPECT_TRUE(path_->feeder.take_change(SwapPoint::between_volumes));
    EXPECT_EQ(path_->feeder.grid().depth, 20);
    EXPECT_THAT(told(), AllOf(HasSubstr("cannot keep volumes: "), HasSubstr("volumes of another size were discarded")));
    EXPECT_EQ(path_->display.kept().max_volumes, 0);
    EXPECT_TRUE(feed(2)) << "who feeds needs no device that draws";
}

TEST_F(LiveRecent, GridFollowsKeptVolumes) {
    keep(plenty);
    ASSERT_TRUE(feed(0));
    const std::int64_t depth = path_->display.shown()->grid.depth;
    change(cropped());
    ASSERT_TRUE(path_->feeder.take_change(SwapPoint::between_volumes));
    ASSERT_TRUE(feed(1));
    const RecentVolumes kept = path_->display.kept();
    ASSERT_EQ(kept.volumes.size(), 1u);
    EXPECT_EQ(kept.volumes[0].stamp.volume, 1);
    EXPECT_EQ(kept.grid.depth, 20);
    EXPECT_NE(kept.grid.depth, depth);
}

TEST_F(LiveRecent, FileNamesVolumesOfOtherSettings) {
    keep(plenty);
    ASSERT_TRUE(feed(0) && feed(1));
    const auto saved = [&]() -> std::string {
        const std::filesystem::path file = std::filesystem::path(testing::TempDir()) / "live_kept_test.nrrd";
        const std::shared_ptr<const RecentHold> hold = path_->display.hold_recent();
        const RecentVolumes kept = path_->display.kept();
        const PlanInUse plan = path_->display.plan_in_use();
        SilentProgress progress;
        std::size_t next = 0;
        write_recent(
            file, {kept.volumes, kept.grid, {}, plan.number},
            [&] { return path_->display.begin_reading_recent(*hold, kept.volumes[next++].serial)->voxels(); },
            progress);
        const auto provenance = SeriesFile(file).header().provenance;
        std::filesystem::remove(file);
        const auto found = provenance.find("recipe_changed");
        return found == provenance.end() ? "" : found->second;
    };
    EXPECT_EQ(saved(), "");
    ReconstructionSpec plan = plan_;
    plan.recipe.a2_rad = 20;  // this keeps the slots
    change(plan);
    ASSERT_TRUE(path_->feeder.take_change(SwapPoint::between_volumes));
    EXPECT_EQ(path_->display.plan_in_use().spec.recipe.a2_rad, 20);
    EXPECT_EQ(saved(), "begun with other settings: 2 volumes of 2, up to volume 1");
    ASSERT_TRUE(feed(2));
    EXPECT_EQ(saved(), "begun with other settings: 2 volumes of 3, up to volume 1");
}

TEST_F(LiveRecent, SavingCountsNoPictures) {
    keep(plenty);
    ASSERT_TRUE(feed(0) && feed(1));
    const std::shared_ptr<const RecentHold> hold = path_->display.hold_recent();
    for (const RecentVolume& volume : path_->display.kept().volumes)
        EXPECT_TRUE(path_->display.begin_reading_recent(*hold, volume.serial)->voxels().size() > 0);
    EXPECT_EQ(path_->feeder.statistics().shown, 0);
    EXPECT_EQ(path_->feeder.statistics().pictures, 0);
    EXPECT_EQ(path_->feeder.statistics().late, 1);
}

}  // namespace
}  // namespace echolux::test
