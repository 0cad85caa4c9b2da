// Environment pictures as light sources: the sampling of directions, compared with sums over the sphere, and their
// light in a slab, compared with a sky of their colour and the closed form of single scattering.
#include "render/sky_picture.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "compute/error.h"
#include "compute/indexing.h"
#include "tests/support/set_fields.h"
#include "traced.h"

namespace echolux::test {
namespace {

constexpr double pi = std::numbers::pi;

double light_of(int code) {
    const double shown = code / 255.0;
    return shown <= 0.04045 ? shown / 12.92 : std::pow((shown + 0.055) / 1.055, 2.4);
}

double solid_angle(std::int64_t row, std::int64_t columns, std::int64_t rows) {
    const double top = pi / 2 - pi * double(row) / double(rows), bottom = top - pi / double(rows);
    return 2 * pi / double(columns) * (std::sin(top) - std::sin(bottom));
}

std::vector<std::uint8_t> some_codes(std::int64_t pixels) {
    std::vector<std::uint8_t> codes;
    for (std::int64_t i = 0; i < 3 * pixels; ++i) codes.push_back(static_cast<std::uint8_t>(255 * noise(i, 1, 2)));
    return codes;
}

TEST(SkyPictures, SamplesTexelsByTheirLight) {
    constexpr std::int64_t columns = 12, rows = 7;
    const std::vector<std::uint8_t> codes = some_codes(columns * rows);
    const SkyPicture sky = sky_picture(columns, rows, 3, codes);
    ASSERT_EQ(sky.texels.size(), std::size_t{columns * rows});
    std::vector<double> power, looks(sky.texels.size());
    double all = 0;
    for (std::size_t i = 0; i < sky.texels.size(); ++i) {
        const double luminance =
            0.2126 * light_of(codes[3 * i]) + 0.7152 * light_of(codes[3 * i + 1]) + 0.0722 * light_of(codes[3 * i + 2]);
        power.push_back(luminance * solid_angle(std::int64_t(i) / columns, columns, rows));
        all += power.back();
        const double kept = double{sky.texels[i].kept};
        looks[i] += kept / double(looks.size());
        looks[static_cast<std::size_t>(sky.texels[i].alias)] += (1 - kept) / double(looks.size());
    }
    EXPECT_NEAR(sky.mean, all / (4 * pi), 1e-12);
    for (std::size_t i = 0; i < looks.size(); ++i) {
        EXPECT_NEAR(looks[i], power[i] / all, 1e-6) << i;
        const double density = double{sky.texels[i].density};
        EXPECT_NEAR(density * solid_angle(std::int64_t(i) / columns, columns, rows), power[i] / all, 1e-6) << i;
    }
}

TEST(SkyPictures, AveragesLargePicturesAndRejectsInvalidOnes) {
    const std::vector<std::uint8_t> bright(3000 * 2, 200);
    const SkyPicture sky = sky_picture(3000, 2, 1, bright);
    EXPECT_LE(sky.columns, max_sky_columns);
    EXPECT_NEAR(sky.mean, light_of(200), 1e-9);
    const std::vector<std::uint8_t> black(12, 0);
    EXPECT_EQ(sky_picture(2, 2, 3, black).mean, 0);
    EXPECT_THROW(sky_picture(2, 2, 4, black), Error);
    EXPECT_THROW(sky_picture(0, 0, 3, {}), Error);
}

class TracedSkies : public Traced {
  protected:
    void SetUp() override {
        Traced::SetUp();
        view_.paths = 32;
    }

    void set_sky(std::int64_t columns, std::int64_t rows, const std::vector<std::uint8_t>& codes) {
        view_.sky_picture = "test.png";
        view_.sky_read = std::make_shared<const SkyPicture>(sky_picture(columns, rows, 3, codes));
    }

