// Contents of movies over time: turntables that loop, sweeps from the first layer to the last, time points in order,
// key frames, and combinations of them.
#include "app/movie/movie_plan.h"

#include <gmock/gmock.h>

#include <cmath>
#include <fstream>
#include <set>

#include "../unit/temporary_folder.h"
#include "compute/error.h"
#include "rendering.h"
#include "tests/support/set_fields.h"

namespace echolux {
namespace {

MovieTimePoints time_points(std::int64_t steps = 1, double step_s = 0) {
    MovieTimePoints volumes{.grid = test::db_grid(10, 20, 30), .steps = steps, .step_s = step_s};
    volumes.grid.spacing_um = {2, 3, 4};
    return volumes;
}

MoviePlan plan_of(const MovieSpec& spec, const View& view = {}, const MovieTimePoints& volumes = time_points()) {
    return MoviePlan(spec, view, volumes);
}

std::string refusal(const MovieSpec& spec, const View& view = {}, const MovieTimePoints& volumes = time_points()) {
    return test::refusal_of([&] { plan_of(spec, view, volumes); }).line();
}

TEST(MoviePlans, LengthAndRateAreExact) {
    EXPECT_EQ(plan_of({}).frames(), 300);
    EXPECT_EQ(plan_of({.fps = "25"}).frames(), 250);
    EXPECT_EQ(plan_of({.seconds = 2}).frames(), 60);
    EXPECT_EQ(plan_of({.seconds = 10, .fps = "30000/1001"}).frames(), 300);
    const MoviePlan plan = plan_of({.frames = 300, .seconds = 7});
    EXPECT_EQ(plan.frames(), 300);
    EXPECT_EQ(plan.rate(), (FrameRate{300, 7}));
    EXPECT_DOUBLE_EQ(plan.seconds(), 7);
    EXPECT_THAT(refusal({.frames = 3, .seconds = 1, .fps = "3"}), testing::HasSubstr("`fps`"));
    EXPECT_THAT(refusal({.seconds = 1e-3}), testing::HasSubstr("seconds: "));
    EXPECT_THAT(refusal({.frames = 2'000'000}), testing::HasSubstr("frames: "));
}

TEST(MoviePlans, TurntableRotatesFullTurn) {
    View view;
    view.look = Look::left;
    const MoviePlan plan = plan_of({.frames = 8}, view);
    const double start = angles_of(view).azimuth_deg;
    for (std::int64_t frame = 0; frame < 8; ++frame) {
        const View shown = plan.view(frame);
        EXPECT_NEAR(std::remainder(shown.azimuth_deg - start - 45.0 * static_cast<double>(frame), 360), 0, 1e-9);
        EXPECT_EQ(shown.look, Look::free);
        EXPECT_EQ(shown.elevation_deg, angles_of(view).elevation_deg);
    }
}

TEST(MoviePlans, FittedVolumeKeepsSizeDuringTurn) {
    View view = with(View{}, "fit=true zoom=1.5");
    const MoviePlan plan = plan_of({.frames = 12}, view);
    for (std::int64_t frame = 0; frame < 12; ++frame) {
        EXPECT_FALSE(plan.view(frame).fit);
        EXPECT_EQ(plan.view(frame).zoom, plan.view(0).zoom);
    }
}

TEST(MoviePlans, SweepMovesFromFirstToLastLayer) {
    const MoviePlan through = plan_of({.path = "sweep"});
    ASSERT_EQ(through.frames(), 30);  // each B-scan once
    for (std::int64_t frame = 0; frame < 30; ++frame) {
        const std::vector<double> plane = through.view(frame).slices;
        EXPECT_THAT(plane,
                    testing::ElementsAre(0, 0, 1, testing::DoubleNear(4 * (static_cast<double>(frame) - 14.5), 1e-9)));
    }
    const MoviePlan cut = plan_of({.path = "sweep", .frames = 3, .along = SweepAxis::depth, .plane = SweptPlane::clip});
    EXPECT_THAT(cut.view(0).clip_planes, testing::ElementsAre(1, 0, 0, -9));
    EXPECT_THAT(cut.view(1).clip_planes, testing::ElementsAre(1, 0, 0, 0));
    EXPECT_THAT(cut.view(2).clip_planes, testing::ElementsAre(1, 0, 0, 9));
    EXPECT_TRUE(cut.view(0).slices.empty());
}

TEST(MoviePlans, SweepMovesSection) {
    View view = with(View{}, "show=slice plane=side");
    const MoviePlan plan = plan_of({.path = "sweep"}, view);
    ASSERT_EQ(plan.frames(), 20);
    EXPECT_DOUBLE_EQ(plan.view(0).plane_offset_um, -3 * 9.5);
    EXPECT_DOUBLE_EQ(plan.view(19).plane_offset_um, 3 * 9.5);
    EXPECT_TRUE(plan.view(0).slices.empty());
    view.show = ViewContent::en_face;
    EXPECT_THAT(refusal({.path = "sweep"}, view), testing::HasSubstr("path: sweep"));
}

TEST(MoviePlans, TimePathVisitsAllStepsInOrder) {
    const MoviePlan once = plan_of({.path = "time"}, {}, time_points(64, 2));
    ASSERT_EQ(once.frames(), 64);
    for (std::int64_t frame = 0; frame < 64; ++frame) EXPECT_EQ(once.step(frame), frame);
    const MoviePlan slow = plan_of({.path = "time", .frames = 150}, {}, time_points(64, 2));
    std::set<std::int64_t> seen;
    for (std::int64_t frame = 0; frame < 150; ++frame) {
        seen.insert(slow.step(frame));
        EXPECT_GE(slow.step(frame), *seen.rbegin());
    }
    EXPECT_EQ(seen.size(), 64U);
    EXPECT_THAT(refusal({.path = "time"}), testing::HasSubstr("path: time"));
}

TEST(MoviePlans, TimeStampsMatchData) {
    View view = with(View{}, "time_stamp=true time_s=100");
    const MoviePlan plan = plan_of({.path = "time", .fps = "5"}, view, time_points(20, 0.08));
    EXPECT_DOUBLE_EQ(plan.view(0).time_s, 100);
    EXPECT_DOUBLE_EQ(plan.view(19).time_s, 100 + 19 * 0.08);
    EXPECT_NEAR(plan.view(7).time_rate, 0.4, 1e-12);
    EXPECT_THAT(refusal({.path = "time"}, view, time_points(20)), testing::HasSubstr("`step_time_s`"));
    EXPECT_NEAR(plan_of({.path = "time", .fps = "5", .step_s = 0.2}, view, time_points(20)).view(0).time_rate, 1,
                1e-12);
    EXPECT_EQ(plan_of({}, view, time_points(20, 0.08)).view(0).time_rate, 0);
}

TEST(MoviePlans, KeyFramesRunInTheirOwnTime) {
    const TemporaryFolder folder;
    const std::string path = (folder.path() / "a+b.toml").string();
    std::ofstream(path) << "[[key]]\ntime_s = 0\nzoom = 1\n[[key]]\ntime_s = 2\nzoom = 3\n";
    const MoviePlan plan = plan_of({.path = path, .fps = "10"});
    ASSERT_EQ(plan.frames(), 21);
    EXPECT_DOUBLE_EQ(plan.view(0).zoom, 1);
    EXPECT_DOUBLE_EQ(plan.view(10).zoom, 2);
    EXPECT_DOUBLE_EQ(plan.view(20).zoom, 3);
}

TEST(MoviePlans, PathsAreJoined) {
    const TemporaryFolder folder;
    const std::string path = (folder.path() / "k.toml").string();
    std::ofstream(path) << "[[key]]\ntime_s = 0\nazimuth_deg = 10\n[[key]]\ntime_s = 1\nazimuth_deg = 30\n";
    const MoviePlan plan =
        plan_of({.path = "turntable+" + path + "+time+sweep", .frames = 4, .fps = "4"}, {}, time_points(4, 1));
    EXPECT_EQ(plan.step(3), 3);
    EXPECT_NEAR(std::remainder(plan.view(2).azimuth_deg - (20 + 180), 360), 0, 1e-9);
    EXPECT_EQ(plan.view(2).slices.size(), 4U);
    for (const char* wrong : {"", "turntable+", "spiral", "turntable+turntable", "none.toml"})
        EXPECT_THAT(refusal({.path = wrong}), testing::Not(testing::HasSubstr("no error"))) << wrong;
}

}  // namespace
}  // namespace echolux
