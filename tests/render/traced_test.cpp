// Path tracing compared with closed forms, with results of other methods (adding-doubling, Monte Carlo in NumPy), and
// with the ray caster.
#include <algorithm>
#include <cmath>
#include <numbers>

#include "tests/support/set_fields.h"
#include "traced.h"

namespace echolux::test {
namespace {

// R + T of a slab under a sky on both sides, without directly transmitted light; adding-doubling.
TEST_F(Traced, SlabsMatchAddingDoubling) {
    struct Case {
        double depth, g, albedo, light;
    };
    set_slab();
    for (const Case& c :
         {Case{0.1, 0, 1, .04769 + .04747}, Case{0.1, 0, .9, .04210 + .04191}, Case{1, 0, .9, .26741 + .22375},
          Case{1, .8, 1, .06002 + .57210}, Case{1, .8, .9, .04236 + .47750}, Case{10, 0, .9, .41493 + .00557},
          Case{10, .8, .9, .13509 + .09639}}) {
        set_white(c.depth, 64);
        view_.anisotropy = c.g;
        view_.scattering = c.albedo;
        expect_light(c.light, testing::PrintToString(c.depth) + ", g " + testing::PrintToString(c.g));
    }
}

// L = E a p(-mu) mu / (1 + mu) (1 - exp(-tau (1 + 1 / mu))) for light with cosine of incidence mu. With the lamp at the
// eye, mu = 1.
TEST_F(Traced, LampScatteringMatchesClosedForm) {
    set_slab();
    set(view_, "sky=0 bounces=1 scattering=0.8");
    view_.lamp_brightness = 1 / std::numbers::pi;  // irradiance 1
    view_.lamp_size_deg = 0;
    for (const auto& [depth, g, light] :
         {std::array{.5, 0., .020121}, std::array{.5, .6, .003144}, std::array{4., 0., .031820}}) {
        set_white(depth, 64);
        view_.anisotropy = g;
        expect_light(light, testing::PrintToString(depth));
    }
    set(view_, "anisotropy=0 lamp=free lamp_elevation_deg=0 lamp_azimuth_deg=60");
    for (const auto& [depth, light] : {std::array{.5, .016486}, std::array{4., .021221}}) {
        set_white(depth, 64);
        expect_light(light, "from the side, " + testing::PrintToString(depth));
    }
}

// Under a sky on both sides, with transmitted light.
TEST_F(Traced, SingleScatteringMatchesClosedForm) {
    set_slab();
    set(view_, "bounces=1 scattering=0.9");
    for (const auto& [depth, light] : {std::array{.1, .97653}, std::array{1., .59125}, std::array{10., .13817}}) {
        set_white(depth, 64);
        const Mean found = mean();
        EXPECT_NEAR(found.light + 1 - found.opacity, light, 4 * found.sigma + 1e-4) << depth;
    }
}

// Objects that absorb no light look like the sky that lights them, regardless of their content.
TEST_F(Traced, ConservesEnergyInFurnace) {
    const VolumeGrid grid = db_grid(20, 24, 28, VoxelType::u8);
    set_volume(grid, [](std::int64_t z, std::int64_t a, std::int64_t b) { return 40 * noise(z, a, b); });
    set_curve({{0, 1, 1, 1, 0}, {.3, 1, 1, 1, 0}, {.5, 1, 1, 1, 60}, {.6, 1, 1, 1, 3}, {1, 1, 1, 1, 20}}, 0);
    set(view_, "scattering=1 anisotropy=0.5 look=free clip_low=0.1,0.2,0.3");
    expect_light_of_sky(4e-4);
}

// The same holds with surfaces.
TEST_F(Traced, SurfacesConserveEnergyInFurnace) {
    const VolumeGrid grid = db_grid(40, 40, 40);
    set_volume(grid, ball(grid, 18));
    set_curve({{0, 1, 1, 1, 0}, {.3, 1, 1, 1, 0}, {.35, 1, 1, 1, 200}, {1, 1, 1, 1, 200}}, 0);
    set(view_, "scattering=1 lighting=true lighting_strength=1");
    for (const double roughness : {.2, .5, 1.}) {
        view_.roughness = roughness;
        expect_light_of_sky(4e-4, testing::PrintToString(roughness));
    }
}

// Light of a lamp, sampled directly, equals that of a sky in its place, reached by random paths. A lamp of 90 degrees
// around the eye is half of a sky of the same radiance, as seen from one side of a slab.
TEST_F(Traced, SlowLampEqualsSkyInItsPlace) {
    set_slab();
    set_white(3, 64);
    set(view_, "paths=64 lamp=headlight");
    const Mean sky = mean();
    const Mean lamps = mean_of_lamps_all_around();
    EXPECT_NEAR(lamps.light, sky.light, 4 * std::hypot(sky.sigma, lamps.sigma));
}

// Same for surfaces, whose light from the lamp is a formula and whose light from the sky is sampled.
TEST_F(Traced, SlowSurfacesReflectLampLikeSkyInItsPlace) {
    const VolumeGrid grid = db_grid(40, 40, 40);
    set_volume(grid, ball(grid, 18));
    set_curve({{0, .8, .8, .8, 0}, {.3, .8, .8, .8, 0}, {.35, .8, .8, .8, 200}, {1, .8, .8, .8, 200}}, 0);
    set(view_, "lighting=true lighting_strength=1 zoom=2 paths=64");
    for (const double roughness : {.3, 1.}) {
        set(view_, "sky=1 lamp_brightness=0 lamp=headlight");
        view_.roughness = roughness;
        const Mean sky = mean();
        // Pixels also differ by their position on the ball, so this is an upper bound of the errors.
        EXPECT_NEAR(mean_of_lamps_all_around().light / sky.light, 1, 0.015) << roughness;
    }
}

// A slab that is cut inside a brick equals a slab of the remaining depth.
TEST_F(Traced, CutInsideBrickEqualsShorterSlab) {
    set_slab();
    set_white(8, 64);
    set(view_, "sky=0 lamp_brightness=1 lamp_size_deg=0");
    view_.clip_low = {28.5 / 64, 0, 0};  // on the side of the lamp
    const Mean cut = mean();
    view_.clip_low = {0, 0, 0};
    set_white(8 * 35.5 / 64, 64);
    const Mean whole = mean();
    EXPECT_NEAR(cut.light, whole.light, 4 * std::hypot(cut.sigma, whole.sigma));
}

// Sparse speckle with a peak inside the curve, for which the min and max of bricks are not sufficient.
class TracedSpeckle : public Traced {
  protected:
    void SetUp() override {
        Traced::SetUp();
        const VolumeGrid grid = db_grid(30, 41, 37, VoxelType::u8);
        set_volume(grid, [](std::int64_t z, std::int64_t a, std::int64_t b) {
            return (a / 9 + b / 8 + z / 10) % 3 == 0 ? 44 * noise(z, a, b) : 0;
        });
        set_curve({{0, 1, 1, 1, 0}, {.4, 1, .8, .5, 0}, {.45, 1, .9, .4, 80}, {.5, 1, 1, 1, 2}, {1, 1, 1, 1, 6}}, 0);
        set(view_, "look=free zoom=1.6");
    }
};

TEST_F(TracedSpeckle, ExtinctionStaysBelowMajorant) {
    view_.scattering = 1;
    expect_valid_majorants(100);
}

TEST_F(TracedSpeckle, SlowHasOpacityOfRayCasting) {
    expect_opacity_of_ray_casting();
}

TEST_F(TracedSpeckle, SlowRepeatsPictureOfSameSeed) {
    view_.lamp_brightness = 2;
    const Image first = renderer().render(view_);
    view_.seed = 1;
    EXPECT_NE(renderer().render(view_).pixels, first.pixels);
    set(view_, "seed=0 width=60");
    renderer().render(view_);
    view_.width = 48;
    EXPECT_EQ(renderer().render(view_).pixels, first.pixels);
}

// Errors relative to the adding-doubling result.
class TracedErrors : public Traced {
  protected:
    void SetUp() override {
        Traced::SetUp();
        set_slab();
        set_white(1, 64);
        set(view_, "scattering=0.9 width=16 height=16");
    }

