// B-scans across a raster: what moves slowly in depth, which neighbours cannot tell from a slope.
#include <gtest/gtest.h>

#include <cmath>

#include "compute/error.h"
#include "engine/registration/crosses.h"
#include "moving_speckle.h"

namespace echolux {
namespace {

using namespace moving_speckle;

constexpr std::int64_t crosses = 3;

double part_of(std::int64_t index, std::int64_t count, std::int64_t of) {
    return (static_cast<double>(index) + 0.5) / static_cast<double>(count) * static_cast<double>(of) - 0.5;
}

// B-scans along y, each at rest but somewhere else, then the raster.
PowerVolume crossed(const MovingSpeckle& tissue, const Motion& motion) {
    PowerVolume raster = tissue.seen(motion), all{grid_of(depth, a_scans, crosses + b_scans), {}};
    for (std::int64_t k = 0; k < crosses; ++k) {
        const double off = static_cast<double>(k);
        for (std::int64_t a = 0; a < a_scans; ++a) {
            for (std::int64_t d = 0; d < depth; ++d) {
                all.power.push_back(tissue.power(static_cast<double>(d) + 0.7 * off,
                                                 part_of(k, crosses, a_scans) - 0.4 * off,
                                                 part_of(a, a_scans, b_scans)));
            }
        }
    }
    all.power.insert(all.power.end(), raster.power.begin(), raster.power.end());
    return all;
}

SeenAt drifting(double j) {
    return {0.2 * j + 2 * std::sin(j / 9) + 0.8 * std::sin(1.3 * j), 2.5 * std::cos(j / 12), 0.8 * std::sin(j / 13)};
}

// Root mean square about the mean: what all share is unknown.
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

TEST(RegistrationCrosses, TakeOutWhatMovesSlowly) {
    const PowerVolume volume = crossed(speckle(), drifting);
    const auto errors = [&](const std::vector<RowShift>& rows, std::size_t axis) {
        std::vector<double> all;
        for (std::size_t j = 0; j < static_cast<std::size_t>(b_scans); ++j) {
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

TEST(RegistrationCrosses, BridgeAFewBScansAndNoMore) {
    PowerVolume volume = crossed(speckle(), drifting);
    const PowerVolume foreign = MovingSpeckle(9).seen(still);
    const auto replace = [&](std::int64_t first, std::int64_t count) {
        const std::int64_t plane = depth * a_scans;
        std::copy_n(foreign.power.begin() + first * plane, count * plane,
                    volume.power.begin() + (crosses + first) * plane);
    };
    replace(10, 1);
    replace(20, 12);
    const auto rows = aligned(volume, with_crosses());
    int lost = 0;
    for (std::size_t j = 20; j < 32; ++j) lost += rows[crosses + j].is_valid() ? 0 : 1;
    EXPECT_GE(lost, 11);
    EXPECT_TRUE(rows[crosses + 15].is_valid());
}

TEST(RegistrationCrosses, InNoiseThereIsNothing) {
    PowerVolume volume = crossed(speckle(), drifting);
    const PowerVolume foreign = MovingSpeckle(9).seen(still);
    std::copy_n(foreign.power.begin(), crosses * depth * a_scans, volume.power.begin());
    const auto rows = aligned(volume, with_crosses());
    for (std::size_t j = crosses; j < rows.size(); ++j) EXPECT_FALSE(rows[j].is_valid()) << j;
}

TEST(RegistrationCrosses, ThatLeaveNothingAreRefused) {
    RegistrationSettings settings = with_crosses();
    settings.crosses = b_scans + crosses - 1;
    try {
        aligned(crossed(speckle(), still), settings);
        FAIL() << "accepted";
    } catch (const Error& error) {
        EXPECT_EQ(error.line(),
                  "registration.crosses: 42 of 43 B-scans run across: too few are left to align (say how many of a "
                  "volume's first B-scans run across the others)");
    }
}

TEST(RegistrationCrosses, AreThoseOfTheScan) {
    EXPECT_EQ(crosses_of({}), 0);
    EXPECT_EQ(crosses_of({{"scan.protocol", "\"cross\""}}), 0);
    EXPECT_EQ(crosses_of({{"scan.protocol", "\"raster_cross\""}}), 2);
    EXPECT_EQ(crosses_of({{"scan.protocol", "\"raster_cross\""}, {"scan.crosses", "5"}}), 5);
}

}  // namespace
}  // namespace echolux
