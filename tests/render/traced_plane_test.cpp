// Transfer functions over two axes, and roughness by value, in path tracing.
#include <cmath>

#include "traced.h"
#include "two_axes.h"

namespace echolux::test {
namespace {

class TracedPlane : public Traced {
  protected:
    void SetUp() override {
        Traced::SetUp();
        const VolumeGrid grid = db_grid(30, 41, 37, VoxelType::u8);
        set_volume(grid, speckle_in_boxes);
        view_.look = Look::free;
        view_.zoom = 1.6;
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
    view_.scattering = 1;
    view_.lighting = true;
    TransferCurve& curve = *view_.transfer_curve;
    curve.nodes.front().roughness = 0.05;
    curve.nodes.back().roughness = 1;
    const Mean found = mean();
    EXPECT_NEAR(found.light, found.opacity, 1e-4);
}

// A curve with constant roughness equals the view's roughness, except for the rounding of its table.
TEST_F(TracedPlane, SlowConstantRoughnessEqualsThatOfView) {
    view_.lighting = true;
    view_.sky = 0.2;
    view_.lamp_brightness = 2;
    view_.paths = 32;
    view_.roughness = 0.3;
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
