// Several volumes in one picture: closed forms of their joint absorption, boundaries of labels, order, skipping, and
// equality of a single channel with its own picture.
#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "channel_cases.h"
#include "render/annotations/annotations.h"
#include "tests/support/set_fields.h"
#include "traced.h"

namespace echolux::test {
namespace {

class Together : public SharedRendering {
  protected:
    static constexpr std::int64_t edge = 32;

    void SetUp() override {
        grid_ = db_grid(edge, edge, edge);
        view_ = voxel_view(grid_, edge, edge);
        set(view_, "background=0,0,0 low=0 high=40 step=0.5");
    }

    void set_volume(const ValueAt& value) { renderer().set_volume(grid_, voxels(grid_, value).data()); }

    void set_curve(const TransferCurve& curve) {
        view_.transfer = "test";
        view_.transfer_curve = curve;
    }

    std::vector<float> picture_16() {
        std::vector<float> found;
        for (const std::uint16_t code : codes_of_16_bits(renderer(), view_)) found.push_back(code / 65535.0F);
        return found;
    }

    VolumeGrid grid_;
    View view_;
};

// C = sum of e c / sum of e, alpha = 1 - exp(-sum of e), over the depth of a volume one voxel deep, seen from the
// front. A channel that covers another replaces it: nothing of the other is left where the channel is densest.
TEST_F(Together, EvenVolumesAddExtinctionsOrReplaceEachOther) {
    set_volume([](auto...) { return 20.0; });
    set_curve(even_curve(0.9, 0.2, 0.1, 0.7));
    view_.channels[0] = even_channel(grid_, even_curve(0.1, 0.3, 0.8, 1.1));
    view_.transparent = true;
    const std::size_t middle = 4 * (edge / 2 * edge + edge / 2);
    std::vector<float> found = picture_16();
    EXPECT_NEAR(found[middle + 3], 1 - std::exp(-1.8), 2e-4);
    const std::array<double, 3> first{0.9, 0.2, 0.1}, second{0.1, 0.3, 0.8};
    for (std::size_t i = 0; i < 3; ++i) {
        const double expected = (0.7 * first[i] + 1.1 * second[i]) / 1.8;
        EXPECT_NEAR(found[middle + i], expected, 3e-3) << i;  // colour tables have 8 bits
    }
    view_.channels[0].blend = ChannelBlend::over;
    found = picture_16();
    EXPECT_NEAR(found[middle + 3], 1 - std::exp(-1.1), 2e-4);
    EXPECT_NEAR(found[middle + 2], 0.8, 3e-3);
    view_.channels[0].opacity = 0.5;  // half of the volume and half of the channel remain
    found = picture_16();
    EXPECT_NEAR(found[middle + 3], 1 - std::exp(-0.5 * 0.7 - 0.5 * 1.1), 2e-4);
}

TEST_F(Together, OrderDoesNotMatterForSums) {
    set_volume(speckle);
    Channel other = volume_channel(grid_, other_speckle, "angiogram"),
            third = volume_channel(grid_, ball(grid_, 12), "gray");
    other.colour_map = "magma";
    third.colour_map = "viridis";
    for (const ViewMode mode : {ViewMode::composite, ViewMode::mip}) {
        view_.mode = mode;
        view_.channels = {other, third, {}};
        const Image one = renderer().render(view_);
        view_.channels = {third, {}, other};
        EXPECT_LE(largest_difference(renderer().render(view_), one), 1) << static_cast<int>(mode);
    }
}

// With the volume hidden, a single channel has the same bits as its file opened as the volume.
TEST_F(Together, SlowSingleChannelEqualsItsVolumeInEveryMode) {
    set(view_, "ambient_occlusion=0.5 lighting=true");
    for (const ViewMode mode : all_modes) {
        view_.mode = mode;
        set_volume(other_speckle);
        View plain = with(view_, "preset=gray opacity=0.7");
        const Image alone = renderer().render(plain);
        set_volume(speckle);
        View shown = view_;
        shown.channel_1_shown = false;
        shown.channels[1] = volume_channel(grid_, other_speckle, "gray");
        shown.channels[1].opacity = 0.7;
        EXPECT_EQ(renderer().render(shown).pixels, alone.pixels) << static_cast<int>(mode);
    }
}

// Same with an invisible volume that is sampled together with the channel: shading uses the channel's own gradients.
TEST_F(Together, ChannelBesideEmptyVolumeEqualsItsVolume) {
    view_.lighting = true;
    set_volume(other_speckle);
    const Image alone = renderer().render(view_);
    set_volume([](auto...) { return 0.0; });
    view_.channels[0] = volume_channel(grid_, other_speckle, "automatic");
    EXPECT_LE(largest_difference(renderer().render(view_), alone), 1);
}

TEST_F(Together, HiddenChannelIsNotDrawn) {
    set_volume(speckle);
    const Image plain = renderer().render(view_);
    view_.channels[0] = even_channel(grid_, even_curve(1, 1, 1, 5));
    EXPECT_NE(renderer().render(view_).pixels, plain.pixels);
    view_.channels[0].shown = false;
    EXPECT_EQ(renderer().render(view_).pixels, plain.pixels);
}

// The boundary of a ball of labels in a section is a circle: to 0.35 of a voxel by SciPy, and to one pixel more here.
// Nearest-neighbour sampling would give a staircase of 0.61.
TEST_F(Together, BallOfLabelsHasRoundEdge) {
    constexpr std::int64_t size = 48;
    constexpr double radius = 17.3;
    const VolumeGrid grid = db_grid(size, size, size);
    renderer().set_volume(grid, voxels(grid, [](auto...) { return 0.0; }).data());
    constexpr std::int64_t per_voxel = 12;
    view_ = voxel_view(grid, size * per_voxel, size * per_voxel);
    set(view_, "background=0,0,0 low=0 high=40 show=slice zoom=1");
    view_.channels[0] =
        label_channel(grid,
                      [](std::int64_t z, std::int64_t a, std::int64_t b) {
                          const auto off = [](std::int64_t i) { return static_cast<double>(i) - 0.5 * (size - 1); };
                          return std::hypot(off(z), off(a), off(b)) < radius ? 7.0 : 0.0;
                      },
                      {{7, "ball", {1, 1, 1}, 120}});
    const Image image = renderer().render(view_);
    // From the centre outwards along rays, where the level crosses one half.
    double worst = 0, sum = 0;
    constexpr int rays = 180;
    const double middle = 0.5 * static_cast<double>(image.width);
    for (int i = 0; i < rays; ++i) {
        const double angle = 2 * std::numbers::pi * (i + 0.37) / rays;
        double rim = 0;
        for (double r = 1; r < middle - 1; r += 0.25) {
            const auto x = static_cast<std::int64_t>(middle + r * std::cos(angle));
            const auto y = static_cast<std::int64_t>(middle + r * std::sin(angle));
            if (image.pixels[index(4 * (y * image.width + x))] < 128) break;
            rim = r;
        }
        worst = std::max(worst, std::abs(rim / per_voxel - radius));
        sum += rim / per_voxel - radius;
    }
    EXPECT_LT(worst, 0.44);
    EXPECT_NEAR(sum / rays, 0, 0.1);
}

// Label numbers are never interpolated: there is no 2 between labels 1 and 3.
TEST_F(Together, DoesNotInterpolateLabels) {
    set_volume([](auto...) { return 0.0; });
    view_.channels[0] =
        label_channel(grid_, [](std::int64_t, std::int64_t a, std::int64_t) { return a < edge / 2 ? 1.0 : 3.0; },
                      {{1, "one", {1, 0, 0}, 100}, {2, "two", {0, 1, 0}, 10000}, {3, "three", {0, 0, 1}, 100}});
    for (const bool is_section : {false, true}) {
        view_.show = is_section ? ViewContent::slice : ViewContent::volume;
        const Image image = renderer().render(view_);
        for (std::size_t i = 0; i < image.pixels.size(); i += 4) {
            EXPECT_LE(image.pixels[i + 1], 1);
            EXPECT_NEAR(image.pixels[i] + image.pixels[i + 2], 255, 3);
        }
    }
}

TEST_F(Together, LegendNamesLabels) {
    View view = voxel_view(grid_, 200, 200);
    view.colour_bar = true;
    view.channels[0] = label_channel(grid_, [](auto...) { return 1.0; }, {{1, "RNFL", {1, 0, 0}, 100}});
    const Sheet sheet =
        annotations_of(view, grid_, transfer_function(view, grid_, {0, 40}), {}, {{&view.channels[0], "", {}}});
    EXPECT_TRUE(std::ranges::any_of(sheet.labels(), [](const auto& label) { return label.text == "RNFL"; }));
    EXPECT_TRUE(std::ranges::any_of(sheet.labels(), [](const auto& label) { return label.text == "labels"; }));
}

TEST_F(Together, RejectsOtherSizesByName) {
    set_volume(speckle);
    view_.channels[1] = even_channel(db_grid(edge, edge, edge - 1), even_curve(1, 1, 1, 1));
    view_.channels[1].file = "octa.nrrd";
    const std::string line = refusal_of([&] { check_channels(view_, grid_, "volume.nrrd"); }).line();
    for (const char* part : {"octa.nrrd", "view.channel_3_file", "32 x 32 x 31", "32 x 32 x 32", "volume.nrrd"})
        EXPECT_NE(line.find(part), std::string::npos) << line << " | " << part;
    EXPECT_NE(refusal_of([&] { renderer().render(view_); }).line().find("octa.nrrd"), std::string::npos);
    view_.channels[1] = label_channel(grid_, [](auto...) { return 1.0; }, {});
    view_.channels[1].volume = channel_voxels(
        grid_, [](auto...) { return 1.5; }, "l.nrrd");
    EXPECT_NE(refusal_of([&] { renderer().render(view_); }).line().find("which is not a label"), std::string::npos);
}

// ---- path tracing ---------------------------------------------------------------------------------------------------

class TracedTogether : public Traced {};

// Adding-doubling results for a slab, the ones of traced_test.cpp, at albedo 0.9 and optical depth 1. Two channels
// absorb together like a single one.
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
    set(view_, "step=0.25 adaptive=false end_early=false");
    view_.mode = ViewMode::composite;
    const Mean cast = mean();
    const double sigma = std::sqrt(cast.opacity * (1 - cast.opacity) / (48.0 * 48.0 * 64.0));
    EXPECT_NEAR(traced.opacity, cast.opacity, 4 * sigma + 2e-4);
    EXPECT_GT(cast.opacity, 0.2);
}

}  // namespace
}  // namespace echolux::test
