// Modes that return a single value or accumulate, compared with double-precision loops over the voxels of each ray. The
// picture has one pixel per column of voxels, so that samples coincide with voxels.
#include <algorithm>
#include <cmath>

#include "compute/indexing.h"
#include "compute/plan/describe.h"
#include "render/transfer_function.h"
#include "rendering.h"

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

class Modes : public Rendering {
  protected:
    std::vector<RayMeasure> measured(ViewMode mode, VoxelType type, const ValueAt& value) {
        grid_ = db_grid(depth, a_scans, b_scans, type);
        renderer().set_volume(grid_, voxels(grid_, value).data());
        view_ = voxel_view(grid_, a_scans, depth);
        view_.mode = mode;
        view_.low = 3;
        view_.high = 40;
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

double value_of(const RayMeasure& ray) {
    return ray.value;
}

TEST_F(Modes, AverageMatchesMean) {
    for (const VoxelType type : both_types) {
        expect_each(measured(ViewMode::average, type, sparse), 2e-3, value_of, [](std::int64_t z, std::int64_t a) {
            double sum = 0;
            for (std::int64_t b = 0; b < b_scans; ++b) sum += sparse(z, a, b);
            return sum / b_scans;
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

TEST_F(Modes, MinimumIsSmallestValue) {
    for (const VoxelType type : both_types) {
        expect_each(measured(ViewMode::minip, type, speckle), 2e-3, value_of, [](std::int64_t z, std::int64_t a) {
            double least = speckle(z, a, 0);
            for (std::int64_t b = 1; b < b_scans; ++b) least = std::min(least, speckle(z, a, b));
            return least;
        });
    }
}

double level_of(double value) {
    return std::clamp((value - 3) / 37, 0.0, 1.0);
}

// Maximum of level times light, where light decreases exponentially with the levels passed.
TEST_F(Modes, AttenuatedMaximumWeightsValuesByLight) {
    for (const ValueAt& value : {ValueAt(speckle), ValueAt(sparse)}) {
        for (const VoxelType type : both_types) {
            expect_each(measured(ViewMode::attenuated_mip, type, value), 5e-3, value_of,
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

TEST_F(Modes, AttenuatedMaximumWithoutAttenuationEqualsMaximum) {
    attenuation_ = 0;
    expect_each(measured(ViewMode::attenuated_mip, VoxelType::f32, speckle), 2e-3, value_of,
                [](std::int64_t z, std::int64_t a) {
                    double most = 3;
                    for (std::int64_t b = 0; b < b_scans; ++b) most = std::max(most, speckle(z, a, b));
                    return std::min(most, 40.0);
                });
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
        return renderer().render(view_).pixels;
    };
    const auto difference = [](const auto& one, const auto& other) {
        int most = 0;
        for (std::size_t i = 0; i < one.size(); ++i) most = std::max(most, std::abs(one[i] - other[i]));
        return most;
    };
    const auto composite = picture(ViewMode::composite, 0);
    const auto maximum = picture(ViewMode::mip, 0);
    EXPECT_LE(difference(picture(ViewMode::mida, -1), composite), 2);  // the composite ends rays early
    EXPECT_LE(difference(picture(ViewMode::mida, 1), maximum), 1);
    EXPECT_GT(difference(picture(ViewMode::mida, 0), composite), 20);
    EXPECT_GT(difference(picture(ViewMode::mida, 0), maximum), 20);
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
    View view = voxel_view(grid, 5, 5);
    view.mode = ViewMode::depth_mip;
    view.elevation_deg = 90;
    view.low = 3;
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
        view_.azimuth_deg = 35;
        view_.elevation_deg = 25;
        view_.lighting = true;
        for (const RayMeasure& ray : renderer().measure(view_)) {
            EXPECT_TRUE(std::isfinite(ray.value)) << "mode " << static_cast<int>(mode);
            EXPECT_GE(ray.transmittance, 0) << "mode " << static_cast<int>(mode);
            EXPECT_LE(ray.transmittance, 1) << "mode " << static_cast<int>(mode);
        }
    }
}

// Skipping must not change a single bit of the picture.
TEST_F(Modes, SlowSkippingChangesNoPixel) {
    const auto islands = [](std::int64_t z, std::int64_t a, std::int64_t b) {
        return std::hypot(z % 24 - 12, a % 22 - 11, b % 26 - 13) < 6 ? speckle(z, a, b) : noise(a, b, z);
    };
    const VolumeGrid grid = db_grid(60, 64, 68);
    renderer().set_volume(grid, voxels(grid, islands).data());
    View view;
    view.width = 150;
    view.height = 110;
    view.low = 3;
    view.high = 40;
    view.adaptive = false;
    for (const ViewMode mode : all_modes) {
        view.mode = mode;
        view.skip_empty = true;
        const std::vector<RayMeasure> skipped = renderer().measure(view);
        const Image picture = renderer().render(view);
        view.skip_empty = false;
        const std::vector<RayMeasure> all = renderer().measure(view);
        EXPECT_EQ(renderer().render(view).pixels, picture.pixels) << "mode " << static_cast<int>(mode);
        for (std::size_t i = 0; i < all.size(); ++i) {
            EXPECT_EQ(all[i].value, skipped[i].value) << "mode " << static_cast<int>(mode);
            EXPECT_EQ(all[i].transmittance, skipped[i].transmittance) << "mode " << static_cast<int>(mode);
            EXPECT_EQ(all[i].distance, skipped[i].distance) << "mode " << static_cast<int>(mode);
        }
    }
}

// A transparent picture over a background equals the picture with that background.
TEST_F(Modes, AlphaMatchesBackground) {
    for (const ViewMode mode : all_modes) {
        measured(mode, VoxelType::f32, sparse);
        view_.azimuth_deg = 35;
        view_.elevation_deg = 25;
        view_.background = {0.2, 0.4, 0.6};
        const Image opaque = renderer().render(view_);
        view_.transparent = true;
        const Image clear = renderer().render(view_);
        int seen = 0;
        for (std::size_t i = 0; i < opaque.pixels.size(); i += 4) {
            const double alpha = clear.pixels[i + 3] / 255.0;
            if (alpha > 0.02) ++seen;
            for (std::size_t c = 0; c < 3; ++c) {
                const double over = alpha * clear.pixels[i + c] + (1 - alpha) * 255 * view_.background[c];
                EXPECT_NEAR(over, opaque.pixels[i + c], 2) << "mode " << static_cast<int>(mode);
            }
        }
        EXPECT_GT(seen, 20) << "mode " << static_cast<int>(mode);
    }
}

}  // namespace
}  // namespace echolux::test
