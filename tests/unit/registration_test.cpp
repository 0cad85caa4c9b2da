// Registration compared with known truth: speckle seen at chosen positions, correlations summed one by one, and no
// matches in noise.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <functional>
#include <random>

#include "compute/error.h"
#include "compute/indexing.h"
#include "compute/parallel_for.h"
#include "engine/analysis/intensity.h"
#include "engine/registration/registration.h"
#include "engine/registration/strips.h"
#include "tests/support/error_of.h"
#include "tests/unit/moving_speckle.h"

namespace echolux {
namespace {

using namespace moving_speckle;

std::vector<RowShift> found(const PowerVolume& reference, const PowerVolume& moving) {
    SilentProgress silent;
    return Reference(reference, ranges()).register_rows(moving, silent);
}

double rms(const std::vector<double>& errors) {
    double sum = 0;
    for (const double error : errors) sum += error * error;
    return std::sqrt(sum / static_cast<double>(errors.size()));
}

TEST(Registration, FindsPositionOfEveryRow) {
    const std::vector<RowShift> rows = found(speckle().seen(still), speckle().seen(wandering));
    std::vector<double> z, x, y;
    for (std::size_t j = 3; j + 3 < rows.size(); ++j) {
        ASSERT_TRUE(rows[j].is_valid()) << j << ' ' << name_of(rows[j].reason);
        EXPECT_FALSE(rows[j].is_saccade) << j;
        const SeenAt place = wandering(static_cast<double>(j));
        z.push_back(rows[j].z - place[0]);
        x.push_back(rows[j].x - place[1]);
        y.push_back(rows[j].y - place[2]);
    }
    EXPECT_LT(rms(z), 0.1);
    EXPECT_LT(rms(x), 0.1);
    EXPECT_LT(rms(y), 0.15);
}

TEST(Registration, FollowsAndMarksSaccade) {
    const auto jumping = [](double j) { return j < 20 ? SeenAt{1, -2, 0.5} : SeenAt{1, 4, -3.5}; };
    const std::vector<RowShift> rows = found(speckle().seen(still), speckle().seen(jumping));
    for (std::size_t j = 2; j + 2 < rows.size(); ++j) {
        const bool is_near = j >= 18 && j <= 21;
        if (is_near) continue;
        ASSERT_TRUE(rows[j].is_valid()) << j << ' ' << name_of(rows[j].reason);
        EXPECT_FALSE(rows[j].is_saccade) << j;
        EXPECT_NEAR(rows[j].x, j < 20 ? -2 : 4, 0.2) << j;
        EXPECT_NEAR(rows[j].y, j < 20 ? 0.5 : -3.5, 0.3) << j;
    }
    EXPECT_TRUE(rows[19].is_saccade);
    EXPECT_TRUE(rows[20].is_saccade);
}

TEST(Registration, ReportsNoOverlapForRowsOutsideReference) {
    const std::vector<RowShift> rows = found(speckle().seen(still), speckle().seen([](double) {
        return SeenAt{0, 0, 6};
    }));
    for (std::size_t j = 0; j < rows.size(); ++j) {
        if (j < 32) {
            EXPECT_NEAR(rows[j].y, 6, 0.2) << j;
            EXPECT_TRUE(rows[j].is_valid()) << j;
        } else if (j > 35) {
            EXPECT_EQ(rows[j].reason, RowReason::no_overlap) << j;
        }
    }
}

PowerVolume noise(unsigned seed) {
    std::mt19937 random(seed);
    std::exponential_distribution<float> power;
    PowerVolume volume{grid_of(depth, a_scans, b_scans), {}};
    volume.power.resize(index(volume.grid.voxels()));
    for (float& value : volume.power) value = power(random);
    return volume;
}

TEST(Registration, FindsNoMatchInNoise) {
    const PowerVolume tissue = speckle().seen(still);
    for (const auto& [reference, moving] : {std::pair(noise(1), noise(2)), {tissue, noise(3)}, {noise(4), tissue}}) {
        for (const RowShift& row : found(reference, moving))
            EXPECT_FALSE(row.is_valid() || row.is_saccade) << name_of(row.reason) << row.quality;
    }
    SilentProgress silent;
    for (const RowShift& row : align_neighbours(noise(5), ranges(), silent))
        EXPECT_FALSE(row.is_valid()) << row.quality;
}

TEST(Registration, DarkRowsHaveNoSignal) {
    PowerVolume volume = speckle().seen(still);
    std::fill_n(volume.power.begin() + 10 * depth * a_scans, 3 * depth * a_scans, 0.0F);
    const std::vector<RowShift> rows = found(speckle().seen(still), volume);
    for (const std::size_t j : {10U, 11U, 12U}) EXPECT_EQ(rows[j].reason, RowReason::no_signal);
    EXPECT_TRUE(rows[5].is_valid());
    EXPECT_TRUE(rows[20].is_valid());
}

void expect_refused(const std::function<void()>& call, const std::string& problem) {
    const Caught caught = error_of(call);
    EXPECT_EQ(caught.code, ErrorCode::bad_setting) << problem;
    EXPECT_NE(caught.line.find(problem), std::string::npos) << caught.line;
}

TEST(Registration, RejectsUnsuitableVolumes) {
    SilentProgress silent;
    const PowerVolume tissue = speckle().seen(still);
    PowerVolume other = tissue;
    other.grid.b_scans /= 2;
    other.power.resize(other.power.size() / 2);
    expect_refused([&] { found(tissue, other); }, "differs in size");
    PowerVolume empty = tissue;
    std::ranges::fill(empty.power, 0.0F);
    expect_refused([&] { found(empty, tissue); }, "is empty: no sample");
    expect_refused([&] { found(tissue, empty); }, "is empty: no sample");
    std::ranges::fill(empty.power, std::nanf(""));
    expect_refused([&] { found(tissue, empty); }, "is empty: no sample");
    PowerVolume single = tissue;
    single.grid.b_scans = 1;
    single.power.resize(index(depth * a_scans));
    expect_refused([&] { align_neighbours(single, ranges(), silent); }, "1 B-scan: there are no neighbours");
    EXPECT_TRUE(found(single, single).front().is_valid());  // a series of single B-scans can be registered
    single.grid = grid_of(8, 64, 9);
    expect_refused([&] { Reference(single, ranges()); }, "8 depth rows and 64 A-scans: too few");
    RegistrationSettings even = ranges();
    even.strip = 4;
    expect_refused([&] { Reference(tissue, even); }, "odd");
}

TEST(Registration, HasSameBitsForAnyNumberOfThreads) {
    const PowerVolume reference = speckle().seen(still), moving = speckle().seen(wandering);
    const auto mean_of = [&] {
        const std::vector<RowShift> rows = found(reference, moving);
        RegisteredMean mean(reference.grid);
        mean.add(moving, rows);
        return std::pair(csv_of({rows}, reference.grid), mean.volume().voxels);
    };
    const int threads = thread_count();
    set_thread_count(1);
    const auto alone = mean_of();
    set_thread_count(3);
    const auto together = mean_of();
    set_thread_count(threads);
    EXPECT_EQ(alone.first, together.first);
    EXPECT_EQ(std::memcmp(alone.second.data(), together.second.data(), alone.second.size()), 0);
}

TEST(Registration, RemovesFastMotionBetweenNeighbours) {
    const auto shaking = [](double j) { return SeenAt{1.5 * std::sin(1.3 * j), 0.8 * std::cos(1.9 * j), 0}; };
    SilentProgress silent;
    const std::vector<RowShift> rows = align_neighbours(speckle().seen(shaking), ranges(), silent);
    std::vector<double> z, x, motion;
    for (std::size_t j = 4; j + 4 < rows.size(); ++j) {  // the slow part is unknown at the ends
        z.push_back(rows[j].z - shaking(static_cast<double>(j))[0]);
        x.push_back(rows[j].x - shaking(static_cast<double>(j))[1]);
        motion.push_back(shaking(static_cast<double>(j))[0]);
    }
    EXPECT_GT(rms(motion), 1);
    EXPECT_LT(rms(z), 0.25);
    EXPECT_LT(rms(x), 0.25);
}

// ---- parts

double product(const std::vector<float>& a, const std::vector<float>& b, std::int64_t nz, std::int64_t nx,
               std::int64_t sz, std::int64_t sx) {
    double sum = 0;
    for (std::int64_t x = 0; x < nx; ++x) {
        for (std::int64_t z = 0; z < nz; ++z) {
            if (z + sz < 0 || z + sz >= nz || x + sx < 0 || x + sx >= nx) continue;
            sum += static_cast<double>(a[index((x + sx) * nz + z + sz)]) * static_cast<double>(b[index(x * nz + z)]);
        }
    }
    return sum;
}

TEST(Registration, CorrelationsMatchSums) {
    constexpr std::int64_t nz = 45, nx = 14, max_z = 6, max_x = 5;
    std::mt19937 random(9);
    std::normal_distribution<float> normal;
    std::vector<float> a(nz * nx), b(nz * nx);
    for (float& value : a) value = normal(random);
    for (std::int64_t x = 0; x < nx; ++x) {
        for (std::int64_t z = 0; z < nz; ++z) {  // b(r) = a(r + (-4, 3)) plus noise
            const std::int64_t from = (x + 3) % nx * nz + (z - 4 + nz) % nz;
            b[index(x * nz + z)] = a[index(from)] + normal(random);
        }
    }
    double best = -1, second = -1;
    std::array<std::int64_t, 2> at{};
    for (std::int64_t x = -max_x; x <= max_x; ++x) {
        for (std::int64_t z = -max_z; z <= max_z; ++z) {
            const double sum = product(a, b, nz, nx, z, x);
            EXPECT_NEAR(static_cast<double>(overlap_product(a.data(), b.data(), nz, nx, z, x)), sum, 1e-3);
            if (sum > best) at = {z, x};
            best = std::max(best, sum);
        }
    }
    for (std::int64_t x = -max_x; x <= max_x; ++x) {
        for (std::int64_t z = -max_z; z <= max_z; ++z) {
            const bool apart = std::abs(z - at[0]) > 1 || std::abs(x - at[1]) > 1;
            if (apart) second = std::max(second, product(a, b, nz, nx, z, x));
        }
    }
    EXPECT_EQ(at, (std::array<std::int64_t, 2>{-4, 3}));
    PlaneTransform transform(nz, nx, max_z, max_x);
    const ShiftMap shifts = transform.shift_map();
    std::vector<float> map(index(shifts.cells()));
    transform.correlate(transform.forward(a.data()), transform.forward(b.data()), map.data());
    const CoarsePeak peak = peak_of(shifts, [&](std::int32_t cell) { return map[index(cell)]; });
    EXPECT_NEAR(static_cast<double>(peak.value), best, 1e-2);
    EXPECT_NEAR(static_cast<double>(peak.second), second, 1e-2);
    EXPECT_NEAR(static_cast<double>(peak.z), -4, 0.5);
    EXPECT_NEAR(static_cast<double>(peak.x), 3, 0.5);
    EXPECT_EQ(peak.is_at_border, 0);
}

const float* voxels_of(const Volume& volume) {
    return reinterpret_cast<const float*>(volume.voxels.data());
}

TEST(Registration, MeanPlacesRowsAtTheirPositions) {
    const PowerVolume reference = speckle().seen(still), moving = speckle().seen(wandering);
    RegisteredMean same(reference.grid);
    same.add(reference, std::vector<RowShift>(b_scans, RowShift{.quality = 0.5}));
    const Volume itself = same.volume();
    for (std::size_t i = 0; i < reference.power.size(); ++i) {
        ASSERT_NEAR(voxels_of(itself)[i], reference.power[i], 1e-3F * (1 + reference.power[i]));
    }
    std::vector<RowShift> rows;
    for (std::int64_t j = 0; j < b_scans; ++j) {
        const SeenAt place = wandering(static_cast<double>(j));
        rows.push_back({.z = place[0], .x = place[1], .y = std::round(place[2]), .quality = 1});
    }
    rows[7].reason = RowReason::weak_match;
    RegisteredMean mean(reference.grid);
    mean.add(moving, rows);
    const Volume registered = mean.volume();
    double product = 0, first = 0, other = 0, sum_a = 0, sum_b = 0, count = 0;
    for (std::size_t i = 0; i < reference.power.size(); ++i) {
        const auto a = static_cast<double>(voxels_of(registered)[i]), b = static_cast<double>(reference.power[i]);
        if (std::isnan(a)) continue;
        EXPECT_GE(a, 0);
        sum_a += a, sum_b += b, ++count;
        product += a * b, first += a * a, other += b * b;
    }
    const double covariance = product / count - sum_a * sum_b / count / count;
    const double correlation = covariance / std::sqrt((first / count - sum_a * sum_a / count / count) *
                                                      (other / count - sum_b * sum_b / count / count));
    EXPECT_GT(correlation, 0.9);  // the rest is between B-scans
    EXPECT_GT(count, 0.6 * static_cast<double>(reference.power.size()));
    EXPECT_LT(count, 0.98 * static_cast<double>(reference.power.size()));
    EXPECT_EQ(mean.b_scans_used(), std::ranges::count_if(rows, [&](const RowShift& row) {
                  const double to = static_cast<double>(&row - rows.data()) + row.y;
                  return row.is_valid() && to >= 0 && to < b_scans;
              }));
}

TEST(Registration, MeanAveragesPowerInUnitOfReference) {
    VolumeGrid grid = grid_of(2, 2, 2);
    grid.quantity = "db";
    grid.unit = "dB";
    RegisteredMean mean(grid);
    mean.add({grid, {1, 1, 1, 1, 4, 4, 4, 4}}, {{.quality = 1}, {.quality = 1}});
    mean.add({grid, {9, 9, 9, 9, 7, 7, 7, 7}}, {{.quality = 0.25}, {.quality = 1, .reason = RowReason::saccade}});
    const Volume volume = mean.volume();
    EXPECT_EQ(volume.grid.unit, "dB");
    EXPECT_NEAR(voxels_of(volume)[0], 10 * std::log10((1 + 0.25 * 9) / 1.25), 1e-4);
    EXPECT_NEAR(voxels_of(volume)[7], 10 * std::log10(4.0), 1e-4);
}

TEST(Registration, TableOmitsUnknownValues) {
    VolumeGrid grid = grid_of(1, 1, 2);
    grid.spacing_um = {2, 0, 5};
    const std::string csv =
        csv_of({{{.z = 1.5, .x = -2, .y = 0.25, .quality = 0.75},
                 {.z = 9, .x = 9, .y = 9, .quality = 0.125, .reason = RowReason::saccade, .is_saccade = true}}},
               grid);
    EXPECT_TRUE(csv.starts_with(registration_heading));
    EXPECT_NE(csv.find("\n0,0,1.5000,-2.0000,0.2500,3.0000,,1.2500,0.7500,ok,0\n"
                       "0,1,,,,,,,0.1250,saccade,1\n"),
              std::string::npos)
        << csv;
}

}  // namespace
}  // namespace echolux
