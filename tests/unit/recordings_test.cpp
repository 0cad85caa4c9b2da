// Searches in painted recordings as devices store them: averaged speckle, cut background, shadows, reflectors, tilt.
// The recordings of ECHOLUX_DATA are compared in tests/cli/test_analysis.py.
#include "engine/layers/recordings.h"
#include "compute/reason.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <numbers>
#include <random>

#include "compute/error.h"
#include "compute/indexing.h"
#include "engine/layers/catheter_frame.h"
#include "engine/layers/find_surfaces.h"
#include "engine/layers/retina_search.h"
#include "tests/support/volumes.h"

namespace echolux {
namespace {

// A B-scan of averaged speckle.
struct Painted {
    std::int64_t depth, a_scans;
    std::vector<float> mean{}, values{};

    float& at(std::int64_t a, std::int64_t z) { return mean[index(a * depth + z)]; }

    void speckle(double looks, unsigned seed) {
        std::mt19937 random(seed);
        std::gamma_distribution<float> gamma(static_cast<float>(looks), static_cast<float>(1 / looks));
        values = mean;
        for (float& value : values) value = (value + 0.002f) * gamma(random);
    }

    Volume volume(const char* quantity = "intensity") const {
        return make_volume({depth, a_scans, 1}, values, quantity, {4, 11, 0});
    }
};

// Rows of the nine boundaries of the painted eye: thicknesses of the model above RPE-bottom.
std::vector<float> boundaries_at(float rpe_bottom) {
    const RetinaModel model;
    std::vector<float> rows(retina_boundaries, rpe_bottom);
    for (std::size_t q = retina_boundaries - 1; q > 0; --q)
        rows[q - 1] = rows[q] - static_cast<float>(model.thickness_um[q] / 4);
    return rows;
}

// Powers of the layers: vitreous, eight layers of the model on a scale of 3 nepers, choroid.
constexpr std::array<float, 10> powers{0.001f, .74f, .22f, .097f, .147f, .05f, .74f, .35f, 1, .15f};

template <class Rpe>
Painted painted_eye(std::int64_t a_scans, const Rpe& rpe) {
    Painted eye{360, a_scans};
    eye.mean.resize(index(eye.depth * a_scans));
    for (std::int64_t a = 0; a < a_scans; ++a) {
        const std::vector<float> rows = boundaries_at(rpe(a));
        for (std::int64_t z = 0; z < eye.depth; ++z) {
            const auto layer =
                index(std::ranges::count_if(rows, [&](float row) { return row < static_cast<float>(z); }));
            const float under = std::max(0.0f, static_cast<float>(z) - rows.back());
            eye.at(a, z) = layer < 9 ? powers[layer] : powers[9] * std::exp(-under / 30);
        }
    }
    return eye;
}

LayerRecipe recipe_of(const char* preset) {
    LayerRecipe recipe{
        .names = std::string(preset) == "retina" ? "ILM NFL IPL INL OPL ISOS OS RPE-top RPE-bottom" : "surface",
        .polarity = {1}};
    recipe.method = std::string(preset) == "retina"  ? SearchMethod::retina
                    : std::string(preset) == "lumen" ? SearchMethod::lumen
                                                     : SearchMethod::surface;
    return recipe;
}

Surfaces found_in(const Painted& painted, const LayerRecipe& recipe, const char* quantity = "intensity") {
    SilentProgress silent;
    return find_surfaces(painted.volume(quantity), recipe, silent);
}

struct FilterQuality {
    double mean = 0, sure = 0, false_sure = 0;  // rows, share, share of the sure ones
};

template <class Row>
FilterQuality judged(const Surface& surface, const Row& row) {
    FilterQuality result;
    double sure = 0, wrong = 0;
    for (std::size_t a = 0; a < surface.rows.size(); ++a) {
        const double error = std::abs(static_cast<double>(surface.rows[a] - row(static_cast<std::int64_t>(a))));
        result.mean += (std::isnan(error) ? 1000 : error) / static_cast<double>(surface.rows.size());
        if (surface.reasons[a] != Reason::ok) continue;
        ++sure;
        wrong += error > 8 ? 1 : 0;
    }
    result.sure = sure / static_cast<double>(surface.rows.size());
    result.false_sure = sure > 0 ? wrong / sure : 0;
    return result;
}

template <class Rpe>
void expect_eye(const Surfaces& surfaces, const Rpe& rpe, double most_mean = 2) {
    ASSERT_EQ(surfaces.all.size(), retina_boundaries);
    for (std::size_t q = 0; q < retina_boundaries; ++q) {
        const FilterQuality result = judged(surfaces.all[q], [&](std::int64_t a) { return boundaries_at(rpe(a))[q]; });
        EXPECT_LT(result.mean, most_mean) << surfaces.all[q].name;
        EXPECT_GT(result.sure, 0.7) << surfaces.all[q].name;
        EXPECT_LE(result.false_sure, 0.02) << surfaces.all[q].name;
    }
}

float curved(std::int64_t a) {
    return 260 + 12 * std::sin(static_cast<float>(a) / 60);
}

TEST(Retina, FindsBoundariesInAveragedScan) {
    Painted eye = painted_eye(300, curved);
    eye.speckle(12, 1);
    const Surfaces surfaces = found_in(eye, recipe_of("retina"));
    expect_eye(surfaces, curved);
    for (const std::size_t q : {0U, 5U, 8U}) {
        double bias = 0;
        for (std::size_t a = 0; a < 300; ++a)
            bias +=
                static_cast<double>(surfaces.all[q].rows[a] - boundaries_at(curved(static_cast<std::int64_t>(a)))[q]);
        EXPECT_NEAR(bias / 300, 0, 0.3) << "half a voxel is the commonest fault: " << surfaces.all[q].name;
    }
}

TEST(Retina, BoundariesBelowCutBackgroundAreFound) {
    Painted eye = painted_eye(300, curved);
    eye.speckle(12, 2);
    for (float& value : eye.values) value = value < 0.012f ? 0 : value;
    expect_eye(found_in(eye, recipe_of("retina")), curved);
}

TEST(Retina, TiltCostsNothing) {
    const auto tilted = [](std::int64_t a) { return 200 + 0.5f * static_cast<float>(a); };  // 10 degrees
    Painted eye = painted_eye(260, tilted);
    eye.speckle(12, 3);
    expect_eye(found_in(eye, recipe_of("retina")), tilted);
}

TEST(Retina, ShadowsAreBridgedAndDoubted) {
    Painted eye = painted_eye(300, curved);
    for (std::int64_t a = 140; a < 152; ++a) {
        for (std::int64_t z = 0; z < eye.depth; ++z)
            eye.at(a, z) *= static_cast<float>(z) > boundaries_at(curved(a))[1] ? 0.02f : 1;
    }
    eye.speckle(12, 4);
    const Surfaces surfaces = found_in(eye, recipe_of("retina"));
    const Surface& rpe = surfaces.all.back();
    for (std::size_t a = 143; a < 149; ++a) {
        EXPECT_EQ(rpe.reasons[a], Reason::ambiguous);
        EXPECT_NEAR(rpe.rows[a], curved(static_cast<std::int64_t>(a)), 4);
    }
}

TEST(Retina, MirroredScanGivesMirroredBoundaries) {
    Painted eye = painted_eye(304, curved);
    eye.speckle(12, 5);
    Painted mirrored = eye;
    for (std::int64_t a = 0; a < eye.a_scans; ++a)
        std::copy_n(eye.values.begin() + (eye.a_scans - 1 - a) * eye.depth, eye.depth,
                    mirrored.values.begin() + a * eye.depth);
    const Surfaces one = found_in(eye, recipe_of("retina")), other = found_in(mirrored, recipe_of("retina"));
    for (const std::size_t q : {0U, 8U}) {
        for (std::size_t a = 0; a < 304; ++a) EXPECT_NEAR(one.all[q].rows[a], other.all[q].rows[303 - a], 1) << q;
    }
}

// Up to 31 degrees at one end, above a bright choroid.
TEST(Retina, FollowsSteepCurvature) {
    const auto steep = [](std::int64_t a) {
        return 350 - 1.0f * static_cast<float>(a) * (0.3f + 0.7f * static_cast<float>(a) / 300);
    };
    Painted eye = painted_eye(260, steep);
    for (std::int64_t a = 0; a < eye.a_scans; ++a) {
        for (std::int64_t z = static_cast<std::int64_t>(steep(a)) + 1; z < eye.depth; ++z) eye.at(a, z) *= 3;
    }
    eye.speckle(12, 18);
    const Surfaces surfaces = found_in(eye, recipe_of("retina"));
    EXPECT_LT(judged(surfaces.all[8], steep).mean, 2);
}

// Vitreous that scatters less than the darkest layer, but more than the noise.
TEST(Retina, DoubtsIlmAboveDimVitreous) {
    const auto rpe = [](std::int64_t a) { return 250 - 8 * std::sin(static_cast<float>(a) / 40); };
    constexpr std::int64_t a_scans = 300, first_hazy = 150, haze_rows = 30;
    Painted eye = painted_eye(a_scans, rpe);
    const auto ilm = [&](std::int64_t a) { return boundaries_at(rpe(a))[0]; };
    for (std::int64_t a = first_hazy; a < a_scans; ++a) {
        const auto first = static_cast<std::int64_t>(std::ceil(ilm(a)));
        for (std::int64_t z = first - haze_rows; z < first; ++z) eye.at(a, z) = 0.03f;
    }
    eye.speckle(12, 19);
    const Surface surface = found_in(eye, recipe_of("retina")).all[0];
    EXPECT_GT(std::count(surface.reasons.begin(), surface.reasons.begin() + first_hazy - 10, Reason::ok), 130);
    std::int64_t wrong = 0;
    for (std::int64_t a = 0; a < a_scans; ++a)
        wrong += surface.reasons[index(a)] == Reason::ok && std::abs(surface.rows[index(a)] - ilm(a)) > 8 ? 1 : 0;
    EXPECT_LE(wrong, 5);
}

// The places stay the same, but none is certain.
TEST(Retina, NerveFibresAreAmbiguousInFewSpeckles) {
    Painted eye = painted_eye(300, curved);
    eye.speckle(3, 15);
    const Surfaces surfaces = found_in(eye, recipe_of("retina"));
    EXPECT_EQ(std::ranges::count(surfaces.all[1].reasons, Reason::ok), 0);
    EXPECT_GT(std::ranges::count(surfaces.all[0].reasons, Reason::ok), 200);
    EXPECT_LT(judged(surfaces.all[1], [](std::int64_t a) { return boundaries_at(curved(a))[1]; }).mean, 4);
}

TEST(Retina, NoiseHasNoPlaces) {
    for (const double looks : {1.0, 10.0}) {
        Painted noise{360, 200};
        noise.mean.assign(index(360 * 200), 1);
        noise.speckle(looks, 6);
        EXPECT_EQ(share_found(found_in(noise, recipe_of("retina"))), 0);
        EXPECT_EQ(share_of(found_in(noise, recipe_of("surface")), Reason::ok), 0);
    }
}

// Skin below a coverslip: a bright line of 12 rows, a dark gap of 8, tissue that fades.
Painted painted_skin(float surface, float coverslip = 20) {
    Painted skin{300, 200};
    for (std::int64_t a = 0; a < skin.a_scans; ++a) {
        for (std::int64_t z = 0; z < skin.depth; ++z) {
            const auto row = static_cast<float>(z);
            const bool is_coverslip = z >= 101 && z < 113;
            skin.mean.push_back(is_coverslip && coverslip > 0 ? coverslip
                                : row > surface               ? std::exp(-(row - surface) / 80)
                                                              : 0.003f);
        }
    }
    return skin;
}

TEST(TissueSurfaceSearch, PassesReflectorsAbove) {
    Painted skin = painted_skin(120.5f);
    skin.speckle(8, 7);
    const FilterQuality result =
        judged(found_in(skin, recipe_of("surface")).all[0], [](std::int64_t) { return 120.5f; });
    EXPECT_LT(result.mean, 2);
    EXPECT_GT(result.sure, 0.9);
}

// Epidermis of 30 rows and a dermis that is five times brighter, below a rough surface.
TEST(TissueSurfaceSearch, FindsBoundaryBelowSurface) {
    const auto surface = [](std::int64_t a) { return 90.5f + 10 * std::sin(static_cast<float>(a) / 15); };
    LayerRecipe recipe = recipe_of("surface");
    recipe.names = "surface dermis";
    recipe.polarity = {1, 1};
    recipe.min_um = {0, 40};
    recipe.max_um = {0, 250};
    for (const bool has_dermis : {true, false}) {
        Painted skin{300, 200};
        for (std::int64_t a = 0; a < skin.a_scans; ++a) {
            for (std::int64_t z = 0; z < skin.depth; ++z) {
                const float below = static_cast<float>(z) - surface(a);
                const float brightness = below > 30 && has_dermis ? 1 : .2f;
                skin.mean.push_back(below > 0 ? brightness * std::exp(-below / 80) : 0.003f);
            }
        }
        skin.speckle(8, 21);
        const Surfaces found = found_in(skin, recipe);
        ASSERT_EQ(found.all.size(), 2U);
        const FilterQuality result = judged(found.all[1], [&](std::int64_t a) { return surface(a) + 30; });
        if (has_dermis) {
            EXPECT_LT(result.mean, 2);
            EXPECT_GT(result.sure, 0.75);
            EXPECT_EQ(result.false_sure, 0);
        } else {
            EXPECT_EQ(result.sure, 0);
        }
    }
    recipe.polarity = {-1, 1};
    EXPECT_THROW(found_in(painted_skin(120.5f), recipe), Error);
}

TEST(TissueSurfaceSearch, LeavesOutDeadAScans) {
    Painted skin = painted_skin(120.5f);
    skin.speckle(8, 8);
    std::fill_n(skin.values.begin() + 90 * skin.depth, 20 * skin.depth, std::numeric_limits<float>::quiet_NaN());
    const Surface surface = found_in(skin, recipe_of("surface")).all[0];
    for (std::size_t a = 0; a < 200; ++a) {
        const bool is_dead = a >= 90 && a < 110;
        EXPECT_EQ(surface.reasons[a] == Reason::no_signal, is_dead) << a;
        EXPECT_EQ(std::isnan(surface.rows[a]), is_dead) << a;
    }
}

TEST(TissueSurfaceSearch, DoubtsVolumeWithoutSurface) {
    Painted skin = painted_skin(-30, 0);
    skin.speckle(8, 9);
    EXPECT_EQ(share_of(found_in(skin, recipe_of("surface")), Reason::ok), 0);
}

TEST(TissueSurfaceSearch, FindsSurfaceBelowCutRows) {
    Painted skin = painted_skin(5.5f, 0);
    skin.speckle(8, 16);
    const Surface filled = found_in(skin, recipe_of("surface")).all[0];
    EXPECT_LT(judged(filled, [](std::int64_t) { return 5.5f; }).mean, 2);
    EXPECT_GT(std::ranges::count(filled.reasons, Reason::ok), 180);
    // A device cut the rows above the tissue.
    skin = painted_skin(1.5f, 0);
    skin.speckle(8, 16);
    for (std::int64_t a = 0; a < skin.a_scans; ++a)
        std::fill_n(skin.values.begin() + a * skin.depth, 2, std::numeric_limits<float>::quiet_NaN());
    const Surface cut = found_in(skin, recipe_of("surface")).all[0];
    EXPECT_LT(judged(cut, [](std::int64_t) { return 1.5f; }).mean, 2);
    EXPECT_GT(std::ranges::count(cut.reasons, Reason::ok), 180);
}

// The tissue is 14 dB dimmer at the right.
TEST(TissueSurfaceSearch, FindsReversedLimitsOfAveragedPicture) {
    Painted skin = painted_skin(120.5f, 0);
    for (std::int64_t a = 0; a < skin.a_scans; ++a) {
        for (std::int64_t z = 121; z < skin.depth; ++z)
            skin.at(a, z) = 0.003f + skin.at(a, z) * std::exp(-static_cast<float>(a) / 60);
    }
    skin.speckle(60, 17);
    for (float& value : skin.values) value = std::pow(value, -6.0f);
    const Surfaces surfaces = found_in(skin, recipe_of("surface"), "");
    EXPECT_LT(surfaces.stored.exponent, 0) << surfaces.stored.why;
    EXPECT_LT(judged(surfaces.all[0], [](std::int64_t) { return 120.5f; }).mean, 4);
    EXPECT_GT(std::ranges::count(surfaces.all[0].reasons, Reason::ok), 180);
}

TEST(TissueSurfaceSearch, FindsReversedLimits) {
    Painted skin = painted_skin(120.5f, 0);
    skin.speckle(8, 10);
    for (float& value : skin.values) value = std::pow(value, -6.0f);
    const Surfaces surfaces = found_in(skin, recipe_of("surface"), "");
    EXPECT_LT(surfaces.stored.exponent, 0) << surfaces.stored.why;
    EXPECT_LT(judged(surfaces.all[0], [](std::int64_t) { return 120.5f; }).mean, 4);
}

// A lumen off the centre, with the shadow of a guide wire. Its edge rises over 10 rows to the shoulder at the radius.
TEST(Lumen, IsFoundExceptBehindWire) {
    constexpr std::int64_t turn = 360, wire = 100;
    const auto radius = [](std::int64_t a) {
        return 120 + 25 * std::cos(2 * std::numbers::pi_v<float> * static_cast<float>(a) / turn);
    };
    Painted frame{320, turn};
    for (std::int64_t a = 0; a < turn; ++a) {
        const bool is_wire = std::abs(a - wire) < 12;
        for (std::int64_t z = 0; z < frame.depth; ++z) {
            const float under = static_cast<float>(z) - radius(a);
            const float rise = std::clamp(1 + under / 10, 0.0f, 1.0f);
            const float wall = std::exp((1 - rise) * std::log(0.002f) - std::max(under, 0.0f) / 90);
            frame.mean.push_back(z < 20 ? 3.0f : is_wire ? (z >= 60 && z < 84 ? 9.0f : 0.002f) : wall);
        }
    }
    frame.speckle(20, 11);
    const Surface lumen = found_in(frame, recipe_of("lumen")).all[0];
    double error = 0;
    for (std::int64_t a = 0; a < turn; ++a) {
        const auto i = index(a);
        if (std::abs(a - wire) < 5) {
            EXPECT_EQ(lumen.reasons[i], Reason::no_signal) << a;
            EXPECT_TRUE(std::isnan(lumen.rows[i])) << a;
        }
        if (std::abs(a - wire) > 18) error += std::abs(static_cast<double>(lumen.rows[i] - radius(a)));
    }
    EXPECT_LT(error / (turn - 37), 2);
}

// Value of a picture at an angle in degrees and a radius.
float spoke(float degree, float radius) {
    return radius + 50 * std::cos(degree / 180 * std::numbers::pi_v<float>);
}

Volume painted_disc(std::int64_t side) {
    const float middle = static_cast<float>(side - 1) / 2;
    Painted disc{side, side};
    for (std::int64_t a = 0; a < side; ++a) {
        for (std::int64_t z = 0; z < side; ++z) {
            const float x = static_cast<float>(a) - middle, y = static_cast<float>(z) - middle;
            const float radius = std::hypot(x, y), degree = std::atan2(y, x) * 180 / std::numbers::pi_v<float>;
            disc.values.push_back(radius > middle ? 0 : 100 + spoke(degree, radius));
        }
    }
    return disc.volume();
}

TEST(CatheterFrame, PictureOfDiscBecomesPolar) {
    const Volume disc = painted_disc(201);
    ASSERT_TRUE(is_cartesian_frame(disc));
    const Volume polar = polar_frame(disc);
    EXPECT_EQ(polar.grid.depth, 100);
    EXPECT_EQ(polar.grid.a_scans, 360);
    EXPECT_EQ(polar.grid.spacing_um[0], disc.grid.spacing_um[0]);
    const auto* values = reinterpret_cast<const float*>(polar.voxels.data());
    for (const std::int64_t degree : {0, 45, 90, 200, 359}) {
        for (const std::int64_t radius : {20, 50, 90}) {
            const float expected = 100 + spoke(static_cast<float>(degree), static_cast<float>(radius));
            EXPECT_NEAR(values[degree * 100 + radius], expected, 0.5) << degree << " " << radius;
        }
    }
}

TEST(CatheterFrame, SquarePolarFrameIsNoDisc) {
    Volume polar = polar_frame(painted_disc(721));
    ASSERT_EQ(polar.grid.depth, polar.grid.a_scans);
    EXPECT_FALSE(is_cartesian_frame(polar));
}

TEST(SearchMethods, AreChosenByLooksAndNames) {
    Painted eye = painted_eye(160, curved);
    LayerRecipe retina = recipe_of("retina"), surface = recipe_of("surface");
    retina.method = surface.method = SearchMethod::automatic;
    eye.speckle(1, 12);
    EXPECT_EQ(plan_search(eye.volume(), retina).method, SearchMethod::likelihood);
    EXPECT_TRUE(plan_search(eye.volume(), retina).is_checked);
    eye.speckle(12, 12);
    EXPECT_EQ(plan_search(eye.volume(), retina).method, SearchMethod::retina);
    EXPECT_EQ(plan_search(eye.volume(), surface).method, SearchMethod::surface);
    surface.polarity = {0};
    EXPECT_EQ(plan_search(eye.volume(), surface).method, SearchMethod::likelihood);
}

TEST(SearchMethods, RefuseUnknownBoundaries) {
    Painted eye = painted_eye(64, curved);
    eye.speckle(12, 13);
    LayerRecipe recipe = recipe_of("retina");
    recipe.names = "ILM sclera";
    EXPECT_THROW(found_in(eye, recipe), Error);
    recipe = recipe_of("retina");
    recipe.usual_um = {1, 2, 3};
    EXPECT_THROW(found_in(eye, recipe), Error);
    SilentProgress silent;
    Volume unknown = eye.volume();
    unknown.grid.spacing_um = {0, 0, 0};
    EXPECT_THROW(find_surfaces(unknown, recipe_of("retina"), silent), Error);
}

TEST(SearchMethods, ReturnOnlyNamedBoundaries) {
    Painted eye = painted_eye(160, curved);
    eye.speckle(12, 14);
    LayerRecipe recipe = recipe_of("retina");
    recipe.names = "ILM RPE-bottom";
    const Surfaces surfaces = found_in(eye, recipe);
    ASSERT_EQ(surfaces.all.size(), 2U);
    EXPECT_EQ(surfaces.all[1].name, "RPE-bottom");
    EXPECT_LT(judged(surfaces.all[1], curved).mean, 2);
}

}  // namespace
}  // namespace echolux
