// Path tracing of several volumes: scattering of their sum, furnace tests, opacity.
#include <cmath>

#include "channel_cases.h"
#include "traced.h"

namespace echolux::test {
namespace {

class TracedTogether : public Traced {};

// Adding-doubling results for a slab (LIGHT.md) at albedo 0.9 and optical depth 1. Two channels absorb together like a
// single one.
TEST_F(TracedTogether, TwoChannelsScatterLikeTheirSum) {
    set_slab();
    set_white(0.4, 64);
    view_.scattering = 0.9;
    VolumeGrid grid = db_grid(64, 64, 64);
    grid.spacing_um = {1, 1000, 1000};
    view_.channels[0] = even_channel(grid, even_curve(1, 1, 1, 0.6, 64));
    expect_light(0.26741 + 0.22375, "two channels of optical depth 0.4 and 0.6");
}

// Furnace test: white channels under a uniform sky return the sky for any values.
TEST_F(TracedTogether, SlowManyKindsConserveEnergyInFurnace) {
    const VolumeGrid grid = db_grid(24, 24, 24);
    set_volume(grid, speckle);
    set_curve({{0, 1, 1, 1, 0}, {0.5, 1, 1, 1, 0}, {1, 1, 1, 1, 8}}, 24);
    view_.scattering = 1;
    view_.channels[0] = volume_channel(grid, other_speckle, "of the test");
    view_.channels[0].own_curve = TransferCurve{{{0, 1, 1, 1, 5}, {1, 1, 1, 1, 0}}, "", true, 24};
    view_.channels[1] =
        label_channel(grid, [](std::int64_t z, std::int64_t a, std::int64_t) { return z > 12 && a > 9 ? 5.0 : 0.0; },
                      {{5, "white", {1, 1, 1}, 6}});
    view_.channels[2] = volume_channel(grid, ball(grid, 10), "of the test");
    view_.channels[2].own_curve = TransferCurve{{{0, 1, 1, 1, 0}, {1, 1, 1, 1, 9}}, "", true, 24};
    view_.channels[2].blend = ChannelBlend::over;
    for (const bool lighting : {false, true}) {
        view_.lighting = lighting;
        for (const Pixel& pixel : pixels()) ASSERT_NEAR(pixel.light, pixel.opacity, 3e-4);
        expect_valid_majorants(0);
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
    view_.channels[1] = volume_channel(grid, other_speckle, "gray");
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
