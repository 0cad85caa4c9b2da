// Surfaces between layers: painted scenes with exact boundaries, noise, single B-scans, mirrored volumes, threads.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <limits>
#include <numbers>
#include <random>

#include "compute/error.h"
#include "compute/indexing.h"
#include "compute/parallel_for.h"
#include "compute/reason.h"
#include "engine/layers/find_surfaces.h"
#include "engine/offline/reconstruction.h"
#include "engine/scan/settings.h"
#include "engine/simulate/instrument.h"
#include "engine/simulate/simulator.h"
#include "engine/simulate/truth.h"
#include "layer_scenes.h"
#include "temporary_folder.h"
#include "tests/support/set_fields.h"
#include "tests/support/volumes.h"

namespace echolux {
namespace {

void expect_order(const Surfaces& surfaces) {
    for (std::size_t k = 1; k < surfaces.all.size(); ++k) {
        for (std::size_t i = 0; i < surfaces.all[k].rows.size(); ++i) {
            ASSERT_FALSE(surfaces.all[k].rows[i] < surfaces.all[k - 1].rows[i]) << "surface " << k << ", A-scan " << i;
        }
    }
}

struct Errors {
    double mean = 0, worst = 0;  // mean absolute error in rows, over all surfaces and for the worst one
};

// Errors of the positions that were found, which must be nearly all.
Errors errors_of(const Surfaces& surfaces, const LayeredScene& scene) {
    EXPECT_GE(share_found(surfaces), 0.98);
    Errors errors;
    for (std::size_t k = 0; k < surfaces.all.size(); ++k) {
        double sum = 0, count = 0;
        for (std::size_t i = 0; i < surfaces.all[k].rows.size(); ++i) {
            const auto row = static_cast<double>(surfaces.all[k].rows[i]);
            if (std::isnan(row)) continue;
            sum += std::abs(row - static_cast<double>(scene.boundaries[k][i]));
            ++count;
        }
        errors.mean += sum / count / static_cast<double>(surfaces.all.size());
        errors.worst = std::max(errors.worst, sum / count);
    }
    return errors;
}

LayeredScene flat_scene(const Size3& size) {
    LayeredScene scene{size, {}, {}};
    for (const float at : {20.5f, 33.5f, 40.5f, 71.5f}) scene.boundaries.emplace_back(index(scene.lines()), at);
    paint(scene, {0.01, 1, 0.3, 0.6, 0.01});
    return scene;
}

TEST(SurfaceResult, AreExactForFlatLayers) {
    for (const Size3& size : {Size3{96, 40, 24}, Size3{97, 33, 1}, Size3{96, 1, 20}}) {
        const LayeredScene scene = flat_scene(size);
        const Surfaces surfaces = found_in(scene, search_for({0, 0, 0, 0}));
        for (std::size_t k = 0; k < 4; ++k) {
            EXPECT_THAT(surfaces.all[k].rows, testing::Each(scene.boundaries[k].front())) << size[1] << " A-scans";
            EXPECT_THAT(surfaces.all[k].reasons, testing::Each(Reason::ok));
        }
    }
}

class RetinaSurfaces : public testing::TestWithParam<std::tuple<unsigned, double>> {};

TEST_P(RetinaSurfaces, HaveSubvoxelError) {
    const auto [seed, snr_db] = GetParam();
    const LayeredScene scene = retina_scene({256, 128, 64}, seed, snr_db);
    const Surfaces surfaces = found_in(scene, search_for(retina_polarities));
    const Errors errors = errors_of(surfaces, scene);
    EXPECT_LE(errors.mean, 0.8);
    EXPECT_LE(errors.worst, 1.2);
    EXPECT_EQ(share_of(surfaces, Reason::no_signal), 0);
    expect_order(surfaces);
    RecordProperty("mean", std::to_string(errors.mean));
    RecordProperty("worst", std::to_string(errors.worst));
}

INSTANTIATE_TEST_SUITE_P(FiveSeeds, RetinaSurfaces,
                         testing::Combine(testing::Values(1U, 2U, 3U, 4U, 5U), testing::Values(15.0, 25.0)));

// A pit as in a coarse scan of a fovea: four rows per A-scan, far steeper than blocks of A-scans can show. Parts that
// are not followed must not be marked ok.
TEST(SurfaceResult, FollowSteepPit) {
    LayeredScene scene{{256, 64, 48}, {}, {}};
    std::vector<float> pit, below(index(scene.lines()), 190.5F);
    for (std::int64_t line = 0; line < scene.lines(); ++line) {
        const double a = static_cast<double>(line % 64) - 31.5, b = static_cast<double>(line / 64) - 23.5;
        pit.push_back(static_cast<float>(70 + 75 * std::exp(-(a * a + b * b) / (2 * 11 * 11))));
    }
    scene.boundaries = {pit, below};
    paint(scene, {0.005, 1, 0.2});
    std::mt19937 random(5);
    add_speckle(scene, 25, random);
    const Surfaces surfaces = found_in(scene, search_for({1, -1}));
    double wrong = 0, ok = 0, sum = 0;
    for (std::size_t line = 0; line < pit.size(); ++line) {
        if (surfaces.all[0].reasons[line] != Reason::ok) continue;
        const double error = std::abs(static_cast<double>(surfaces.all[0].rows[line] - pit[line]));
        ok += 1;
        sum += error;
        wrong += error > 6 ? 1 : 0;
    }
    EXPECT_GT(ok, 0.7 * static_cast<double>(pit.size()));
    EXPECT_LT(wrong / ok, 0.02);
    EXPECT_LT(sum / ok, 1.5);
    RecordProperty("ok", std::to_string(ok));
    RecordProperty("mean", std::to_string(sum / ok));
}

TEST(SurfaceResult, AreFoundInSingleBScan) {
    const LayeredScene scene = retina_scene({256, 256, 1}, 7, 25);
    const Surfaces surfaces = found_in(scene, search_for(retina_polarities));
    EXPECT_LE(errors_of(surfaces, scene).mean, 1.2);
    expect_order(surfaces);
}

// Without polarities, only the number of boundaries constrains the search.
TEST(SurfaceResult, AreFoundForAnyPolarity) {
    LayeredScene scene{{96, 64, 32}, {}, {}};
    for (const float at : {20.5f, 38.5f, 56.5f, 76.5f}) scene.boundaries.emplace_back(index(scene.lines()), at);
    paint(scene, {0, 1, 0.1, 0.7, 0});
    std::mt19937 random(3);
    add_speckle(scene, 20, random);
    EXPECT_LE(errors_of(found_in(scene, search_for({0, 0, 0, 0})), scene).mean, 0.5);
}

TEST(SurfaceResult, MirrorWithVolume) {
    const Size3 size{160, 48, 24};
    const LayeredScene scene = retina_scene(size, 4, 20);
    LayeredScene mirrored = scene;
    const auto mirror = [&](std::int64_t line) {
        return (size[2] - 1 - line / size[1]) * size[1] + size[1] - 1 - line % size[1];
    };
    for (std::int64_t line = 0; line < scene.lines(); ++line)
        std::copy_n(scene.intensity.begin() + line * size[0], size[0],
                    mirrored.intensity.begin() + mirror(line) * size[0]);
    const SurfaceSearch search = search_for(retina_polarities);
    const Surfaces one = found_in(scene, search), other = found_in(mirrored, search);
    for (std::size_t k = 0; k < one.all.size(); ++k) {
        for (std::int64_t line = 0; line < scene.lines(); ++line) {
            const float row = one.all[k].rows[index(line)];
            const float mirrored_row = other.all[k].rows[index(mirror(line))];
            ASSERT_EQ(std::isnan(row), std::isnan(mirrored_row));
            if (std::isnan(row)) continue;
            ASSERT_NEAR(row, mirrored_row, 1e-3);
        }
    }
}

TEST(SurfaceResult, HaveSameBitsForAnyNumberOfThreads) {
    const LayeredScene scene = retina_scene({160, 48, 24}, 5, 20);
    set_thread_count(1);
    const Surfaces one = found_in(scene, search_for(retina_polarities));
    set_thread_count(3);
    const Surfaces three = found_in(scene, search_for(retina_polarities));
    set_thread_count(0);
    for (std::size_t k = 0; k < one.all.size(); ++k) {
        EXPECT_EQ(one.all[k].reasons, three.all[k].reasons);
        EXPECT_EQ(std::memcmp(one.all[k].rows.data(), three.all[k].rows.data(), 4 * one.all[k].rows.size()), 0);
        EXPECT_EQ(one.all[k].quality, three.all[k].quality);
    }
}

// Counts the reported steps.
class CountedSteps : public SilentProgress {
  public:
    void begin(const std::string&, std::int64_t all, const std::string&) override { total = all; }
    void advance(std::int64_t count) override { done += count; }

