// Pictures of many jittered passes: their mean is the true picture, and repeatable.
#include <cmath>

#include "rendering.h"

namespace echolux::test {
namespace {

// Speckle that gets brighter away from the eye reveals samples that are biased to one side.
constexpr std::int64_t edge = 32;

double ramp(std::int64_t z, std::int64_t a, std::int64_t b) {
    return 40.0 * static_cast<double>(b) / edge * (0.5 + 0.5 * noise(z, a, b));
}

class Passes : public Rendering {
  protected:
    void SetUp() override {
        Rendering::SetUp();
        const VolumeGrid grid = db_grid(edge, edge, edge);
        renderer().set_volume(grid, voxels(grid, ramp).data());
        view_ = voxel_view(grid, 2 * edge, 2 * edge);
        view_.preset = "gray";
        view_.low = 0;
        view_.high = 40;
        view_.opacity = 0.2;
        view_.background = {0, 0, 0};
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

TEST_F(Passes, AreReproducible) {
    view_.samples = 5;
    EXPECT_EQ(renderer().render(view_).pixels, renderer().render(view_).pixels);
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
    view_.step = 2;
    view_.samples = 64;
    EXPECT_NEAR(mean_level(view_), expected, 0.1);
}

// Steps of two voxels cause ringing in speckle; further passes sample in between.
TEST_F(Passes, ReduceErrorOfPixels) {
    view_.projection = Projection::perspective;
    View truth = view_;
    truth.step = 0.125;
    truth.samples = 64;
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

TEST_F(Passes, KeepAlphaStraight) {
    view_.samples = 8;
    view_.background = {0.2, 0.4, 0.6};
    const Image opaque = renderer().render(view_);
    view_.transparent = true;
    const Image clear = renderer().render(view_);
    for (std::size_t i = 0; i < clear.pixels.size(); i += 4) {
        const double alpha = clear.pixels[i + 3] / 255.0;
        for (std::size_t c = 0; c < 3; ++c) {
            EXPECT_NEAR(alpha * clear.pixels[i + c] + (1 - alpha) * 255 * view_.background[c], opaque.pixels[i + c], 2);
        }
    }
}

}  // namespace
}  // namespace echolux::test
