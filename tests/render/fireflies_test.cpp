// Fireflies: pixels of a path-traced picture that a rare path has made much brighter than their surroundings. The
// denoiser removes them from the displayed picture; the accumulated light keeps them.
#include <algorithm>
#include <cmath>

#include "compute/indexing.h"
#include "render/denoiser.h"
#include "render/renderer.h"
#include "tests/support/set_fields.h"
#include "traced.h"

namespace echolux::test {
namespace {

constexpr std::int64_t width = 64, height = 48, paths = 16;

class Fireflies : public Traced {
  protected:
    // A polished surface below a small lamp: diffusely scattered light is rarely reflected to the lamp, but then
    // carries much light. Without colours, so that light equals luminance.
    void SetUp() override {
        Traced::SetUp();
        const VolumeGrid grid = db_grid(48, 48, 48);
        set_volume(grid, [&](std::int64_t z, std::int64_t a, std::int64_t b) {
            return std::max(ball(grid, 18)(z, a, b), z > 34 ? 30. : 0.);
        });
        set_curve({{0, 1, 1, 1, 0}, {.3, .9, .9, .9, 0}, {.35, .9, .9, .9, 60}, {1, .9, .9, .9, 60}}, 0);
        set(view_,
            "look=free elevation_deg=35 zoom=2 lighting=true roughness=0.1 sky=0.02 lamp=free "
            "lamp_elevation_deg=50 lamp_size_deg=0.1 lamp_brightness=4 bounces=4");
        view_.width = width;
        view_.height = height;
        view_.paths = paths;
        view_.exposure_ev = -6;  // so that the light of single paths is not clamped
    }

    std::int64_t taken_out() {
        double now_s = 10;
        EXPECT_EQ(followed_to_rest(renderer(), view_, now_s).passes, view_.paths);
        return renderer().fireflies();
    }

    // Light of each path of each pixel, computed from the change of the mean.
    std::vector<std::vector<double>> light_of_paths() {
        view_.denoise = false;
        std::vector<std::vector<double>> light(index(view_.width * view_.height));
        std::vector<double> before(light.size(), 0);
        for (view_.paths = 1; view_.paths <= paths; ++view_.paths) {
            const std::vector<Pixel> means = pixels();
            for (std::size_t i = 0; i < light.size(); ++i) {
                const double sum = static_cast<double>(view_.paths) * means[i].light;
                light[i].push_back(sum - before[i]);
                before[i] = sum;
            }
        }
        view_.paths = paths;
        return light;
    }
};

// Visits the pixels around one, clipped to the picture.
template <class Visit>
void for_block(std::int64_t x, std::int64_t y, std::int64_t radius, const Visit& visit) {
    for (std::int64_t v = std::max<std::int64_t>(0, y - radius); v <= std::min(height - 1, y + radius); ++v)
        for (std::int64_t u = std::max<std::int64_t>(0, x - radius); u <= std::min(width - 1, x + radius); ++u)
            visit(std::size_t(v * width + u));
}

double mean_of(const std::vector<double>& light) {
    double sum = 0;
    for (const double path : light) sum += path;
    return sum / static_cast<double>(light.size());
}

double error_of_mean(const std::vector<double>& light) {
    const double mean = mean_of(light), count = static_cast<double>(light.size());
    double squares = 0;
    for (const double path : light) squares += (path - mean) * (path - mean);
    return std::sqrt(squares / count / (count - 1));
}

struct Outstanding {
    std::vector<std::size_t> places;
    std::vector<double> without;  // light of all pixels, replaced by the brightest neighbour at `places`
};

// More than three times as bright as the brightest neighbour, with an error of more than 30 % of the mean. `stricter`
// scales both thresholds.
Outstanding outstanding(const std::vector<std::vector<double>>& light, double stricter = 1) {
    Outstanding found;
    for (std::int64_t y = 0; y < height; ++y)
        for (std::int64_t x = 0; x < width; ++x) {
            double beside = 0;
            for_block(x, y, 1, [&](std::size_t i) {
                if (i != std::size_t(y * width + x)) beside = std::max(beside, mean_of(light[i]));
            });
            const std::vector<double>& here = light[std::size_t(y * width + x)];
            const double mean = mean_of(here);
            const bool is_prominent = mean > 3 * stricter * beside && error_of_mean(here) > .3 * stricter * mean;
            if (is_prominent) found.places.push_back(std::size_t(y * width + x));
            found.without.push_back(is_prominent ? beside : mean);
        }
    return found;
}

TEST_F(Fireflies, SlowAreOutliersOfChance) {
    const auto light = light_of_paths();
    view_.denoise = true;
    const auto found = index(taken_out());
    EXPECT_GE(found, outstanding(light, 1.02).places.size());
    EXPECT_LE(found, outstanding(light, 0.98).places.size());
    EXPECT_GT(found, 3U);
}

// Otherwise the filter would spread their light over their surroundings.
TEST_F(Fireflies, SlowLeaveNoBlotches) {
    const auto light = light_of_paths();
    const Outstanding found = outstanding(light);
    view_.denoise = true;
    const std::vector<Pixel> filtered = pixels();
    double shown = 0, with = 0, without = 0;
    for (const std::size_t place : found.places) {
        const auto here = static_cast<std::int64_t>(place);
        for_block(here % width, here / width, 2, [&](std::size_t i) {
            shown += filtered[i].light;
            with += mean_of(light[i]);
            without += found.without[i];
        });
    }
    EXPECT_LT(shown, without + 0.4 * (with - without));
}

TEST_F(Fireflies, StayWithoutDenoising) {
    EXPECT_EQ(taken_out(), 0);
    view_.denoise = true;
    view_.paths = paths - 1;
    ++view_.seed;
    EXPECT_EQ(taken_out(), 0);
    EXPECT_TRUE(hides_fireflies(view_, 1023));
    EXPECT_FALSE(hides_fireflies(view_, 1024));
}

// A small bright object that every path hits.
TEST_F(Fireflies, ExcludeKnownBrightPixels) {
    const VolumeGrid grid = db_grid(9, 9, 9);
    const auto one_voxel = [](auto z, auto a, auto b) { return z == 4 && a == 4 && b == 4 ? 40. : 0.; };
    set_volume(grid, one_voxel);
    set_curve({{0, 1, 1, 1, 0}, {.3, 1, 1, 1, 0}, {.3, 1, 1, 1, 1000}, {1, 1, 1, 1, 1000}}, 1);
    set(view_, "look=top lighting=false sky=1 width=9 height=9 paths=100 zoom=1");
    const std::vector<Pixel> raw = pixels();
    double beside = 0;
    for (std::size_t i = 0; i < raw.size(); ++i)
        if (i != 40) beside = std::max(beside, raw[i].light);
    EXPECT_GT(raw[40].light, 3 * beside);
    view_.denoise = true;
    EXPECT_EQ(taken_out(), 0);
}

TEST_F(Fireflies, IgnoreSinglePixelPictures) {
    set(view_, "width=1 height=1 denoise=true");
    EXPECT_EQ(taken_out(), 0);
}

}  // namespace
}  // namespace echolux::test
