// Animated views: through every key, never beyond the values of two adjacent keys, without kinks. Also their files, and
// editing of key frames.
#include "render/key_frames.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>

#include "../unit/temporary_folder.h"
#include "app/settings/key_frame_file.h"
#include "compute/plan/describe.h"
#include "tests/support/set_fields.h"

namespace echolux {
namespace {

using Keys = std::vector<std::pair<double, Value>>;

double number_at(const Track& track, double time) {
    return std::get<double>(track.at(time));
}

// Very different slopes, a rotation, a plateau and unequal intervals.
const Keys wild{{0.0, 0.0}, {1.0, 10.0}, {1.5, 10.1}, {4.0, 10.1}, {5.0, -20.0}, {5.2, -19.0}, {9.0, 40.0}};

TEST(Track, MeetsEveryKeyExactly) {
    const Track track(wild);
    for (const auto& [time, value] : wild) EXPECT_EQ(track.at(time), value);
    EXPECT_EQ(number_at(track, -5), 0);
    EXPECT_EQ(number_at(track, 100), 40);
}

TEST(Track, StaysBetweenNeighbouringKeysAndMonotone) {
    const Track track(wild);
    for (std::size_t i = 0; i + 1 < wild.size(); ++i) {
        const double from = std::get<double>(wild[i].second);
        const double to = std::get<double>(wild[i + 1].second);
        double last = from;
        for (int step = 0; step <= 1000; ++step) {
            const double now = number_at(track, std::lerp(wild[i].first, wild[i + 1].first, step / 1000.0));
            EXPECT_GE(now, std::min(from, to) - 1e-12);
            EXPECT_LE(now, std::max(from, to) + 1e-12);
            EXPECT_GE((now - last) * (to - from), -1e-9);
            last = now;
        }
    }
}

TEST(Track, HasContinuousRateAndRestsAtEnds) {
    const Track track(wild);
    const double h = 1e-6;
    double fastest = 0;
    for (const auto& [time, value] : wild) {
        const double here = std::get<double>(value);
        const double before = (here - number_at(track, time - h)) / h;
        const double after = (number_at(track, time + h) - here) / h;
        EXPECT_NEAR(before, after, 0.01) << time;  // allows for second derivatives of up to 1000 / s^2
        fastest = std::max(fastest, std::abs(after));
    }
    EXPECT_GT(fastest, 1);  // it does not stop at every key
    EXPECT_NEAR(number_at(track, h), 0, 1e-9);
    EXPECT_NEAR(number_at(track, 9 - h), 40, 1e-9);
}

TEST(Track, EqualStepsGiveStraightLine) {
    const Track track(Keys{{0, 0.0}, {1, 5.0}, {2, 10.0}, {3, 15.0}});
    for (const double time : {1.0, 1.25, 1.5, 1.9}) EXPECT_NEAR(number_at(track, time), 5 * time, 1e-12);
}

TEST(Track, ListsChangePerElement) {
    using List = std::vector<double>;
    const Track track(Keys{{0, List{0, 8, 1}}, {2, List{4, 0, 1}}});
    EXPECT_EQ(track.at(1), Value(List{2, 4, 1}));
    const Track other(Keys{{0, List{0, 1}}, {2, List{4}}});
    EXPECT_EQ(other.at(1.99), Value(List{0, 1}));
    EXPECT_EQ(other.at(2), Value(List{4}));
}

TEST(Track, DiscreteValuesChangeAtKey) {
    const Track mode(Keys{{0, std::string("mip")}, {1, std::string("composite")}});
    EXPECT_EQ(mode.at(0.999), Value(std::string("mip")));
    EXPECT_EQ(mode.at(1), Value(std::string("composite")));
    const Track flag(Keys{{0, true}, {1, false}});
    EXPECT_EQ(flag.at(0.5), Value(true));
    const Track open(Keys{{0, lowest_value}, {1, 3.0}});
    EXPECT_EQ(open.at(0.5), Value(lowest_value));
    EXPECT_EQ(open.at(1), Value(3.0));
}

TEST(KeyFrames, ChangeOnlyNamedSettings) {
    KeyFrames frames;
    frames.add(0, {{"azimuth_deg", 0.0}, {"width", std::int64_t{100}}});
    frames.add(2, {{"zoom", 2.0}});
    frames.add(4, {{"azimuth_deg", 720.0}, {"zoom", 3.0}, {"width", std::int64_t{201}}});
    View view;
    view.elevation_deg = 7;
    const View half = frames.at(view, 2);
    EXPECT_DOUBLE_EQ(half.azimuth_deg, 360);
    EXPECT_EQ(half.zoom, 2);
    EXPECT_EQ(half.width, 151);  // an integer
    EXPECT_EQ(half.elevation_deg, 7);
    EXPECT_EQ(frames.at(view, 0).zoom, 2);
    EXPECT_EQ(frames.first_s(), 0);
    EXPECT_EQ(frames.last_s(), 4);
}

// Fields added to the view later can also be animated.
TEST(KeyFrames, EveryFieldOfViewCanBeKeyed) {
    for (const Field<View>& field : describe<View>()) {
        const Value value = field.get({});
        KeyFrames frames;
        frames.add(0, {{std::string(field.name), value}});
        frames.add(1, {{std::string(field.name), value}});
        EXPECT_EQ(field.get(frames.at({}, 0.3)), value) << field.name;
    }
}

double zoom_at(const TimeLine& line, double time_s) {
    return line.at(View{}, time_s).zoom;
}

TimeLine two_zooms() {
    TimeLine line;
    line.set(0, "zoom", 1.0);
    line.set(4, "zoom", 3.0);
    return line;
}

TEST(TimeLines, StoreCameraAndChangedSettings) {
    TimeLine line;
    View view;
    view.look = Look::top;
    line.take(1, view);
    ASSERT_EQ(line.keys().size(), 1U);
    EXPECT_EQ(std::get<double>(line.keys()[0].values.at("elevation_deg")), 90);
    EXPECT_FALSE(line.keys()[0].values.contains("look"));
    EXPECT_FALSE(line.keys()[0].values.contains("opacity"));
    set(view, "opacity=5 width=77");
    line.take(3, view);
    ASSERT_EQ(line.keys().size(), 2U);
    EXPECT_EQ(std::get<double>(line.keys()[0].values.at("opacity")), 1);  // the value before the change
    EXPECT_EQ(std::get<double>(line.keys()[1].values.at("opacity")), 5);
    EXPECT_FALSE(line.keys()[1].values.contains("width"));
    EXPECT_NEAR(line.at(View{}, 2).opacity, 3, 1e-12);
    EXPECT_EQ(line.names().size(), 7U);
}

TEST(TimeLines, RoundTripThroughText) {
    TimeLine line = two_zooms();
    line.set(2.5, "text", std::string("a \"b\"\nc"));
    line.set(2.5, "box", false);
    line.set(2.5, "target_um", std::vector<double>{1, -2.25, 1e-7});
    line.set(2.5, "samples", std::int64_t{9});
    line.ease(4, Ease::hold);
    const TimeLine again(line.toml());
    EXPECT_EQ(again.toml(), line.toml());
    ASSERT_EQ(again.keys().size(), 3U);
    EXPECT_EQ(again.keys()[1].values, line.keys()[1].values);
    EXPECT_EQ(again.keys()[2].ease, Ease::hold);
    EXPECT_TRUE(TimeLine(" \n").is_empty());
}

TEST(TimeLines, KeysAreMovedCopiedAndErased) {
    TimeLine line = two_zooms();
    line.set(4, "opacity", 2.0);
    line.move(4, 2, "zoom");
    EXPECT_EQ(line.keys().size(), 3U);
    EXPECT_EQ(zoom_at(line, 2), 3);
    line.move(2, 0);  // replaces the key there
    EXPECT_EQ(zoom_at(line, 0), 3);
    EXPECT_EQ(line.keys().size(), 2U);
    line.copy(0, 6, "zoom");
    EXPECT_EQ(line.last_s(), 6);
    line.erase(6);
    EXPECT_EQ(line.last_s(), 4);
    line.erase(4, "opacity");
    EXPECT_EQ(line.keys().size(), 1U);
    line.move(17, 3);
    line.move(0, -5);
    EXPECT_EQ(line.keys().front().time_s, 0);
}

TEST(TimeLines, EasesFollowTheirCurves) {
    TimeLine line = two_zooms();
    line.set(8, "zoom", 4.0);
    EXPECT_NEAR(zoom_at(line, 2), 1 + 2 * 0.5 + 0, 0.5);
    line.ease(0, Ease::linear);
    for (const double time : {0.5, 1.0, 3.25}) EXPECT_NEAR(zoom_at(line, time), 1 + 0.5 * time, 1e-12);
    line.ease(0, Ease::hold);
    EXPECT_EQ(zoom_at(line, 3.999), 1);
    EXPECT_EQ(zoom_at(line, 4), 3);
    line.ease(0, Ease::smooth);
    constexpr double h = 1e-4;
    EXPECT_GT((zoom_at(line, 4 + h) - zoom_at(line, 4 - h)) / (2 * h), 0.1);
    line.ease(4, Ease::rest);
    EXPECT_NEAR((zoom_at(line, 4 + h) - zoom_at(line, 4 - h)) / (2 * h), 0, 1e-3);
}

TEST(TimeLines, RejectInvalidKeys) {
    EXPECT_THROW(TimeLine("[[key]]\nzoom = 2\n"), Error);
    EXPECT_THROW(TimeLine("[[key]]\ntime_s = 1\nzoom = 2\nease = \"fast\"\n"), Error);
    EXPECT_THROW(TimeLine("[[key]]\ntime_s = 1\n[[key]]\ntime_s = 1\n"), Error);
    EXPECT_THROW(TimeLine("[[key]]\ntime_s = 1\nzooom = 2\n"), Error);
    EXPECT_THROW(TimeLine("nonsense"), Error);
}

class KeyFrameFile : public testing::Test {
  protected:
    std::string refusal(std::string_view text) {
        const auto path = folder_.write("keys.toml", text);
        std::string line = error_of([&] { read_key_frames(path); }).line;
        const std::size_t at = line.find(path.string());
        if (at != std::string::npos) line.replace(at, path.string().size(), "keys.toml");
        return line;
    }