    std::int64_t total = 0, done = 0;
};

TEST(SurfaceResult, AreReportedStepByStep) {
    const LayeredScene scene = retina_scene({160, 48, 24}, 5, 20);
    CountedSteps steps;
    find_surfaces(scene.intensity, scene.size, search_for(retina_polarities), steps);
    EXPECT_GT(steps.total, std::ssize(retina_polarities));
    EXPECT_EQ(steps.done, steps.total);
}

TEST(SurfaceResult, AreMissingInNoise) {
    for (const Size3& size : {Size3{256, 64, 16}, Size3{512, 64, 1}}) {
        LayeredScene scene{size, {}, {}};
        paint(scene, {0});
        std::mt19937 random(9);
        add_speckle(scene, 20, random);
        const Surfaces surfaces = found_in(scene, search_for({1, -1}));
        EXPECT_EQ(share_of(surfaces, Reason::no_signal), 1);
        for (const Surface& surface : surfaces.all) EXPECT_THAT(surface.rows, testing::Each(testing::IsNan()));
    }
}

TEST(SurfaceResult, AreMissingInEmptyVolume) {
    LayeredScene scene{{64, 16, 16}, {}, {}};
    paint(scene, {0});
    EXPECT_EQ(share_of(found_in(scene, search_for({0})), Reason::no_signal), 1);
}

// A part without tissue has no surfaces and does not inherit them from its neighbours.
TEST(SurfaceResult, EndWithTissue) {
    LayeredScene scene = flat_scene({96, 64, 32});
    std::mt19937 random(6);
    for (std::int64_t line = 0; line < scene.lines(); ++line) {
        if (line % 64 < 40) continue;
        std::fill_n(scene.intensity.begin() + line * 96, 96, 0.0f);
    }
    add_speckle(scene, 20, random);
    const Surfaces surfaces = found_in(scene, search_for({0, 0, 0, 0}));
    for (const Surface& surface : surfaces.all) {
        for (std::int64_t line = 0; line < scene.lines(); ++line) {
            const auto i = index(line);
            EXPECT_EQ(surface.reasons[i] == Reason::no_signal, line % 64 >= 40) << line % 64;
            EXPECT_EQ(std::isnan(surface.rows[i]), line % 64 >= 40);
        }
    }
}

// Surfaces are not extended where a boundary fades.
TEST(SurfaceResult, EndWhereBoundaryFades) {
    LayeredScene scene{{96, 96, 32}, {}, {}};
    for (const float at : {20.5f, 60.5f}) scene.boundaries.emplace_back(index(scene.lines()), at);
    paint(scene, {0, 1, 0.1});
    LayeredScene faded = scene;
    paint(faded, {0, 1, 1});
    for (std::int64_t line = 0; line < scene.lines(); ++line) {
        if (line % 96 >= 48) continue;
        std::copy_n(faded.intensity.begin() + line * 96, 96, scene.intensity.begin() + line * 96);
    }
    std::mt19937 random(8);
    add_speckle(scene, 20, random);
    const Surfaces surfaces = found_in(scene, search_for({1, -1}));
    std::int64_t found = 0, found_faded = 0;
    for (std::int64_t line = 0; line < scene.lines(); ++line) {
        const bool is_there = has_place(surfaces.all[1].reasons[index(line)]);
        if (line % 96 < 40) found_faded += is_there ? 1 : 0;
        if (line % 96 >= 56) found += is_there ? 1 : 0;
    }
    EXPECT_EQ(found, 40 * 32);
    EXPECT_LT(found_faded, 40 * 32 / 2);
    EXPECT_THAT(surfaces.all[0].reasons, testing::Each(testing::AnyOf(Reason::ok, Reason::ambiguous)));
}

// Voxels without values affect only the positions next to them.
TEST(SurfaceResult, AreUnaffectedByMissingVoxelsNearby) {
    const LayeredScene whole = three_boundaries(5);
    LayeredScene scene = whole;
    const auto empty = [&](std::int64_t line, std::int64_t first, std::int64_t last) {
        std::fill(scene.intensity.begin() + line * 120 + first, scene.intensity.begin() + line * 120 + last,
                  std::numeric_limits<float>::quiet_NaN());
    };
    for (std::int64_t line = 0; line < scene.lines(); ++line) {
        empty(line, 0, line % 5);
        empty(line, 120 - line % 7, 120);
        if (line / 64 == 0) empty(line, 0, 120);                      // an empty B-scan
        if (line / 64 == 12 && line % 64 < 20) empty(line, 80, 120);  // one boundary is not recorded
    }
    const Surfaces surfaces = found_in(scene, search_for({1, -1, -1}));
    for (std::size_t k = 0; k < 3; ++k) {
        std::int64_t places = 0;
        for (std::size_t i = 0; i < index(scene.lines()); ++i) {
            const float row = surfaces.all[k].rows[i];
            EXPECT_TRUE(std::isfinite(surfaces.all[k].quality[i]));
            EXPECT_EQ(i < 64, surfaces.all[k].reasons[i] == Reason::no_signal);
            EXPECT_FALSE(k == 2 && i / 64 == 12 && i % 64 < 20 && !std::isnan(row)) << row;
            if (std::isnan(row)) continue;
            EXPECT_NEAR(row, scene.boundaries[k][i], 4) << k << " " << i;
            ++places;
        }
        EXPECT_GT(places, (scene.lines() - 64) * 95 / 100);
    }
}

TEST(SurfaceResult, AreRejectedForNonIntensities) {
    SilentProgress silent;
    const LayeredScene scene = three_boundaries(6);
    Volume volume = make_volume(scene.size, scene.intensity);
    for (const char* quantity : {"velocity", "decorrelation"}) {
        volume.grid.quantity = quantity;
        EXPECT_THROW(find_surfaces(volume, {}, silent), Error) << quantity;
    }
    for (const char* quantity : {"", "intensity"}) {
        volume.grid.quantity = quantity;
        EXPECT_GT(share_found(find_surfaces(volume, {}, silent)), 0.9) << quantity;
    }
}

TEST(SurfaceResult, RejectTooManyBoundaries) {
    const LayeredScene scene = flat_scene({96, 8, 8});
    EXPECT_THROW(found_in(scene, search_for(std::vector<int>(30, 0))), Error);
}

TEST(LayerPresets, AllCanBeRead) {
    for (const Asset& asset : assets_of(layer_files, {})) {
        const LayerPreset preset = layer_preset_of(asset);
        EXPECT_FALSE(preset.text.empty()) << asset.name;
        EXPECT_FALSE(preset.assignments.empty()) << asset.name;
    }
    EXPECT_THROW(layer_preset_named("retinal"), Error);
}

TEST(LayerRecipes, ConvertDistancesToRows) {
    LayerRecipe recipe = with(LayerRecipe{}, "polarity=1,-1 min_um=0,10 max_um=0");
    recipe.names = "a b";
    const std::vector<BoundaryOptions> wanted = boundary_options(recipe, 2.5);
    ASSERT_EQ(wanted.size(), 2U);
    EXPECT_EQ(wanted[1].name, "b");
    EXPECT_EQ(wanted[1].polarity, -1);
    EXPECT_DOUBLE_EQ(wanted[1].min_rows, 4);
    EXPECT_EQ(wanted[1].max_rows, 0);
}

TEST(LayerRecipes, RejectContradictions) {
    const auto refused = [](auto change, double row_um = 2) {
        LayerRecipe recipe;
        change(recipe);
        EXPECT_THROW(boundary_options(recipe, row_um), Error);
    };
    refused([](LayerRecipe& r) { r.names = "a b a"; });
    refused([](LayerRecipe& r) { r.polarity = {1, -1}; });
    refused([](LayerRecipe& r) { r.min_um = {0, 20, 20}, r.max_um = {0, 30, 10}; });
    refused([](LayerRecipe& r) { r.min_um = {10}; }, 0);
}

// ---- boundaries that do not exist -----------------------------------------------------------------------------------

// Searches for one boundary too many in the speckle around a bright line: few positions look like one.
TEST(MissingSurfaces, AreNotReportedAsCertain) {
    const std::vector<float> boundaries{60.5f, 120.5f, 123.5f, 180.5f};
    for (const double below : {0.05, 1.0}) {
        const LayeredScene scene = blurred(boundaries, {0.01, 1, 50, below, 0.02}, {256, 96, 32}, 3);
        for (const std::size_t count : {3u, 4u, 5u}) {
            for (const int polarity : {0, 1}) {
                const Surfaces surfaces = found_in(scene, search_for(std::vector<int>(count, polarity), 0));
                std::int64_t wrong = 0;
                for (const Surface& surface : surfaces.all) {
                    for (std::size_t i = 0; i < surface.rows.size(); ++i) {
                        const bool is_near = std::ranges::any_of(
                            boundaries, [&](float at) { return std::abs(surface.rows[i] - at) < 3; });
                        wrong += surface.reasons[i] == Reason::ok && !is_near ? 1 : 0;
                    }
                }
                EXPECT_LT(wrong, scene.lines() / 500) << below << " " << count << " " << polarity;
            }
        }
    }
}

// Positions reported as certain are at boundaries, and no two coincide.
TEST(MissingSurfaces, HaveNoPosition) {
    const LayeredScene scene = three_boundaries(4);
    for (std::size_t surplus = 1; surplus <= 3; ++surplus) {
        const Surfaces surfaces = found_in(scene, search_for(std::vector<int>(3 + surplus, 0), 0));
        std::int64_t doubled = 0, elsewhere = 0, found = 0;
        for (std::size_t i = 0; i < index(scene.lines()); ++i) {
            for (const std::vector<float>& boundary : scene.boundaries) {
                const auto near = std::ranges::count_if(
                    surfaces.all, [&](const Surface& surface) { return std::abs(surface.rows[i] - boundary[i]) < 3; });
                found += near > 0 ? 1 : 0;
            }
            float last = -100;
            for (const Surface& surface : surfaces.all) {
                if (std::isnan(surface.rows[i])) continue;
                doubled += surface.rows[i] - last < 2.99f ? 1 : 0;
                last = surface.rows[i];
            }
            elsewhere += std::ranges::count_if(surfaces.all, [&](const Surface& surface) {
                return !std::isnan(surface.rows[i]) &&
                       std::ranges::none_of(scene.boundaries, [&](const auto& boundary) {
                           return std::abs(surface.rows[i] - boundary[i]) < 3;
                       });
            });
        }
        EXPECT_GT(found, 3 * scene.lines() * 95 / 100) << surplus;
        EXPECT_EQ(doubled, 0) << surplus;
        EXPECT_LT(elsewhere, static_cast<std::int64_t>(surplus) * scene.lines() / 2) << surplus;
    }
}

// ---- simulated retinas with vessels ---------------------------------------------------------------------------------

constexpr double db_25 = 0.0045, db_15 = 0.0014;  // simulation.brightness

LayerRecipe retina_layers() {
    LayerRecipe recipe;
    Settings settings;
    settings.bind("layers", recipe);
    for (const std::string& assignment : layer_preset_named("retina").assignments) settings.set_assignment(assignment);
    return recipe;
}

class SlowLayers : public testing::TestWithParam<std::int64_t> {};

TEST_P(SlowLayers, FindsSurfacesBelowVesselsWithSubvoxelError) {
    for (const double brightness : {db_25, db_15}) {
        Simulation s = with(Simulation{}, "scene=retina a_scans=128 b_scans=96");
        s.seed = GetParam();
        s.brightness = brightness;
        const TemporaryFolder folder;
        SilentProgress silent;
        simulate(s, folder.path() / "scan.toml", silent);
        Reconstruction reconstruction(open_scan(folder.path() / "scan.toml"));
        const Volume volume = reconstruction.run({}, silent);
        const Surfaces surfaces = find_surfaces(volume, retina_layers(), silent);
        const Instrument instrument(s);
        const Truth truth = truth_of(instrument.simulation(), instrument.scenery(), instrument.pitch_um());
        EXPECT_GE(share_found(surfaces), 0.99);
        const DepthScale scale(volume.grid);
        double all = 0, worst = 0;
        std::string worst_name;
        for (std::size_t k = 0; k < surfaces.all.size(); ++k) {
            double sum = 0, count = 0;
            for (std::size_t i = 0; i < surfaces.all[k].rows.size(); ++i) {
                const float row = surfaces.all[k].rows[i];
                if (std::isnan(row)) continue;
                if (k > 0) {
                    ASSERT_FALSE(row < surfaces.all[k - 1].rows[i]) << "surfaces cross";
                }
                const std::size_t place = k * surfaces.all[k].rows.size() + i;
                sum += std::abs(static_cast<double>(row) - scale.row(static_cast<double>(truth.boundaries_um[place])));
                ++count;
            }
            const double mean = sum / count;
            all += mean / static_cast<double>(surfaces.all.size());
            if (mean > worst) worst_name = surfaces.all[k].name;
            worst = std::max(worst, mean);
        }
        std::printf("seed %d, brightness %.4f: %.2f voxels over all surfaces, worst %.2f (%s)\n",
                    static_cast<int>(GetParam()), brightness, all, worst, worst_name.c_str());
        EXPECT_LE(all, 0.8);
        EXPECT_LE(worst, 1.2);
    }
}

INSTANTIATE_TEST_SUITE_P(FiveSeeds, SlowLayers, testing::Range<std::int64_t>(1, 6));

}  // namespace
}  // namespace echolux
