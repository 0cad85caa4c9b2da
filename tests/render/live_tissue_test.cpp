// Postprocessing between reconstruction and the ring: the textures hold the same voxels as the same filter applied to
// the volume in plain memory. Volumes that arrive too fast are skipped and counted. Changes take effect between
// volumes.
#include "engine/speckle/speckle_filter.h"
#include "live_fixture.h"

namespace echolux::test {
namespace {

class LiveTissuePath : public LiveTest {
  protected:
    LiveTissuePath() {
        plan_ = noise_spec(256, 37, 12);
        build();
    }

    void build(const LiveTissue& tissue = {}) {
        LivePipelineOptions options;
        options.tissue = tissue;
        options.postprocessed = [this](const PostprocessingResult&, const VolumeGrid&) { ++heard_; };
        make(options);
    }

    // Always the same spectra.
    bool feed(std::int64_t volume, std::int64_t begin, std::int64_t end) {
        spectra_[volume] = noise_spectra(plan_, 0);
        return LiveTest::feed(volume, begin, end);
    }
    bool feed(std::int64_t volume) { return feed(volume, 0, 3) && feed(volume, 3, 12); }

    void want(const LiveTissue& tissue) {
        path_->feeder.set_tissue(tissue);
        EXPECT_FALSE(path_->feeder.take_change(SwapPoint::within_volume));
        EXPECT_TRUE(path_->feeder.take_change(SwapPoint::between_volumes));
    }

    static LiveTissue median() {
        return LiveTissue{.filters = true, .filter = {.method = FilterMethod::median, .median_size = 3}};
    }
    // Takes longer than any test runs.
    static LiveTissue endless() {
        return LiveTissue{.filters = true, .filter = {.search_depth = 31, .search_a_scans = 31, .search_b_scans = 31}};
    }

    std::vector<std::byte> raw() const { return expected(0); }
    std::vector<std::byte> filtered(const SpeckleFilter& filter) const {
        Volume volume{path_->feeder.grid(), raw(), {}};
        SilentProgress silent;
        filter_volume(volume, filter, silent);
        return volume.voxels;
    }
    std::vector<std::byte> shown() {
        path_->feeder.finish_tissue(std::chrono::minutes(2));
        return LiveTest::shown();
    }

    std::atomic<int> heard_ = 0;
};

TEST_F(LiveTissuePath, ShowsFilteredVolume) {
    build(median());
    ASSERT_TRUE(feed(0));
    ASSERT_NE(filtered(median().filter), raw());
    EXPECT_EQ(shown(), filtered(median().filter));
    EXPECT_EQ(path_->display.read_volume()->stamp.volume, 0);
    EXPECT_EQ(heard_, 1);
    EXPECT_EQ(path_->feeder.statistics().published, 1);
    ASSERT_TRUE(feed(1));
    EXPECT_EQ(shown(), filtered(median().filter));
    EXPECT_EQ(path_->display.read_volume()->stamp.volume, 1);
    ASSERT_NE(path_->feeder.tissue_log().of(1), nullptr);
    EXPECT_TRUE(path_->feeder.tissue_log().of(1)->is_filtered);
}

TEST_F(LiveTissuePath, SwitchesBetweenVolumes) {
    ASSERT_TRUE(feed(0));
    EXPECT_EQ(shown(), raw());
    ASSERT_TRUE(feed(1, 0, 3));
    path_->feeder.set_tissue(median());
    EXPECT_FALSE(path_->feeder.take_change(SwapPoint::within_volume));
    ASSERT_TRUE(feed(1, 3, 12));
    EXPECT_EQ(shown(), raw());
    EXPECT_TRUE(path_->feeder.take_change(SwapPoint::between_volumes));
    ASSERT_TRUE(feed(2));
    EXPECT_EQ(shown(), filtered(median().filter));
    EXPECT_FALSE(path_->feeder.reprocess(block(2, 3, 6))) << "a filtered volume is made of a whole one";
    want({});
    ASSERT_TRUE(feed(3));
    EXPECT_EQ(shown(), raw());
}

TEST_F(LiveTissuePath, CountsSkippedVolumes) {
    build(endless());
    EXPECT_TRUE(feed(0)) << "is worked on";
    EXPECT_TRUE(feed(1)) << "waits";
    EXPECT_FALSE(feed(2)) << "has no place";
    EXPECT_FALSE(feed(3));
    EXPECT_EQ(path_->feeder.tissue_log().stats().skipped, 2);
    EXPECT_FALSE(path_->display.read_volume()) << "nothing is done yet";
    want({});
    ASSERT_TRUE(feed(4)) << "what was under way is given up";
    EXPECT_EQ(shown(), raw());
    AWAIT(path_->feeder.tissue_log().stats().skipped == 4);  // when the worker thread has noticed
}

// A session at rest processes its last volume again. The result with the last of several settings is displayed.
TEST_F(LiveTissuePath, RepeatedVolumeCancelsEarlierWork) {
    ASSERT_TRUE(feed(3));
    for (int again = 0; again < 3; ++again) {
        want(endless());
        AWAIT(feed(3));
    }
    want(median());
    AWAIT(feed(3));
    EXPECT_EQ(shown(), filtered(median().filter));
}

TEST_F(LiveTissuePath, NewVolumeShapeCancelsWork) {
    build(endless());
    ASSERT_TRUE(feed(0));
    plan_.recipe.depth_end = 20;
    take(plan_);
    want(median());
    AWAIT(feed(1));  // the cancelled work may still occupy a place for a moment
    EXPECT_EQ(path_->feeder.grid().depth, 20);
    EXPECT_EQ(shown(), filtered(median().filter));
}

TEST_F(LiveTissuePath, IncompleteVolumesReleaseTheirPlace) {
    build(median());
    for (std::int64_t volume = 0; volume < 5; ++volume) ASSERT_TRUE(feed(volume, 0, 3));
    ASSERT_TRUE(feed(7));
    EXPECT_EQ(shown(), filtered(median().filter));
    EXPECT_EQ(path_->feeder.tissue_log().stats().skipped, 0);
}

TEST_F(LiveTissuePath, PicturesMatchFilteredVolume) {
    build(median());
    ASSERT_TRUE(feed(0));
    path_->feeder.finish_tissue(std::chrono::minutes(2));
    const auto picture = path_->display.picture(live_view()).value();
    const Image live = path_->display.read(picture);
    renderer().set_volume(path_->feeder.grid(), filtered(median().filter).data());
    EXPECT_EQ(live.pixels, renderer().render(live_view()).pixels);
}

}  // namespace
}  // namespace echolux::test
