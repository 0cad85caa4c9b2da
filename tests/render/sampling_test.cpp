// Samples along rays and of pixels: the same ball from everywhere, the true picture as the mean of jittered passes, and
// optimisations that change no pixel by more than 1/255.
#include <cmath>

#include "rendering.h"
#include "tests/support/set_fields.h"

namespace echolux::test {
namespace {

class Isotropy : public SharedRendering {
  protected:
    static constexpr std::int64_t edge = 64;

    // Largest difference of a colour channel over all rotations.
    int change_under_rotation(View view, const ValueAt& value) {
        const VolumeGrid grid = db_grid(edge, edge, edge);
        renderer().set_volume(grid, voxels(grid, value).data());
        const Image first = renderer().render(view);
        int most = 0;
        for (const auto& [azimuth, elevation] : {std::pair{90.0, 0.0}, {0.0, 90.0}, {45.0, 35.0}, {-130.0, -60.0}}) {
            view.azimuth_deg = azimuth;
            view.elevation_deg = elevation;
            most = std::max(most, largest_difference(first, renderer().render(view)));
        }
        return most;
    }
};

TEST_F(Isotropy, BallIsSameFromEverywhereUnlessOffCentre) {
    const VolumeGrid grid = db_grid(edge, edge, edge);
    const ValueAt centred = ball(grid, 30);
    View view = voxel_view(grid, edge, edge);
    EXPECT_LE(change_under_rotation(view, centred), 8);
    EXPECT_GT(change_under_rotation(view, [&](auto z, auto a, auto b) { return centred(z, a - 1, b); }), 10);
    view.mode = ViewMode::mip;
    EXPECT_LE(change_under_rotation(view, centred), 8);
    view.mode = ViewMode::composite;
    view.lighting = true;
    EXPECT_LE(change_under_rotation(view, centred), 10);
}

// Speckle that gets brighter away from the eye reveals samples that are biased to one side.
class Passes : public SharedRendering {
  protected:
    static constexpr std::int64_t edge = 32;

    void SetUp() override {
        const VolumeGrid grid = db_grid(edge, edge, edge);
        const auto ramp = [](std::int64_t z, std::int64_t a, std::int64_t b) {
            return 40.0 * static_cast<double>(b) / edge * (0.5 + 0.5 * noise(z, a, b));
        };
        renderer().set_volume(grid, voxels(grid, ramp).data());
        view_ = voxel_view(grid, 2 * edge, 2 * edge);
        set(view_, "preset=gray low=0 high=40 opacity=0.2 background=0,0,0");
    }

    double mean_level(const View& view) {
        const Image image = renderer().render(view);
        double sum = 0;
        for (std::size_t i = 0; i < image.pixels.size(); i += 4) sum += image.pixels[i];
        return sum / (static_cast<double>(image.pixels.size()) / 4);
    }