    TemporaryFolder folder_;
};

TEST_F(KeyFrameFile, IsRead) {
    const auto path = folder_.write("keys.toml", R"(
[[key]]
time_s = 0
azimuth_deg = 0
target_um = [0, 0, 0]
mode = "mip"

[[key]]
time_s = 2.0
azimuth_deg = 90
target_um = [10, 20, 30]
mode = "composite"
)");
    const View view = read_key_frames(path).at({}, 1);
    EXPECT_DOUBLE_EQ(view.azimuth_deg, 45);
    EXPECT_EQ(view.target_um, (std::vector<double>{5, 10, 15}));
    EXPECT_EQ(view.mode, ViewMode::mip);
}

TEST_F(KeyFrameFile, RefusalsNameFileKeyAndRemedy) {
    constexpr std::pair<const char*, const char*> cases[] = {
        {"[[key]]\ntime_s = 0\nazimut_deg = 3\n",
         "keys.toml line 3, azimut_deg: unknown key (did you mean \"azimuth_deg\"?)"},
        {"[[key]]\nzoom = 3\n", "keys.toml, time_s: a key has no time (e.g. time_s = 2.5)"},
        {"[[key]]\ntime_s = 1\n[[key]]\ntime_s = 1\n", "keys.toml line 4, time_s: "},
        {"[[key]]\ntime_s = 0\nzoom = 1000\n", "keys.toml line 3, zoom: expected a number from 0.01 to 100"},
        {"[[key]]\ntime_s = -1\n", "keys.toml line 2, time_s: expected a number from 0 to 1e+06 s"},
        {"[view]\nzoom = 2\n", "keys.toml line 1, view: expected only tables [[key]]"},
        {"key = 3\n", "keys.toml line 1, key: expected only tables [[key]]"},
        {"", "keys.toml: has no table [[key]] (write at least one)"},
        {"[[key]]\ntime_s = 0\nclip_low = [1, \"a\"]\n", "keys.toml line 3, clip_low: expected one value"},
        {"[[key]\n", "keys.toml line 1"}};
    for (const auto& [text, begin] : cases) EXPECT_THAT(refusal(text), testing::StartsWith(begin));
}

}  // namespace
}  // namespace echolux
