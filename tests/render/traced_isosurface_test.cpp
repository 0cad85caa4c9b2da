// Path-traced isosurfaces: compared with furnace tests, with the ray caster's isosurface, with the absorption of haze
// in front, and with the visible part of the sky at the foot of a wall.
#include <algorithm>
#include <cmath>
#include <numbers>

#include "compute/indexing.h"
#include "tests/support/set_fields.h"
#include "traced.h"
#include "two_axes.h"

namespace echolux::test {
namespace {

class TracedIsosurface : public Traced {
  protected:
    static constexpr std::int64_t edge = 64;

    void SetUp() override {
        Traced::SetUp();
        set(view_, "isosurface=true isovalue=20 opacity=0 scattering=1 sky=1");
    }

    // With a surface at half the radius.
    void set_ball(double radius) {
        const VolumeGrid grid = db_grid(40, 44, 48);
        set_volume(grid, ball(grid, radius));
        view_.look = Look::free;
        set_curve({{0, 1, 1, 1, 0}, {.2, 1, 1, 1, 0}, {.3, 1, 1, 1, 6}, {1, 1, 1, 1, 6}}, 0);
    }

    void expect_furnace(const std::string& what) {
        double seen = 0;
        for (const Pixel& pixel : pixels()) {
            ASSERT_NEAR(pixel.light, pixel.opacity, 4e-4) << what;
            seen += pixel.opacity;
        }
        EXPECT_GT(seen, 0.05 * 48 * 48) << what;
    }
};

TEST_F(TracedIsosurface, ConservesEnergyInFurnace) {
    set_ball(36);
    for (const double roughness : {.2, 1.}) {
        view_.roughness = roughness;
        expect_furnace("alone");
    }
    view_.opacity = 1;
    expect_furnace("in haze");
    set(view_, "lighting=true lighting_strength=1");
    expect_furnace("in haze with surfaces");
    set(view_, "clip_high=0.6,1,0.4 clip_planes=0,1,1,3");
    expect_furnace("cut open");
    view_.isovalue = -100;  // the whole volume is solid
    expect_furnace("all of it");
}

TEST_F(TracedIsosurface, CoincidesWithRayCasting) {
    set_ball(36);
    set(view_, "clip_high=1,1,0.6 paths=64");
    const std::vector<Pixel> traced = pixels();
    set(view_, "mode=isosurface samples=64 step=0.25");
    const std::vector<Pixel> cast = pixels();
    double difference = 0, hidden = 0;
    for (std::size_t i = 0; i < traced.size(); ++i) {
        EXPECT_NEAR(traced[i].opacity, cast[i].opacity, 0.2) << i;
        difference += traced[i].opacity - cast[i].opacity;
        hidden += cast[i].opacity;
    }
    EXPECT_NEAR(difference / hidden, 0, 2e-3);
}

// Light of a headlight passes twice through a black haze of known depth, except for the half voxel by which it starts
// off the surface.
TEST_F(TracedIsosurface, SlowIsDarkenedByHazeInFront) {
    VolumeGrid grid = db_grid(edge, edge, edge);
    grid.spacing_um = {1, 1000, 1000};
    set_volume(grid, [](std::int64_t z, auto...) { return z < 32 ? 10 : 30; });
    set_curve({{0, 0, 0, 0, 1}, {.6, 0, 0, 0, 1}, {.7, 1, 1, 1, 1}, {1, 1, 1, 1, 1}}, 64);
    set(view_, "zoom=20 sky=0 bounces=1 lamp_brightness=1 lamp_size_deg=0 paths=64");
    const double bare = mean().light;
    EXPECT_NEAR(bare, 1, 0.15);  // a white surface facing a lamp of brightness 1
    for (const double depth : {.25, 1., 2.}) {
        view_.opacity = 2 * depth;  // for 32 um
        const Mean found = mean();
        const double expected = bare * std::exp(-depth * (2 - 0.5 / 32));
        EXPECT_NEAR(found.light, expected, 4 * found.sigma) << depth;
        EXPECT_LT(found.sigma, 0.02 * expected + 1e-4) << depth;
    }
}

// For a floor next to a wall as long as the volume, the part of the sky's light that the wall blocks is the form factor
// of a perpendicular rectangle (two of J. Howell's catalogue, B-3, side by side).
TEST_F(TracedIsosurface, SlowSeesLessSkyAtFootOfWall) {
    constexpr double height = 48, half_length = 32;
    const VolumeGrid grid = db_grid(edge, edge, edge);
    set_volume(grid, [](std::int64_t z, std::int64_t a, std::int64_t) { return z >= 48 || a < 32 ? 40 : 0; });
    set_curve({{0, 1, 1, 1, 0}, {1, 1, 1, 1, 0}}, 0);
    view_.width = view_.height = edge;
    view_.zoom = std::numbers::sqrt3;  // one voxel per pixel
    set(view_, "roughness=1 bounces=1 paths=128");
    const std::vector<Pixel> found = pixels();
    for (std::int64_t column = 36; column < 60; column += 3) {
        double light = 0;
        constexpr std::int64_t rows = 8;
        for (std::int64_t row = 32 - rows / 2; row < 32 + rows / 2; ++row)
            light += found[index(row * edge + column)].light / rows;
        const double beside = static_cast<double>(column) + 0.5 - 32;
        const double to_top = std::hypot(beside, height);
        const double held_back =
            (std::atan(half_length / beside) - beside / to_top * std::atan(half_length / to_top)) / std::numbers::pi;
        EXPECT_NEAR(light, 1 - held_back, 0.02) << beside;
    }
}

TEST_F(TracedIsosurface, ExtinctionStaysBelowMajorant) {
    set_ball(36);
    view_.opacity = 3;
    expect_valid_majorants(100);
}

TEST_F(TracedIsosurface, MotionShowsIsosurface) {
    set_ball(36);
    set(view_, "transparent=false frame_ms=1000 paths=2");
    double now_s = 10;
    PanePicture shown;
    for (int i = 0; i < 8; ++i) {  // the first may be slow on a busy machine, which makes the next one coarse
        view_.azimuth_deg += 1;
        shown = renderer().follow(view_, now_s += .01);
        renderer().wait(shown.drawing);
    }
    View cast = view_;
    cast.mode = ViewMode::isosurface;
    EXPECT_EQ(renderer().read(shown.drawing).pixels, renderer().render(cast).pixels);
}

// ---- transfer functions over two axes -------------------------------------------------------------------------------

class TracedPlane : public Traced {
  protected:
    void SetUp() override {
        Traced::SetUp();
        const VolumeGrid grid = db_grid(30, 41, 37, VoxelType::u8);
        set_volume(grid, speckle_in_boxes);
        set(view_, "look=free zoom=1.6");
        TransferWidget white = box({12, 25}, {3, 12}, 60, 0.5);
        white.colour = {1, 1, 1};
        TransferCurve curve = dark({SecondAxis::gradient, 0, 20, {white}});
        for (TransferNode& node : curve.nodes) node = {node.value, 1, 1, 1, node.value > 0 ? 4. : 0.};
        view_.transfer = "test";
        view_.transfer_curve = curve;
    }
};

TEST_F(TracedPlane, SlowWhiteCurveConservesEnergy) {
    view_.scattering = 1;
    const Mean found = mean();
    EXPECT_GT(found.opacity, 0.2);
    EXPECT_NEAR(found.light, found.opacity, 1e-4);
}

TEST_F(TracedPlane, ExtinctionStaysBelowMajorant) {
    expect_valid_majorants(100);
}

TEST_F(TracedPlane, SlowHasOpacityOfRayCasting) {
    expect_opacity_of_ray_casting();
}

TEST_F(TracedPlane, SlowSurfacesOfAnyRoughnessConserveLight) {
    set(view_, "scattering=1 lighting=true");
    TransferCurve& curve = *view_.transfer_curve;
    curve.nodes.front().roughness = 0.05;
    curve.nodes.back().roughness = 1;
    const Mean found = mean();
    EXPECT_NEAR(found.light, found.opacity, 1e-4);
}

// A curve with constant roughness equals the view's roughness, except for the rounding of its table.
TEST_F(TracedPlane, SlowConstantRoughnessEqualsThatOfView) {
    set(view_, "lighting=true sky=0.2 lamp_brightness=2 paths=32 roughness=0.3");
    const Mean plain = mean();
    for (TransferNode& node : view_.transfer_curve->nodes) node.roughness = 0.3;
    view_.roughness = 1;
    const Mean curve = mean();
    EXPECT_NEAR(curve.light, plain.light, 2e-3 * plain.light);
    for (TransferNode& node : view_.transfer_curve->nodes)
        node.roughness = 0.05;  // the means for 1 and 0.5 are too similar to tell them apart
    EXPECT_GT(std::abs(mean().light - plain.light), 3e-3 * plain.light);
}

}  // namespace
}  // namespace echolux::test
