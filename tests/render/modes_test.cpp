// Values along rays, compared with double-precision loops over the voxels of each ray, and absorption, compared with
// the Beer-Lambert law. Most pictures have one pixel per column of voxels, so that samples coincide with voxels.
#include <algorithm>
#include <cmath>

#include "compute/plan/describe.h"
#include "render/transfer_function.h"
#include "rendering.h"
#include "tests/support/set_fields.h"

namespace echolux::test {
namespace {

constexpr std::int64_t depth = 18, a_scans = 22, b_scans = 26;

double speckle(std::int64_t z, std::int64_t a, std::int64_t b) {
    return 44 * noise(z, a, b);
}

// Mostly empty, so that there are bricks to skip and invisible voxels.
double sparse(std::int64_t z, std::int64_t a, std::int64_t b) {
    return (a / 7 + b / 5 + z / 6) % 3 == 0 ? speckle(z, a, b) : 0;
}

double level_of(double value) {
    return std::clamp((value - 3) / 37, 0.0, 1.0);
}

double value_of(const RayMeasure& ray) {
    return ray.value;
}

class Modes : public SharedRendering {
  protected:
    std::vector<RayMeasure> measured(ViewMode mode, VoxelType type, const ValueAt& value) {
        grid_ = db_grid(depth, a_scans, b_scans, type);
        renderer().set_volume(grid_, voxels(grid_, value).data());
        view_ = voxel_view(grid_, a_scans, depth);
        set(view_, "low=3 high=40");
        view_.mode = mode;
        view_.attenuation = attenuation_;
        view_.mida_balance = balance_;
        return renderer().measure(view_);
    }

    // Expects `expected(z, a)` for the ray through the voxels (z, a, 0), (z, a, 1), ...
    template <class Expected, class Measured>
    void expect_each(const std::vector<RayMeasure>& rays, double tolerance, const Measured& found,
                     const Expected& expected) {
        for (std::int64_t z = 0; z < depth; ++z) {
            for (std::int64_t a = 0; a < a_scans; ++a) {
                const RayMeasure& ray = rays[index(z * a_scans + a)];
                EXPECT_NEAR(found(ray), expected(z, a), tolerance) << "depth " << z << " A-scan " << a;
            }
        }
    }

