// The whole live system on the CPU and software Vulkan: a source, a session, a display path and a drawing loop.
// Failures of the display cost pictures but never end the session.
#include <gmock/gmock.h>

#include <cstring>
#include <filesystem>
#include <future>
#include <utility>

#include "app/live/live_job.h"
#include "app/live/session_run.h"
#include "engine/io/volume_file.h"
#include "engine/live/session.h"
#include "live_fixture.h"
#include "tests/session/faulty_source.h"

namespace echolux::test {
namespace {

using echolux::test::FaultySource;
using testing::AllOf;
using ::testing::Contains;
using ::testing::Field;
using ::testing::HasSubstr;
using testing::HasSubstr;
using testing::Not;

// Sends volumes of noise, as many as the test allows.
class GatedSource : public FaultySource {
  public:
    explicit GatedSource(const ReconstructionSpec& plan)
        : FaultySource(scan_of(plan), plan.block_b_scans, {echolux::test::send()},
                       [plan](const Block& block, std::span<std::byte> bytes) {
                           const std::vector<std::uint16_t> samples = noise_spectra(plan, block.volume);
                           const Block sent = block_of(plan, std::as_bytes(std::span(samples)), block.volume,
                                                       block.first_b_scan, block.first_b_scan + block.b_scans);
                           std::memcpy(bytes.data(), sent.data, bytes.size());
                       }),
          blocks_a_volume_(plan.geometry.b_scans / plan.block_b_scans) {}

    void allow(std::int64_t volumes) {
        blocks_ = volumes * blocks_a_volume_;
        wake();
    }

    Arrival next(std::chrono::milliseconds timeout) override {
        if (sent_ >= blocks_) return nothing_until([this] { return !running() || sent_ < blocks_; }, timeout);
        ++sent_;
        return FaultySource::next(timeout);
    }

  private:
    static Scan scan_of(const ReconstructionSpec& plan) {
        Scan scan;
        scan.path = "noise";
        scan.format = plan.format;
        scan.geometry = plan.geometry;
        scan.recipe = plan.recipe;
        return scan;
    }

    std::int64_t blocks_a_volume_;
    std::atomic<std::int64_t> blocks_ = 0;
    std::int64_t sent_ = 0;
};

class LiveRunning : public LiveTest {
  protected:
    LivePipeline& make_path(const ReconstructionSpec& plan) {
        plan_ = plan;
        return make();
    }

