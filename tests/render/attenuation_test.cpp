// Light through scatterers follows the Beer-Lambert law for any step.
#include <cmath>

#include "render/transfer_function.h"
#include "rendering.h"

namespace echolux::test {
namespace {

constexpr double value = 22;

// Returns `value` as stored in the grid's voxel type.
double stored_value(const VolumeGrid& grid) {
    if (grid.type == VoxelType::f32) return value;
    return std::round((value - grid.offset) / grid.scale) * grid.scale + grid.offset;
}

// Extinction per length of the preset, for a volume of constant value.
double extinction_per_length(const View& view, const VolumeGrid& grid, double depth_extent) {
    const TransferFunction function = transfer_function(view, grid, {});
    const double level = (stored_value(grid) - function.range.low) / (function.range.high - function.range.low);
    return view.opacity * function.at(level).extinction / depth_extent;
}

class Attenuation : public Rendering {
  protected:
    void expect_beer_lambert(VoxelType type) {
        VolumeGrid grid = db_grid(40, 50, 60, type);
        grid.spacing_um = {2, 3, 4};
        renderer().set_volume(grid, voxels(grid, [](auto...) { return value; }).data());
        View view;
        view.width = 96;
        view.height = 80;
        view.preset = "tissue";
        view.opacity = 0.1;
        const double extinction = extinction_per_length(view, grid, 80);
        int compared = 0;
        for (const RayMeasure& ray : renderer().measure(view)) {
            const double expected = std::exp(-extinction * ray.path);
            if (expected < 0.01) continue;
            EXPECT_NEAR(ray.transmittance / expected, 1, 0.01) << "path " << ray.path;
            if (ray.path > 0) ++compared;
        }
        EXPECT_GT(compared, 1000);
    }
};

TEST_F(Attenuation, FollowsBeerLambertOnFloatVoxels) {
    expect_beer_lambert(VoxelType::f32);
}
TEST_F(Attenuation, FollowsBeerLambertOn16BitVoxels) {
    expect_beer_lambert(VoxelType::u16);
}
TEST_F(Attenuation, FollowsBeerLambertOn8BitVoxels) {
    expect_beer_lambert(VoxelType::u8);
}

TEST_F(Attenuation, PathIsLengthInsideVolume) {
    const VolumeGrid grid = db_grid(16, 20, 24);
    renderer().set_volume(grid, voxels(grid, [](auto...) { return value; }).data());
    for (const RayMeasure& ray : renderer().measure(voxel_view(grid, 20, 16))) EXPECT_NEAR(ray.path, 24, 1e-3);
}

TEST_F(Attenuation, DoesNotDependOnStep) {
    const VolumeGrid grid = db_grid(48, 48, 48);
    renderer().set_volume(grid, voxels(grid, ball(grid, 24)).data());
    View view;
    view.width = view.height = 64;
    view.opacity = 0.2;
    view.step = 0.125;
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

TEST_F(Attenuation, DoesNotDependOnVoxels) {
    View view;
    view.width = view.height = 48;
    view.opacity = 0.2;
    std::vector<std::vector<RayMeasure>> pictures;
    for (const std::int64_t edge : {24, 48}) {
        VolumeGrid grid = db_grid(edge, edge, edge);
        grid.spacing_um = {48.0 / static_cast<double>(edge), 48.0 / static_cast<double>(edge),
                           48.0 / static_cast<double>(edge)};
        renderer().set_volume(grid, voxels(grid, [](auto...) { return value; }).data());
        pictures.push_back(renderer().measure(view));
    }
    for (std::size_t i = 0; i < pictures[0].size(); ++i) {
        EXPECT_NEAR(pictures[0][i].transmittance, pictures[1][i].transmittance, 1e-4);
    }
}

}  // namespace
}  // namespace echolux::test