    // Sets a black picture with one white pixel.
    void set_bright_pixel(std::int64_t columns, std::int64_t rows, std::int64_t column, std::int64_t row) {
        std::vector<std::uint8_t> codes(index(3 * columns * rows), 0);
        std::fill_n(codes.begin() + 3 * (row * columns + column), 3, std::uint8_t{255});
        set_sky(columns, rows, codes);
    }
};

TEST_F(TracedSkies, UniformPictureEqualsSkyOfItsColour) {
    const VolumeGrid grid = db_grid(40, 40, 40);
    set_volume(grid, ball(grid, 18));
    set_curve({{0, 1, 1, 1, 0}, {.3, 1, 1, 1, 0}, {.35, 1, 1, 1, 20}, {1, 1, 1, 1, 20}}, 0);
    set(view_, "look=oblique lighting_strength=1");
    for (const double anisotropy : {0., .8}) {
        for (const bool surfaces : {false, true}) {
            view_.anisotropy = anisotropy;
            view_.lighting = surfaces;
            view_.sky = 1.5;
            std::vector<std::uint8_t> codes;
            for (int i = 0; i < 32 * 16; ++i) codes.insert(codes.end(), {90, 188, 30});
            set_sky(32, 16, codes);
            const std::vector<Pixel> of_picture = pixels();
            view_.sky_picture.clear();
            view_.sky = 1.5 * light_of(188);
            view_.seed = 7;
            const std::vector<Pixel> of_sky = pixels();
            double sum = 0, squares = 0, light = 0;
            for (std::size_t i = 0; i < of_sky.size(); ++i) {
                const double apart = of_picture[i].light - of_sky[i].light;
                sum += apart;
                squares += apart * apart;
                light += of_sky[i].light;
            }
            EXPECT_GT(light, 100);
            EXPECT_NEAR(sum, 0, 4 * std::sqrt(squares)) << anisotropy << surfaces;
            EXPECT_LT(4 * std::sqrt(squares), 0.08 * light);
        }
    }
}

// Single scattering in a slab seen from above: E a p mu / (1 + mu) (1 - exp(-tau (1 + 1 / mu))) over the pixel.
TEST_F(TracedSkies, BrightPixelEqualsSmallLamp) {
    set_slab();
    constexpr double tau = .5, albedo = .8;
    set_white(tau, 64);
    set(view_, "bounces=1 sky=30");
    view_.scattering = albedo;
    constexpr std::int64_t columns = 64, rows = 32, row = 10;
    const auto expected = [&] {
        double sum = 0;
        constexpr int parts = 1000;
        for (int i = 0; i < parts; ++i) {
            const double latitude = pi / 2 - pi * (double{row} + (i + 0.5) / parts) / double{rows};
            const double mu = std::sin(latitude);
            const double angle = 2 * pi / double{columns} * pi / double{rows} / parts * std::cos(latitude);
            sum += angle * mu / (1 + mu) * (1 - std::exp(-tau * (1 + 1 / mu)));
        }
        return view_.sky * albedo / (4 * pi) * sum;
    }();
    view_.sky_turn_deg = 33;
    set_bright_pixel(columns, rows, 50, row);
    expect_light(expected, "above the horizon");
    set_bright_pixel(columns, rows, 7, row);
    expect_light(expected, "on the other side");
}

// Together with lamps it is sampled less often, which changes only the noise.
TEST_F(TracedSkies, SlowCombineWithLamps) {
    set_slab();
    set_white(3, 64);
    set(view_, "paths=24 lamp=free lamp_azimuth_deg=60");
    const std::vector<std::uint8_t> codes = some_codes(16 * 8);
    for (const Lights lights : {Lights::lamp, Lights::three_point}) {
        set(view_, "lamp_brightness=2 sky=0");
        view_.lights = lights;
        view_.sky_picture.clear();
        const Mean lamps = mean();
        set(view_, "lamp_brightness=0 sky=1");
        set_sky(16, 8, codes);
        const Mean sky = mean();
        set(view_, "lamp_brightness=2 seed=3");
        const Mean both = mean();
        EXPECT_GT(lamps.light, 0.05);
        EXPECT_GT(sky.light, 0.05);
        EXPECT_NEAR(both.light, lamps.light + sky.light, 4 * std::hypot(lamps.sigma, sky.sigma, both.sigma));
        EXPECT_LT(both.sigma, 0.04 * both.light);
    }
}

}  // namespace
}  // namespace echolux::test
