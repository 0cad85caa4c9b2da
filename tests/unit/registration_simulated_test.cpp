// Registration of simulated eyes that move by 30 um in depth, 15 um across and in saccades: errors against the truth,
// printed as a table.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>

#include "engine/registration/crosses.h"
#include "moving_eyes.h"
#include "temporary_folder.h"

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
        found = found || marks[static_cast<std::size_t>(j)];
    }
    return found;
}

// The place of a sample that its row and shifts say, less the place that it had: no mean is taken off.
void judge(const std::vector<RowShift>& rows, const std::vector<RowTruth>& truth, std::int64_t volume,
           const VolumeGrid& grid, Errors& errors) {
    const auto [dz, dx, dy] = grid.spacing_um;
    std::vector<bool> saccades, marks;
    for (std::int64_t j = 0; j < grid.b_scans; ++j) {
        const RowShift& row = rows[static_cast<std::size_t>(j)];
        const RowTruth& of = truth[static_cast<std::size_t>(volume * grid.b_scans + j)];
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
        const auto at = static_cast<std::size_t>(j);
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
        Simulation s = eye(scene);
        s.motion_axial_um = 30;
        s.motion_lateral_um = 15;
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

TEST(SlowRegistration, ReachesItsFiguresOnSimulatedEyes) {
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

// By B-scans that run across, and without them: one volume each, of which the mean error is unknown.
void align_one(const std::string& scene, std::int64_t seed, bool bidirectional) {
    const TemporaryFolder folder;
    Simulation s = eye(scene);
    s.protocol = Protocol::raster_cross;
    s.b_scans += s.crosses;
    s.volumes = 1;
    s.bidirectional = bidirectional;
    s.motion_axial_um = 30;
    s.motion_lateral_um = 15;
    s.motion_seed = s.seed = seed;
    const Motion motion(s, duration_s(s));
    each_volume(s, folder.path(), [&](std::int64_t, const PowerVolume& volume) {
        const auto residual = [&](const std::vector<RowShift>& raster, double& x_rms, std::int64_t& lost) {
            std::vector<double> z, x;
            lost = 0;
            double mean_z = 0, mean_x = 0;
            for (std::size_t j = 0; j < raster.size(); ++j) {
                const RowTruth truth = truth_of_row(motion, s, s.crosses + static_cast<std::int64_t>(j));
                const RowShift& row = raster[j];
                if (truth.is_saccade) continue;
                if (!row.is_valid()) {
                    ++lost;
                    continue;
                }
                z.push_back(row.z + truth.moved.z_um / volume.grid.spacing_um[0]);
                x.push_back(row.x - truth.moved.x_um / volume.grid.spacing_um[1]);
                mean_z += z.back();
                mean_x += x.back();
            }
            for (double& value : z) value -= mean_z / static_cast<double>(z.size());
            for (double& value : x) value -= mean_x / static_cast<double>(x.size());
            x_rms = rms(x);
            return rms(z);
        };
        double x = 0, x_alone = 0;
        std::int64_t lost = 0, lost_alone = 0;
        SilentProgress silent;
        RegistrationSettings settings;
        const double alone =
            residual(align_neighbours(without_crosses(volume, s.crosses), settings, silent), x_alone, lost_alone);
        settings.crosses = s.crosses;
        const auto begin = std::chrono::steady_clock::now();
        const auto rows = align_neighbours(volume, settings, silent);
        const auto raster = rows_of_raster(rows, s.crosses);
        const double z = residual({raster.begin(), raster.end()}, x, lost);
        const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
        std::printf("| %s %d%s | %.2f | %.2f | %.2f | %.2f | %d | %.2f s |\n", scene.c_str(), static_cast<int>(seed),
                    bidirectional ? " to and fro" : "", alone, z, x_alone, x, static_cast<int>(lost), seconds);
        EXPECT_LT(z, 0.35) << scene << " " << seed;
        EXPECT_LT(alone, 1.3) << scene << " " << seed << ": what neighbours alone can tell";
    });
}

TEST(SlowRegistration, TakesOutMotionInDepthByTwoCrosses) {
    for (const char* scene : {"retina", "vessel"}) {
        for (const std::int64_t seed : {1, 2, 3}) align_one(scene, seed, true);
    }
}

// A straight tube looks the same all along its axis, and what flows in it carries its speckle along: places along the
// axis follow the flow, whatever is asked of them. Across it they are as good as elsewhere.
TEST(SlowRegistration, HasPlacesAcrossACapillaryAlone) {
    const Errors errors = errors_of("capillary", 3);
    EXPECT_LT(rms(errors.x), 0.35);
    EXPECT_GT(rms(errors.y), 1) << "what docs/tissue.md says can be taken back";
}

}  // namespace
}  // namespace echolux