    double slope(int decades) {
        const auto error = [&](std::int64_t paths) {
            view_.paths = paths;
            double squares = 0;
            for (const Pixel& pixel : pixels()) squares += std::pow(pixel.light - (.26741 + .22375), 2);
            return std::sqrt(squares);
        };
        return std::log10(error(1) / error(std::llround(std::pow(10, decades)))) / decades;
    }
};

TEST_F(TracedErrors, IndependentPathsFallWithRootOfNumber) {
    view_.spreads_paths = false;
    EXPECT_NEAR(slope(2), 0.5, 0.06);
}

TEST_F(TracedErrors, SlowIndependentPathsFallOverFourDecades) {
    view_.spreads_paths = false;
    EXPECT_NEAR(slope(4), 0.5, 0.03);
}

// With few relevant scatterings, errors fall faster. A bias would stop them from falling.
TEST_F(TracedErrors, EvenlySpreadPathsFallFaster) {
    EXPECT_GT(slope(2), 0.6);
}

TEST_F(TracedErrors, SlowEvenlySpreadPathsFallOverFourDecades) {
    EXPECT_GT(slope(4), 0.5);
}

// Paths that either hit a slab or miss it, depending on their first random number.
class TracedNeighbours : public Traced {
  protected:
    void SetUp() override {
        Traced::SetUp();
        set_slab();
        set_white(1, 64);
        set(view_, "bounces=1 paths=1");
        view_.spreads_pixels = true;
    }