    // Waits until a picture could show volume `number`.
    void await_volume(std::int64_t number) {
        const auto is_there = [&] {
            const std::optional<ReadVolume> read = path_->display.read_volume();
            return read && read->stamp.volume == number;
        };
        AWAIT(is_there());
    }
};

// Slots of 32768 depths exceed the limits of any device. They are only created when the setting changes.
TEST_F(LiveRunning, FailedSlotsKeepRingAndSession) {
    ReconstructionSpec plan = noise_spec(65536, 3, 4);
    plan.block_b_scans = 2;
    plan.recipe.depth_end = 16;
    GatedSource source(plan);
    LivePipeline& path = make_path(plan);
    Session session(source, path.feeder);
    source.allow(1);
    session.start();
    await_volume(0);
    ReconstructionSpec deeper = plan;
    deeper.recipe.depth_end = 0;
    session.change(deeper);
    std::vector<LiveEvent> events;
    AWAIT(!(events = session.take_events()).empty());
    EXPECT_THAT(events, Contains(Field(&LiveEvent::line, HasSubstr("32768 x 3 x 4 voxels"))));
    const std::optional<ReadVolume> read = path.display.read_volume();
    ASSERT_TRUE(read) << "the old ring stays";
    EXPECT_EQ(read->stamp.volume, 0);
    EXPECT_EQ(read->voxels, voxels_in_memory(plan, noise_spectra(plan, 0)));
    EXPECT_EQ(session.stats().changes, 0);
    source.allow(2);
    await_volume(1);
    EXPECT_EQ(path.display.read_volume()->voxels, voxels_in_memory(plan, noise_spectra(plan, 1)));
    ReconstructionSpec fitting = plan;
    fitting.recipe.depth_end = 20;
    session.change(fitting);
    AWAIT(session.stats().reprocessed_volumes == 1);
    EXPECT_EQ(path.display.read_volume()->voxels, voxels_in_memory(fitting, noise_spectra(plan, 1)));
    session.stop();
    EXPECT_EQ(session.stats().finished_volumes, 2);
    EXPECT_EQ(session.stats().failed_volumes + session.stats().dropped_volumes, 0);
}

TEST_F(LiveRunning, LostDisplayEndsPicturesButNotSession) {
    const ReconstructionSpec plan = small_plan();
    GatedSource source(plan);
    LivePipeline& path = make_path(plan);
    Session session(source, path.feeder);
    std::atomic<std::int64_t> seen = -1;
    PictureLoop loop(path.display, live_view(), 1000, [&](std::int64_t volume) { seen = volume; });
    session.start();
    source.allow(1 << 20);
    AWAIT(seen >= 0);
    lost_ = true;
    AWAIT(loop.problem().has_value());
    EXPECT_THAT(*loop.problem(), HasSubstr("a simulated loss"));
    const std::int64_t arrived = session.stats().arrived.volumes;
    const std::int64_t finished = session.stats().finished_volumes;
    AWAIT(session.stats().arrived.volumes > arrived + 20);
    AWAIT(session.stats().finished_volumes > finished + 20);
    EXPECT_TRUE(session.stats().running);
    session.stop();
    EXPECT_TRUE(session.drain(std::chrono::minutes(1)));
    const LiveStats f = session.stats();
    EXPECT_EQ(f.arrived.lost_blocks, 0);
    EXPECT_EQ(f.arrived.blocks,
              f.queue.taken_blocks + f.queue.overtaken_blocks + f.queue.incomplete_blocks + f.queue.given_up_blocks);
}

// Each copy contains the volume with its number, even if newer ones have arrived.
TEST_F(LiveRunning, CopiesVolumesWhilePicturesContinue) {
    const ReconstructionSpec plan = small_plan();
    GatedSource source(plan);
    LivePipeline& path = make_path(plan);
    Session session(source, path.feeder);
    constexpr std::size_t enough = 20;
    std::vector<std::pair<std::int64_t, std::future<std::vector<std::byte>>>> taken;
    std::atomic<bool> has_enough = false;
    PictureLoop loop(path.display, live_view(), 1000, [&](std::int64_t number) {
        if (taken.size() == enough) return;
        VolumeDownload coming = path.display.begin_reading_volume().value();
        EXPECT_GE(coming.volume.stamp.volume, number);
        taken.emplace_back(coming.volume.stamp.volume, std::async(std::launch::async, std::move(coming.voxels)));
        has_enough = taken.size() == enough;
    });
    session.start();
    source.allow(1 << 20);
    AWAIT(has_enough.load());
    session.stop();
    loop.stop();
    for (auto& [number, voxels] : taken) {
        EXPECT_EQ(voxels.get(), voxels_in_memory(plan, noise_spectra(plan, number))) << "volume " << number;
    }
}

// All threads at once, for the thread sanitizer: acquisition, reconstruction, drawing, planning, and changes of
// settings and views.
TEST_F(LiveRunning, SettingsAndViewsMayChangeConcurrently) {
    const ReconstructionSpec plan = small_plan();
    GatedSource source(plan);
    LivePipeline& path = make_path(plan);
    Session session(source, path.feeder);
    PictureLoop loop(path.display, live_view(), 1000, [&](std::int64_t volume) { session.shown(volume); });
    session.start();
    source.allow(1 << 20);
    View view = live_view();
    for (int i = 0; i < 60; ++i) {
        ReconstructionSpec changed = plan;
        changed.recipe.a2_rad = i % 50;
        if (i % 4 == 0) changed.recipe.high = 60 + i;
        if (i % 7 == 0) changed.recipe.depth_end = 20;
        session.change(changed);
        session.look_at(i % plan.geometry.b_scans);
        view.azimuth_deg = i;
        loop.set_view(view);
        const std::int64_t pictures = loop.stats().pictures;
        AWAIT(loop.stats().pictures > pictures);
        path.feeder.describe();
    }
    session.stop();
    EXPECT_TRUE(session.drain(std::chrono::minutes(1)));
    loop.stop();
    EXPECT_FALSE(loop.problem());
    EXPECT_GT(session.stats().changes, 0);
    EXPECT_EQ(session.stats().failed_volumes, 0);
    EXPECT_EQ(loop.stats().out_of_order, 0);
    for (const LiveEvent& event : session.take_events()) ADD_FAILURE() << event.line;
}

// ---- the last volumes -----------------------------------------------------------------------------------------------

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
    std::string take_lines() {
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
    EXPECT_THAT(take_lines(), HasSubstr("raise `source.keep_gb`"));
    EXPECT_EQ(path_->display.kept().max_volumes, 0);
}

// The earlier slots are already gone, so the new ones are used.
TEST_F(LiveRecent, UsesNewSlotsIfNoneCanBeKept) {
    keep(plenty);
    ASSERT_TRUE(feed(0) && feed(1));
    EXPECT_GE(path_->display.kept().max_volumes, 3);
    take_lines();
    change(cropped());
    submissions_ = 2;  // the first creates slots, the second those for kept volumes
    EXPECT_TRUE(path_->feeder.take_change(SwapPoint::between_volumes));
    EXPECT_EQ(path_->feeder.grid().depth, 20);
    EXPECT_THAT(take_lines(),
                AllOf(HasSubstr("cannot keep volumes: "), HasSubstr("volumes of another size were discarded")));
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