    View view_;
};

TEST_F(Passes, SinglePassHasNoJitter) {
    const Image plain = renderer().render(view_);
    view_.samples = 2;
    EXPECT_NE(renderer().render(view_).pixels, plain.pixels);
    view_.samples = 1;
    EXPECT_EQ(renderer().render(view_).pixels, plain.pixels);
}

// Compares with a picture of a quarter of the pixel size and an eighth of the step, without jitter. Allowed
// differences: the first pass is a midpoint rule and counts 1/64. Rounding to 8 bits is 0.29 per pixel, which leaves
// 0.01 in the mean of 1000. Transmittance is the exponential of a sum that varies by 8 % from pass to pass. This raises
// its mean by half the square, 0.3 % of about 10 levels. A bias of a quarter step would change the ramp by 0.25 / 8,
// ten times as much.
TEST_F(Passes, AreUnbiased) {
    View truth = view_;
    truth.width *= 4;
    truth.height *= 4;
    truth.step = 0.125;
    const double expected = mean_level(truth);
    ASSERT_GT(expected, 5);
    set(view_, "step=2 samples=64");
    EXPECT_NEAR(mean_level(view_), expected, 0.1);
}

// Steps of two voxels cause ringing in speckle; further passes sample in between.
TEST_F(Passes, ReduceErrorOfPixels) {
    view_.projection = Projection::perspective;
    View truth = with(view_, "step=0.125 samples=64");
    const Image expected = renderer().render(truth);
    const auto error = [&](std::int64_t samples) {
        view_.step = 2;
        view_.samples = samples;
        const Image image = renderer().render(view_);
        double sum = 0;
        for (std::size_t i = 0; i < image.pixels.size(); ++i) {
            sum += std::pow(static_cast<double>(expected.pixels[i]) - image.pixels[i], 2);
        }
        return std::sqrt(sum / static_cast<double>(image.pixels.size()));
    };
    EXPECT_LT(error(64), 0.5 * error(1));
}

// Speckled layers below a wavy surface, with a vessel: empty above, thin at depth, dense in between.
double speckled_layers(std::int64_t z, std::int64_t a, std::int64_t b) {
    const double below = static_cast<double>(z) - 14 - 3 * std::sin(0.15 * static_cast<double>(a));
    const double speckle = 10 * std::log10(1e-3 - std::log(1 - noise(z, a, b)));  // fully developed speckle, dB
    if (below < 0) return 2 + 0.3 * speckle;
    if (std::hypot(static_cast<double>(a) - 24, static_cast<double>(b) - 30) < 6) return 8 + speckle;
    return 34 - 0.5 * below + speckle;
}

struct Shortcut {
    const char* name;
    ViewMode mode;
    const char* preset;
    VoxelType type;
    double max_samples;  // relative to brute force
};

void PrintTo(const Shortcut& c, std::ostream* out) {
    *out << c.name;
}

class Shortcuts : public SharedRendering, public testing::WithParamInterface<Shortcut> {
  protected:
    double samples(const View& view) {
        double sum = 0;
        for (const RayMeasure& ray : renderer().measure(view)) sum += ray.samples;
        return sum;
    }
};

// Skipping alone changes no bit for any step. Ending rays early and longer steps in thin regions are compared with a
// ray caster that takes every quarter-voxel step.
TEST_P(Shortcuts, StayWithinOneLevelOfBruteForce) {
    const VolumeGrid grid = db_grid(56, 56, 56, GetParam().type);
    renderer().set_volume(grid, voxels(grid, speckled_layers).data());
    View view = with(View{}, "box=false width=90 height=70 adaptive=false end_early=false");
    view.mode = GetParam().mode;
    view.preset = GetParam().preset;
    Image expected;
    for (const double step : {2.5, 0.25}) {
        view.step = step;
        view.skip_empty = true;
        const Image skipping = renderer().render(view);
        view.skip_empty = false;
        expected = renderer().render(view);
        EXPECT_EQ(skipping.pixels, expected.pixels) << "step " << step;
    }
    const double all = samples(view);
    view.adaptive = view.end_early = view.skip_empty = true;
    EXPECT_LE(largest_difference(renderer().render(view), expected), 1);
    EXPECT_LT(samples(view), GetParam().max_samples * all);
}

INSTANTIATE_TEST_SUITE_P(All, Shortcuts,
                         testing::Values(Shortcut{"tissue", ViewMode::composite, "tissue", VoxelType::f32, 0.8},
                                         Shortcut{"tissue8bit", ViewMode::composite, "tissue", VoxelType::u8, 0.8},
                                         Shortcut{"retina", ViewMode::composite, "retina", VoxelType::u16, 0.8},
                                         Shortcut{"angiogram", ViewMode::composite, "angiogram", VoxelType::f32, 0.8},
                                         Shortcut{"mip", ViewMode::mip, "tissue", VoxelType::u16, 1},
                                         Shortcut{"isosurface", ViewMode::isosurface, "tissue", VoxelType::f32, 0.8}),
                         [](const auto& instance) { return instance.param.name; });

}  // namespace
}  // namespace echolux::test
