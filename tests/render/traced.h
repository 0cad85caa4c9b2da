// Shared by the tests of path tracing: white volumes under a uniform sky, and linear light of pixels.
#pragma once

#include <cmath>
#include <string>
#include <vector>

#include "rendering.h"
#include "tests/support/set_fields.h"

namespace echolux::test {

// Light of a pixel, and the share of the background that is hidden.
struct Pixel {
    double light = 0, opacity = 0;
};

class Traced : public Rendering {
  protected:
    static constexpr int stops = -3;  // so that nothing is clipped at white

    void SetUp() override {
        Rendering::SetUp();
        set(view_,
            "mode=traced projection=orthographic look=top box=false lighting=false transparent=true width=48 "
            "height=48 sky=1 lamp_brightness=0 bounces=0 tone=linear paths=16 denoise=false noise_target=0");
        view_.exposure_ev = stops;
        view_.spreads_pixels = false;  // so that pixels are independent
    }

    // White everywhere, with this extinction over `length`.
    void set_curve(std::vector<TransferNode> nodes, double length) {
        view_.transfer = "test";
        view_.transfer_curve = TransferCurve{std::move(nodes), "", true, length};
    }
    void set_white(double extinction, double length) {
        set_curve({{0, 1, 1, 1, extinction}, {1, 1, 1, 1, extinction}}, length);
    }

    void set_volume(const VolumeGrid& grid, const ValueAt& value) {
        set(view_, "low=0 high=40");
        renderer().set_volume(grid, voxels(grid, value).data());
    }

    // 64 um deep, and so wide that its sides are far away.
    void set_slab() {
        VolumeGrid grid = db_grid(64, 64, 64);
        grid.spacing_um = {1, 1000, 1000};
        set_volume(grid, [](auto...) { return 20; });
        view_.zoom = 20;
    }

    std::vector<Pixel> pixels() {
        std::vector<Pixel> found;
        const std::vector<std::uint16_t> codes = codes_of_16_bits(renderer(), view_);
        for (std::size_t i = 0; i < codes.size(); i += 4) {
            const double shown = codes[i + 1] / 65535.0, opacity = codes[i + 3] / 65535.0;
            const double straight = shown <= 0.04045 ? shown / 12.92 : std::pow((shown + 0.055) / 1.055, 2.4);
            found.push_back({straight * std::exp2(-view_.exposure_ev) * opacity, opacity});
        }
        return found;
    }

    // No lookup may exceed its majorant, and no path may be given up. Expects more than `min_looks` lookups.
    void expect_valid_majorants(double min_looks) {
        double looks = 0;
        for (const PathCounts& counts : renderer().count_paths(view_)) {
            EXPECT_EQ(counts.above_majorant, 0);
            EXPECT_EQ(counts.given_up, 0);
            looks += counts.looks;
        }
        EXPECT_GT(looks, min_looks);
    }

    // Compares the mean opacity with that of the ray caster. Each path sees either an object or the background.
    void expect_opacity_of_ray_casting() {
        view_.paths = 64;
        const std::vector<Pixel> traced = pixels();
        set(view_, "step=0.1 adaptive=false end_early=false samples=16");
        view_.mode = ViewMode::composite;
        const std::vector<Pixel> cast = pixels();
        double difference = 0, variance = 0;
        for (std::size_t i = 0; i < traced.size(); ++i) {
            difference += traced[i].opacity - cast[i].opacity;
            variance += cast[i].opacity * (1 - cast[i].opacity) / static_cast<double>(view_.paths);
        }
        EXPECT_NEAR(difference, 0, 4 * std::sqrt(variance) + 1e-3 * static_cast<double>(traced.size()));
    }

    // Objects that absorb no light look like the sky that lights them.
    void expect_light_of_sky(double tolerance, const std::string& what = "") {
        for (const Pixel& pixel : pixels()) ASSERT_NEAR(pixel.light, pixel.opacity, tolerance) << what;
    }

    struct Mean {
        double light = 0, opacity = 0, sigma = 0;  // sigma: standard error of the light
    };
    Mean mean() {
        const std::vector<Pixel> all = pixels();
        const auto count = static_cast<double>(all.size());
        Mean mean;
        double squares = 0;
        for (const Pixel& pixel : all) {
            mean.light += pixel.light / count;
            mean.opacity += pixel.opacity / count;
            squares += pixel.light * pixel.light / count;
        }
        mean.sigma = std::sqrt((squares - mean.light * mean.light) / count);
        return mean;
    }

    // A lamp at the eye and one behind the volume, each covering half of the sky.
    Mean mean_of_lamps_all_around() {
        set(view_, "sky=0 lamp_size_deg=90 lamp_brightness=1");
        const Mean before = mean();
        set(view_, "lamp=free lamp_azimuth_deg=180 lamp_elevation_deg=0");
        const Mean behind = mean();
        return {before.light + behind.light, before.opacity, std::hypot(before.sigma, behind.sigma)};
    }

    void expect_light(double expected, const std::string& of) {
        const Mean found = mean();
        EXPECT_NEAR(found.light, expected, 4 * found.sigma + 2e-5) << of;
        EXPECT_LT(found.sigma, 0.02 * std::max(expected, 0.05)) << of;
    }

    View view_;
};

}  // namespace echolux::test
