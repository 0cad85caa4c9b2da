// Path tracing of several volumes: scattering of their sum, furnace tests, opacity.
#include <cmath>

#include "channel_cases.h"
#include "traced.h"

namespace echolux::test {
namespace {

class TracedTogether : public Traced {
  protected:
    Channel channel_like_volume(const TransferCurve& curve) {
        Channel channel;
        VolumeGrid grid = db_grid(64, 64, 64);
        grid.spacing_um = {1, 1000, 1000};
        channel.volume = channel_voxels(grid, [](auto...) { return 20.0; });
        channel.own_curve = curve;
        channel.curve = "of the test";
        channel.low = 0;
        channel.high = 40;
        return channel;
    }
};

// Adding-doubling results for a slab (LIGHT.md) at albedo 0.9 and optical depth 1. Two channels absorb together like a
// single one.
TEST_F(TracedTogether, TwoChannelsScatterLikeTheirSum) {
    set_slab();
    set_white(0.4, 64);
    view_.scattering = 0.9;
    view_.channels[0] = channel_like_volume(even_curve(1, 1, 1, 0.6, 64));
    expect_light(0.26741 + 0.22375, "two channels of optical depth 0.4 and 0.6");
}

// Furnace test: white channels under a uniform sky return the sky for any values.
TEST_F(TracedTogether, SlowManyKindsConserveEnergyInFurnace) {
    const VolumeGrid grid = db_grid(24, 24, 24);
    set_volume(grid, speckle);
    set_curve({{0, 1, 1, 1, 0}, {0.5, 1, 1, 1, 0}, {1, 1, 1, 1, 8}}, 24);
    view_.scattering = 1;
    view_.channels[0].volume = channel_voxels(grid, other_speckle);
    view_.channels[0].own_curve = TransferCurve{{{0, 1, 1, 1, 5}, {1, 1, 1, 1, 0}}, "", true, 24};
    view_.channels[0].curve = "of the test";
    view_.channels[0].low = 0;
    view_.channels[0].high = 40;
    view_.channels[1] =
        label_channel(grid, [](std::int64_t z, std::int64_t a, std::int64_t) { return z > 12 && a > 9 ? 5.0 : 0.0; },
                      {{5, "white", {1, 1, 1}, 6}});
    view_.channels[2].volume = channel_voxels(grid, ball(grid, 10));
    view_.channels[2].own_curve = TransferCurve{{{0, 1, 1, 1, 0}, {1, 1, 1, 1, 9}}, "", true, 24};
    view_.channels[2].curve = "of the test";
    view_.channels[2].low = 0;
    view_.channels[2].high = 40;
    view_.channels[2].blend = ChannelBlend::over;
    for (const bool lighting : {false, true}) {
        view_.lighting = lighting;
        for (const Pixel& pixel : pixels()) ASSERT_NEAR(pixel.light, pixel.opacity, 3e-4);
        double above = 0, given_up = 0;
        for (const PathCounts& counts : renderer().count_paths(view_)) {
            above += counts.above_majorant;
            given_up += counts.given_up;
        }
        EXPECT_EQ(above, 0);
        EXPECT_EQ(given_up, 0);
    }
}

// Path tracing and ray casting give the same opacity.
TEST_F(TracedTogether, SlowHasOpacityOfRayCasting) {
    const VolumeGrid grid = db_grid(24, 24, 24);
    set_volume(grid, speckle);
    view_.preset = "gray";
    view_.channels[0] =
        label_channel(grid, [](std::int64_t z, std::int64_t, std::int64_t b) { return z > 12 && b > 9 ? 5.0 : 0.0; },
                      {{5, "there", {1, 0.5, 0}, 3}});
    view_.channels[1].volume = channel_voxels(grid, other_speckle);
    view_.channels[1].curve = "gray";
    view_.channels[1].low = 0;
    view_.channels[1].high = 40;
    view_.channels[1].opacity = 0.02;
    view_.opacity = 0.02;
    view_.zoom = 2.5;  // no edges in the picture, where a ray covers a whole pixel
    view_.paths = 64;
    const Mean traced = mean();
    view_.mode = ViewMode::composite;
    view_.step = 0.25;
    view_.adaptive = view_.end_early = false;
    const Mean cast = mean();
    const double sigma = std::sqrt(cast.opacity * (1 - cast.opacity) / (48.0 * 48.0 * 64.0));
    EXPECT_NEAR(traced.opacity, cast.opacity, 4 * sigma + 2e-4);
    EXPECT_GT(cast.opacity, 0.2);
}

}  // namespace
}  // namespace echolux::test
