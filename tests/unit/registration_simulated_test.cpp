// Registration of simulated eyes that move by 30 um in depth, 15 um laterally and in saccades: errors relative to the
// truth, printed as a table.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <span>

#include "compute/calibrate/fitting.h"
#include "compute/indexing.h"
#include "engine/registration/registration.h"
#include "moving_eyes.h"
#include "temporary_folder.h"
#include "tests/support/set_fields.h"

namespace echolux {
namespace {

struct Errors {
    std::vector<double> z, x, y;
    double gross = 0, left_out = 0, rows = 0, marks_right = 0, marked_of_true = 0, true_rows = 0;
};

double rms(const std::vector<double>& values) {
    double sum = 0;
    for (const double value : values) sum += value * value;
    return std::sqrt(sum / static_cast<double>(values.size()));
}

bool any_near(const std::vector<bool>& marks, std::int64_t at) {
    bool found = false;
    for (std::int64_t j = std::max<std::int64_t>(0, at - 1); j <= std::min(std::ssize(marks) - 1, at + 1); ++j) {
        found = found || marks[index(j)];
    }
    return found;
}

// Errors are the found position of each sample minus its true one, without subtracting a mean.
void judge(const std::vector<RowShift>& rows, const std::vector<RowTruth>& truth, std::int64_t volume,
           const VolumeGrid& grid, Errors& errors) {
    const auto [dz, dx, dy] = grid.spacing_um;
    std::vector<bool> saccades, marks;
    for (std::int64_t j = 0; j < grid.b_scans; ++j) {
        const RowShift& row = rows[index(j)];
        const RowTruth& of = truth[index(volume * grid.b_scans + j)];
        const double place = std::clamp(static_cast<double>(j) + row.y, 0.0, static_cast<double>(grid.b_scans - 1));
        const auto below = std::min(static_cast<std::size_t>(place), truth.size() - 2);
        const double part = place - static_cast<double>(below);
        const RowTruth &a = truth[below], &b = truth[below + 1];
        const auto between = [part](double left, double right) { return left + part * (right - left); };
        saccades.push_back(of.is_saccade || a.is_saccade || b.is_saccade);
        marks.push_back(row.is_saccade);
        if (saccades.back()) continue;
        ++errors.rows;
        if (!row.is_valid()) {
            ++errors.left_out;
            continue;
        }
        const double z = row.z - (between(a.moved.z_um, b.moved.z_um) - of.moved.z_um) / dz;
        const double x = row.x - (of.moved.x_um - between(a.moved.x_um, b.moved.x_um)) / dx;
        const double y = row.y - (of.moved.y_um - between(a.moved.y_um, b.moved.y_um)) / dy;
        errors.z.push_back(z);
        errors.x.push_back(x);
        errors.y.push_back(y);
        if (std::max({std::abs(z), std::abs(x), std::abs(y)}) > 3) ++errors.gross;
    }
    for (std::int64_t j = 0; j < grid.b_scans; ++j) {
        const auto at = index(j);
        const bool is_missed = saccades[at] && !any_near(marks, j), is_false = marks[at] && !any_near(saccades, j);
        errors.marks_right += is_missed || is_false ? 0 : 1;
        errors.true_rows += saccades[at] ? 1 : 0;
        errors.marked_of_true += saccades[at] && !is_missed ? 1 : 0;
    }
}

Errors errors_of(const std::string& scene, std::int64_t seeds) {
    Errors errors;
    double volumes = 0, seconds = 0;
    for (std::int64_t seed = 1; seed <= seeds; ++seed) {
        const TemporaryFolder folder;
        Simulation s = with(eye(scene), "motion_axial_um=30 motion_lateral_um=15");
        s.motion_seed = s.seed = seed;
        const Motion motion(s, duration_s(s));
        std::vector<RowTruth> truth;
        for (std::int64_t row = 0; row < s.b_scans * s.volumes; ++row) truth.push_back(truth_of_row(motion, s, row));
        std::unique_ptr<Reference> reference;
        each_volume(s, folder.path(), [&](std::int64_t v, const PowerVolume& volume) {
            if (v == 0) {
                reference = std::make_unique<Reference>(volume, RegistrationSettings{});
                return;
            }
            SilentProgress silent;
            const auto begin = std::chrono::steady_clock::now();
            const std::vector<RowShift> rows = reference->register_rows(volume, silent);
            seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
            ++volumes;
            judge(rows, truth, v, volume.grid, errors);
        });
    }
    const double all = volumes * 96;
    std::printf("| %s | %.2f | %.2f | %.2f | %.1f %% | %.1f %% | %.1f %% | %.2f s |\n", scene.c_str(), rms(errors.z),
                rms(errors.x), rms(errors.y), 100 * errors.gross / static_cast<double>(errors.z.size()),
                100 * errors.left_out / errors.rows, 100 * errors.marks_right / all, seconds / volumes);
    errors.marks_right /= all;
    return errors;
}

TEST(SlowRegistration, ReachesStatedErrorsOnSimulatedEyes) {
    for (const char* scene : {"retina", "vessel"}) {
        const Errors errors = errors_of(scene, 3);
        EXPECT_LT(rms(errors.z), 0.35) << scene;
        EXPECT_LT(rms(errors.x), 0.35) << scene;
        EXPECT_LT(rms(errors.y), 1) << scene;
        EXPECT_LT(errors.gross, 0.005 * static_cast<double>(errors.z.size())) << scene;
        EXPECT_LT(errors.left_out, 0.16 * errors.rows) << scene;
        EXPECT_GT(errors.marks_right, 0.9) << scene;
    }
}

// Remaining error of the B-scans of one volume outside saccades; a common offset is unknown.
struct Residual {
    double z = 0, x = 0;    // rms about the mean, in voxels and A-scans
    double bowed = 0;       // of z, without the best-fitting parabola across B-scans
    std::int64_t lost = 0;  // B-scans without a position
};

double rms_apart_from(std::int64_t order, const std::vector<double>& rows, std::vector<double> values) {
    const PolynomialFit fit(rows, values, std::vector<double>(rows.size(), 1.0), order);
    for (std::size_t i = 0; i < rows.size(); ++i) values[i] -= fit(rows[i]);
    return rms(values);
}

Residual residual_of(std::span<const RowShift> raster, const Motion& motion, const Simulation& s,
                     const VolumeGrid& grid) {
    Residual residual;
    std::vector<double> at, z, x;
    for (std::size_t j = 0; j < raster.size(); ++j) {
        const RowTruth truth = truth_of_row(motion, s, s.crosses + static_cast<std::int64_t>(j));
        if (truth.is_saccade) continue;
        if (!raster[j].is_valid()) {
            ++residual.lost;
            continue;
        }
        at.push_back(2 * static_cast<double>(j) / static_cast<double>(raster.size()) - 1);
        z.push_back(raster[j].z + truth.moved.z_um / grid.spacing_um[0]);
        x.push_back(raster[j].x - truth.moved.x_um / grid.spacing_um[1]);
    }
    residual.z = rms_apart_from(0, at, z);
    residual.x = rms_apart_from(0, at, x);
    residual.bowed = rms_apart_from(2, at, z);
    return residual;
}

// Aligns with and without perpendicular B-scans. Without them, only a parabola of the motion in depth remains.
void align_one(const std::string& scene, std::int64_t seed, bool bidirectional) {
    const TemporaryFolder folder;
    Simulation s = eye(scene);
    s.protocol = Protocol::raster_cross;
    s.b_scans += s.crosses;
    set(s, "volumes=1 motion_axial_um=30 motion_lateral_um=15");
    s.bidirectional = bidirectional;
    s.motion_seed = s.seed = seed;
    const Motion motion(s, duration_s(s));
    each_volume(s, folder.path(), [&](std::int64_t, const PowerVolume& volume) {
        SilentProgress silent;
        RegistrationSettings settings;
        const Residual alone =
            residual_of(align_neighbours(without_crosses(volume, s.crosses), settings, silent), motion, s, volume.grid);
        settings.crosses = s.crosses;
        const auto begin = std::chrono::steady_clock::now();
        const auto rows = align_neighbours(volume, settings, silent);
        const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
        const Residual crossed = residual_of(rows_of_raster(rows, s.crosses), motion, s, volume.grid);
        std::printf("| %s %d%s | %.2f (%.2f) | %.2f | %.2f | %.2f | %d | %.2f s |\n", scene.c_str(),
                    static_cast<int>(seed), bidirectional ? " to and fro" : "", alone.z, alone.bowed, crossed.z,
                    alone.x, crossed.x, static_cast<int>(crossed.lost), seconds);
        EXPECT_LT(crossed.z, 0.35) << scene << " " << seed;
        EXPECT_LT(alone.bowed, 0.7) << scene << " " << seed;
    });
}

TEST(SlowRegistration, RemovesMotionInDepthByTwoCrosses) {
    for (const char* scene : {"retina", "vessel"}) {
        for (const std::int64_t seed : {1, 2, 3}) align_one(scene, seed, true);
    }
}

// A straight tube looks the same along its axis, and its flow carries the speckle along. Positions along the axis
// therefore follow the flow, regardless of the settings; positions across it are as accurate as elsewhere.
TEST(SlowRegistration, FindsPositionsOnlyAcrossCapillary) {
    const Errors errors = errors_of("capillary", 3);
    EXPECT_LT(rms(errors.x), 0.35);
    EXPECT_GT(rms(errors.y), 1) << "what docs/tissue.md says can be taken back";
}

}  // namespace
}  // namespace echolux
