// B-scans across a raster: they reveal slow motion in depth, which neighbours cannot distinguish from a slope.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "compute/error.h"
#include "compute/indexing.h"
#include "engine/registration/registration.h"
#include "moving_speckle.h"
#include "temporary_folder.h"

namespace echolux {
namespace {

using namespace moving_speckle;

// Root mean square about the mean, because a common offset is unknown.
double spread(const std::vector<double>& values) {
    double mean = 0, square = 0;
    for (const double value : values) mean += value / static_cast<double>(values.size());
    for (const double value : values) square += (value - mean) * (value - mean);
    return std::sqrt(square / static_cast<double>(values.size()));
}

RegistrationSettings with_crosses() {
    RegistrationSettings settings = ranges();
    settings.crosses = crosses;
    return settings;
}

std::vector<RowShift> aligned(const PowerVolume& volume, const RegistrationSettings& settings) {
    SilentProgress silent;
    return align_neighbours(volume, settings, silent);
}

TEST(RegistrationCrosses, RemoveSlowMotion) {
    const PowerVolume volume = crossed(speckle(), drifting);
    const auto errors = [&](const std::vector<RowShift>& rows, std::size_t axis) {
        std::vector<double> all;
        for (std::size_t j = 0; j < index(b_scans); ++j) {
            const RowShift& row = rows[crosses + j];
            if (row.is_valid()) all.push_back((axis == 0 ? row.z : row.x) - drifting(static_cast<double>(j))[axis]);
        }
        EXPECT_GT(std::ssize(all), b_scans - 3);
        return all;
    };
    const auto rows = aligned(volume, with_crosses());
    EXPECT_LT(spread(errors(rows, 0)), 0.15);
    EXPECT_LT(spread(errors(rows, 1)), 0.35);
    EXPECT_GT(spread(errors(aligned(volume, ranges()), 0)), 1) << "neighbours alone would do";
    for (std::size_t k = 0; k < crosses; ++k) EXPECT_EQ(rows[k].z, 0) << "they stay";
}

// Replaces `count` values from `first` on by other tissue.
void replace(PowerVolume& volume, std::int64_t first, std::int64_t count) {
    static const PowerVolume foreign = MovingSpeckle(9).seen(still);
    std::copy_n(foreign.power.begin() + first % std::ssize(foreign.power), count, volume.power.begin() + first);
}

TEST(RegistrationCrosses, BridgeUncoveredBScans) {
    RegistrationSettings settings = with_crosses();
    settings.row_range = 1;
    const auto moving = [](double j) { return SeenAt{drifting(j)[0], drifting(j)[1], 0}; };
    PowerVolume volume = crossed(speckle(), moving);
    constexpr std::int64_t first = 18, end = 22;
    const auto line_at = [](std::int64_t j) { return std::lround(part_of(j, b_scans, a_scans)); };
    for (std::int64_t k = 0; k < crosses; ++k) {  // their lines on these B-scans are blank
        const auto plane = volume.power.begin() + k * a_scans * depth;
        std::fill(plane + (line_at(first) - 2) * depth, plane + (line_at(end - 1) + 3) * depth, 1.0F);
    }
    const auto rows = aligned(volume, settings);
    const auto error = [&](std::int64_t j) { return rows[index(crosses + j)].z - moving(static_cast<double>(j))[0]; };
    for (std::int64_t j = first; j < end; ++j) {
        EXPECT_TRUE(rows[index(crosses + j)].is_valid()) << j;
        EXPECT_NEAR(error(j), (error(first - 4) + error(end + 3)) / 2, 0.4) << j;
    }
}

TEST(RegistrationCrosses, KeepLongGapsUnknown) {
    PowerVolume volume = crossed(speckle(), drifting);
    replace(volume, (crosses + 20) * depth * a_scans, 12 * depth * a_scans);
    const auto rows = aligned(volume, with_crosses());
    int lost = 0;
    for (std::size_t j = 20; j < 32; ++j) lost += rows[crosses + j].is_valid() ? 0 : 1;
    EXPECT_GE(lost, 11);
    EXPECT_TRUE(rows[crosses + 15].is_valid());
}

TEST(RegistrationCrosses, FindNoMatchBeyondLastRow) {
    RegistrationSettings settings = with_crosses();
    settings.lateral_range = 0;
    settings.row_range = 1;
    const auto rows = aligned(crossed(speckle(), [](double) { return SeenAt{0, 0, 3}; }), settings);
    EXPECT_EQ(std::count_if(rows.begin() + crosses, rows.end(), [](const RowShift& row) { return row.is_valid(); }), 0);
}

TEST(RegistrationCrosses, FindNoMatchInNoise) {
    PowerVolume volume = crossed(speckle(), drifting);
    replace(volume, 0, crosses * depth * a_scans);
    const auto rows = aligned(volume, with_crosses());
    for (std::size_t j = crosses; j < rows.size(); ++j) EXPECT_FALSE(rows[j].is_valid()) << j;
}

TEST(RegistrationCrosses, RejectCrossesWithoutRemainingRows) {
    RegistrationSettings settings = with_crosses();
    settings.crosses = b_scans + crosses - 1;
    EXPECT_EQ(error_of([&] { aligned(crossed(speckle(), still), settings); }).where, "registration.crosses");
}

TEST(RegistrationCrosses, FollowProtocolOfScan) {
    EXPECT_EQ(crosses_of({}), 0);
    EXPECT_EQ(crosses_of({{"scan.protocol", "\"cross\""}}), 0);
    EXPECT_EQ(crosses_of({{"scan.protocol", "\"raster_cross\""}}), 2);
    EXPECT_EQ(crosses_of({{"scan.protocol", "\"raster_cross\""}, {"scan.crosses", "5"}}), 5);
    for (const std::string wrong : {"-5", "0", "65", "x", "5x", "1e30", ""}) {
        const Caught caught = error_of([&] {
            return crosses_of({{"scan.protocol", "\"raster_cross\""}, {"scan.crosses", wrong}});
        });
        EXPECT_EQ(caught.code, ErrorCode::bad_file) << wrong;
        EXPECT_NE(caught.line.find("scan.crosses"), std::string::npos) << caught.line;
    }
}

TEST(RegistrationCrosses, RejectNegativeCounts) {
    EXPECT_EQ(error_of([] { without_crosses(speckle().seen(still), -5); }).code, ErrorCode::bad_setting);
}

}  // namespace
}  // namespace echolux