    const double met_ = 1 - std::exp(-1.);
};

// Errors cancel over squares of 4 x 4 pixels, while those of independent pixels add up.
TEST_F(TracedNeighbours, CancelOverNeighbouringPixels) {
    const auto variance = [&](bool spreads_pixels) {
        view_.spreads_pixels = spreads_pixels;
        const std::vector<Pixel> all = pixels();
        double squares = 0;
        for (std::size_t top = 0; top < 48; top += 4) {
            for (std::size_t left = 0; left < 48; left += 4) {
                double sum = 0;
                for (std::size_t i = 0; i < 16; ++i) sum += all[(top + i / 4) * 48 + left + i % 4].opacity;
                squares += std::pow(sum / 16 - met_, 2) / 144;
            }
        }
        return squares;
    };
    EXPECT_NEAR(variance(false), met_ * (1 - met_) / 16, 0.4 * met_ * (1 - met_) / 16);
    EXPECT_LT(variance(true), 0.25 * met_ * (1 - met_) / 16);
}

// Over many seeds, each pixel is as random as before: the mean of the squared normalised errors is 1.
TEST_F(TracedNeighbours, UseEveryNumberEquallyOften) {
    constexpr int seeds = 128;
    view_.width = view_.height = 16;
    std::vector<double> sums(256);
    for (view_.seed = 0; view_.seed < seeds; ++view_.seed) {
        const std::vector<Pixel> all = pixels();
        for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += all[i].opacity;
    }
    double squares = 0;
    for (const double sum : sums) squares += std::pow(sum - seeds * met_, 2) / (seeds * met_ * (1 - met_)) / 256;
    EXPECT_NEAR(squares, 1, 0.35);  // four times its standard deviation
}

TEST_F(Traced, ToleratesNonFiniteVoxels) {
    const VolumeGrid grid = db_grid(16, 16, 16);
    set_volume(grid, [](std::int64_t z, std::int64_t, std::int64_t) { return z % 5 == 0 ? std::nan("") : 30.; });
    set_white(4, 0);
    set(view_, "lighting=true lamp_brightness=1 width=1 height=1");
    for (const Pixel& pixel : pixels()) EXPECT_TRUE(std::isfinite(pixel.light));
    expect_valid_majorants(0);
}

TEST_F(TracedSpeckle, WindowShowsCompositeDuringMotionAndPathsAtRest) {
    set(view_, "transparent=false paths=8");
    View composite = view_;
    composite.mode = ViewMode::composite;
    double now_s = 10;
    view_.frame_ms = 1000;  // at full resolution
    PanePicture shown;
    for (int i = 0; i < 8; ++i) {  // the first may be slow on a busy machine, which makes the next one coarse
        view_.azimuth_deg += 1;
        shown = renderer().follow(view_, now_s += .01);
        renderer().wait(shown.drawing);
    }
    composite.azimuth_deg = view_.azimuth_deg;
    EXPECT_FALSE(shown.is_final);
    const Image moving = renderer().read(shown.drawing);
    shown = followed_to_rest(renderer(), view_, now_s);
    EXPECT_EQ(shown.passes, 8);
    EXPECT_EQ(renderer().read(shown.drawing).pixels, renderer().render(view_).pixels);
    EXPECT_EQ(moving.pixels, renderer().render(composite).pixels);
}

}  // namespace
}  // namespace echolux::test