    VolumeGrid grid_;
    View view_;
    double attenuation_ = 6;
    double balance_ = 0;
};

constexpr std::array both_types{VoxelType::f32, VoxelType::u16};

TEST_F(Modes, MaximumMatchesProjectionAlongEachAxis) {
    using Indices = std::array<std::int64_t, 3>;
    struct Case {
        double azimuth_deg, elevation_deg;
        std::int64_t width, height, along;
        Indices (*voxel)(std::int64_t column, std::int64_t row, std::int64_t i);
    };
    const Case cases[] = {{0, 0, a_scans, depth, b_scans,
                           [](auto x, auto y, auto i) {
                               return Indices{y, x, i};
                           }},
                          {90, 0, b_scans, depth, a_scans,
                           [](auto x, auto y, auto i) {
                               return Indices{y, i, x};
                           }},
                          {0, 90, a_scans, b_scans, depth, [](auto x, auto y, auto i) {
                               return Indices{i, x, b_scans - 1 - y};
                           }}};
    for (const VoxelType type : both_types) {
        measured(ViewMode::mip, type, speckle);
        for (const Case& c : cases) {
            View view = voxel_view(grid_, c.width, c.height);
            view.mode = ViewMode::mip;
            view.azimuth_deg = c.azimuth_deg;
            view.elevation_deg = c.elevation_deg;
            const std::vector<RayMeasure> rays = renderer().measure(view);
            for (std::int64_t pixel = 0; pixel < c.width * c.height; ++pixel) {
                double most = -1;
                for (std::int64_t i = 0; i < c.along; ++i) {
                    const auto [z, a, b] = c.voxel(pixel % c.width, pixel / c.width, i);
                    most = std::max(most, speckle(z, a, b));
                }
                EXPECT_NEAR(rays[index(pixel)].value, most, 2e-3) << c.azimuth_deg << " pixel " << pixel;
            }
        }
    }
}

TEST_F(Modes, AverageAndMinimumMatchLoops) {
    for (const VoxelType type : both_types) {
        expect_each(measured(ViewMode::average, type, sparse), 2e-3, value_of, [](std::int64_t z, std::int64_t a) {
            double sum = 0;
            for (std::int64_t b = 0; b < b_scans; ++b) sum += sparse(z, a, b);
            return sum / b_scans;
        });
        expect_each(measured(ViewMode::minip, type, speckle), 2e-3, value_of, [](std::int64_t z, std::int64_t a) {
            double least = speckle(z, a, 0);
            for (std::int64_t b = 1; b < b_scans; ++b) least = std::min(least, speckle(z, a, b));
            return least;
        });
    }
}

TEST(RangeOfMeans, EndsBelowRangeOfVoxels) {
    VolumeGrid grid = db_grid(2, 2, 2);
    grid.quantity = grid.unit = "";
    View view;
    view.mode = ViewMode::composite;
    EXPECT_DOUBLE_EQ(transfer_function(view, grid, {10, 110}).range.high, 110);
    view.mode = ViewMode::average;
    EXPECT_DOUBLE_EQ(transfer_function(view, grid, {10, 110}).range.low, 10);
    EXPECT_DOUBLE_EQ(transfer_function(view, grid, {10, 110}).range.high, 50);
    view.high = 80;  // an explicit value is not changed
    EXPECT_DOUBLE_EQ(transfer_function(view, grid, {10, 110}).range.high, 80);
}

// Maximum of level times light, where light decreases exponentially with the levels passed.
TEST_F(Modes, AttenuatedMaximumWeightsValuesByLight) {
    for (const double attenuation : {6., 0.}) {
        attenuation_ = attenuation;
        for (const ValueAt& value : {ValueAt(speckle), ValueAt(sparse)}) {
            expect_each(measured(ViewMode::attenuated_mip, VoxelType::u16, value), 5e-3, value_of,
                        [&](std::int64_t z, std::int64_t a) {
                            double most = 0;
                            double passed = 0;  // sum of the levels of the voxels before this one
                            for (std::int64_t b = 0; b < b_scans; ++b) {
                                const double level = level_of(value(z, a, b));
                                const double light = std::exp(-attenuation_ / depth * (passed + 0.5 * level));
                                most = std::max(most, level * light);
                                passed += level;
                            }
                            return 3 + 37 * most;
                        });
        }
    }
}

struct Accumulated {
    double red = 0, opacity = 0;
};

// C_i = b C_{i-1} + (1 - b A_{i-1}) a c, and the same for A, with b = 1 - max(f_i - f_max, 0): the equations of the
// paper.
Accumulated accumulated(const TransferFunction& function, const ValueAt& value, std::int64_t z, std::int64_t a,
                        double yielding) {
    Accumulated sum;
    double brightest = 0;
    for (std::int64_t b = 0; b < b_scans; ++b) {
        const double level = level_of(value(z, a, b));
        const TransferNode node = function.at(level);
        const double opacity = 1 - std::exp(-node.extinction / function.length);
        const double kept = 1 - yielding * std::max(level - brightest, 0.0);
        brightest = std::max(brightest, level);
        sum.red = kept * sum.red + (1 - kept * sum.opacity) * opacity * node.red;
        sum.opacity = kept * sum.opacity + (1 - kept * sum.opacity) * opacity;
    }
    return sum;
}

TEST_F(Modes, MidaMatchesPublishedSum) {
    for (const double balance : {0.0, -0.5, -1.0}) {
        balance_ = balance;
        for (const ValueAt& value : {ValueAt(speckle), ValueAt(sparse)}) {
            const std::vector<RayMeasure> rays = measured(ViewMode::mida, VoxelType::f32, value);
            const TransferFunction function = transfer_function(view_, grid_, {});
            const auto opacity = [](const RayMeasure& ray) { return 1.0 - ray.transmittance; };
            expect_each(rays, 4e-3, opacity, [&](std::int64_t z, std::int64_t a) {
                return accumulated(function, value, z, a, 1 + balance).opacity;
            });
            view_.background = {0, 0, 0};
            const Image image = renderer().render(view_);
            for (std::int64_t i = 0; i < depth * a_scans; ++i) {
                const double red = 255 * accumulated(function, value, i / a_scans, i % a_scans, 1 + balance).red;
                EXPECT_NEAR(image.pixels[index(4 * i)], red, 2) << "pixel " << i;
            }
        }
    }
}

TEST_F(Modes, MidaRangesFromCompositeToMaximum) {
    const auto picture = [&](ViewMode mode, double balance) {
        balance_ = balance;
        measured(mode, VoxelType::f32, sparse);
        return renderer().render(view_);
    };
    const Image composite = picture(ViewMode::composite, 0), maximum = picture(ViewMode::mip, 0);
    EXPECT_LE(largest_difference(picture(ViewMode::mida, -1), composite), 2);  // the composite ends rays early
    EXPECT_LE(largest_difference(picture(ViewMode::mida, 1), maximum), 1);
    EXPECT_GT(largest_difference(picture(ViewMode::mida, 0), composite), 20);
    EXPECT_GT(largest_difference(picture(ViewMode::mida, 0), maximum), 20);
}

// sRGB of the ramp's formula, computed independently, for the centres of voxels at depths 0, 1/4, 1/2, 3/4, 1.
TEST_F(Modes, ColourEncodesDepthOfMaximum) {
    constexpr std::array<std::array<double, 3>, 5> ramp{{{208.4, 182.3, 79.9},
                                                         {248.4, 157.6, 110.9},
                                                         {248.2, 148.3, 180.0},
                                                         {210.7, 159.3, 240.8},
                                                         {144.1, 181.4, 255.0}}};
    const VolumeGrid grid = db_grid(401, 5, 5);
    const auto place = [](std::int64_t z, std::int64_t a, std::int64_t) { return z == 100 * a ? 40.0 : 0.0; };
    renderer().set_volume(grid, voxels(grid, place).data());
    View view = with(voxel_view(grid, 5, 5), "elevation_deg=90 low=3");
    view.mode = ViewMode::depth_mip;
    for (const double high : {40.0, 3 + 2 * 37.0}) {  // full brightness and half
        view.high = high;
        const Image image = renderer().render(view);
        for (std::size_t a = 0; a < 5; ++a) {
            for (std::size_t channel = 0; channel < 3; ++channel) {
                EXPECT_NEAR(image.pixels[4 * (2 * 5 + a) + channel], ramp[a][channel] * 37 / (high - 3), 1.5)
                    << "A-scan " << a << " channel " << channel;
            }
        }
    }
}

// NaN and infinite voxels, and live volumes without data, must not produce NaN.
TEST_F(Modes, SlowNoModeProducesNaN) {
    const auto holed = [](std::int64_t z, std::int64_t a, std::int64_t b) {
        return (z + a + b) % 7 == 0 ? NAN : (z + a + b) % 11 == 0 ? INFINITY : sparse(z, a, b);
    };
    for (const ViewMode mode : all_modes) {
        measured(mode, VoxelType::f32, holed);
        set(view_, "azimuth_deg=35 elevation_deg=25 lighting=true");
        for (const RayMeasure& ray : renderer().measure(view_)) {
            EXPECT_TRUE(std::isfinite(ray.value) && ray.value <= 44) << "mode " << static_cast<int>(mode);
            EXPECT_TRUE(ray.transmittance >= 0 && ray.transmittance <= 1) << "mode " << static_cast<int>(mode);
        }
    }
}

// Extinction of the preset for a constant volume, for each type of voxels, which round the value.
TEST_F(Modes, AbsorptionFollowsBeerLambert) {
    constexpr double value = 22;
    for (const VoxelType type : {VoxelType::f32, VoxelType::u16, VoxelType::u8}) {
        VolumeGrid grid = db_grid(40, 50, 60, type);
        grid.spacing_um = {2, 3, 4};
        renderer().set_volume(grid, voxels(grid, [](auto...) { return value; }).data());
        View view = with(sized_view(96, 80), "preset=tissue opacity=0.1");
        const double code = (value - grid.offset) / grid.scale;
        const double stored = (type == VoxelType::f32 ? code : std::round(code)) * grid.scale + grid.offset;
        const TransferFunction function = transfer_function(view, grid, {});
        const double level = (stored - function.range.low) / (function.range.high - function.range.low);
        const double extinction = view.opacity * function.at(level).extinction / 80;
        int compared = 0;
        for (const RayMeasure& ray : renderer().measure(view)) {
            const double expected = std::exp(-extinction * ray.path);
            if (expected < 0.01) continue;
            EXPECT_NEAR(ray.transmittance / expected, 1, 0.01) << "path " << ray.path;
            if (ray.path > 0) ++compared;
        }
        EXPECT_GT(compared, 1000);
    }
}

TEST_F(Modes, AbsorptionDoesNotDependOnStep) {
    const VolumeGrid grid = db_grid(48, 48, 48);
    renderer().set_volume(grid, voxels(grid, ball(grid, 24)).data());
    View view = with(sized_view(64, 64), "opacity=0.2 step=0.125");
    const std::vector<RayMeasure> fine = renderer().measure(view);
    double least = 1;
    for (const double step : {0.5, 1.0, 2.0}) {
        view.step = step;
        const std::vector<RayMeasure> coarse = renderer().measure(view);
        for (std::size_t i = 0; i < fine.size(); ++i) {
            EXPECT_NEAR(coarse[i].transmittance, fine[i].transmittance, 0.01) << "step " << step;
            least = std::min<double>(least, coarse[i].transmittance);
        }
    }
    EXPECT_LT(least, 0.5);  // the volume absorbed something
}

// A few bright voxels in an empty volume, seen at an angle: skipped runs of samples must be really empty.
TEST_F(Modes, MaximumSkipsNoVisibleVoxel) {
    const VolumeGrid grid = db_grid(61, 67, 71);
    const auto few = [](std::int64_t z, std::int64_t a, std::int64_t b) { return noise(z, a, b) < 0.002 ? 40.0 : 0.0; };
    renderer().set_volume(grid, voxels(grid, few).data());
    View view = with(voxel_view(grid, 101, 99), "mode=mip azimuth_deg=30");
    const auto at = [&](double z, double a, double b) {  // trilinear, clamped to the edge
        double sum = 0;
        for (int corner = 0; corner < 8; ++corner) {
            double weight = 1;
            const auto place = [&](double x, std::int64_t n, int bit) {
                const double low = std::floor(x - 0.5);
                const bool upper = ((corner >> bit) & 1) != 0;
                weight *= upper ? x - 0.5 - low : 1 - (x - 0.5 - low);
                return std::clamp<std::int64_t>(static_cast<std::int64_t>(low) + (upper ? 1 : 0), 0, n - 1);
            };
            const std::int64_t i = place(z, 61, 0), j = place(a, 67, 1), k = place(b, 71, 2);
            sum += weight * few(i, j, k);
        }
        return sum;
    };
    const double c = std::cos(std::acos(-1.0) / 6), s = 0.5;
    const std::vector<RayMeasure> rays = renderer().measure(view);
    // Vulkan allows hardware to filter with 8-bit weights; software Vulkan uses floats.
    const double tolerance = renderer().is_software() ? 0.01 : 40 * 3 / 512.0;
    int bright = 0;
    for (std::int64_t row = 20; row < 80; ++row) {
        for (std::int64_t column = 20; column < 80; ++column) {
            const double x = static_cast<double>(column) + 0.5 - 50.5;
            const double z = 30.5 + static_cast<double>(row) + 0.5 - 49.5;
            // The ray (A, B) = x (c, s) + t (-s, c) enters through the face that it crosses last.
            const double enter = std::max((x * c - 33.5) / s, (-35.5 - x * s) / c);
            const double leave = std::min((x * c + 33.5) / s, (35.5 - x * s) / c);
            if (z <= 0 || z >= 61 || leave <= enter) continue;
            const double count = std::ceil(leave - enter - 1e-3);
            double expected = 0;
            for (double i = 0.5; i < count; ++i) {
                const double t = enter + i * (leave - enter) / count;
                expected = std::max(expected, at(z, 33.5 + x * c - t * s, 35.5 + x * s + t * c));
            }
            EXPECT_NEAR(rays[index(row * 101 + column)].value, expected, tolerance)
                << "column " << column << " row " << row;
            if (expected > 10) ++bright;
        }
    }
    EXPECT_GT(bright, 100);
}

}  // namespace
}  // namespace echolux::test
