// The automatic value range: percentiles. For dB, voxels of zero power are left out.
#include <gtest/gtest.h>

#include <vector>

#include "compute/plan/describe.h"
#include "render/slots/voxel_source.h"

namespace echolux {
namespace {

ValueRange range_of(const std::string& quantity) {
    std::vector<float> values(1000, -175);
    for (std::size_t i = 0; i < values.size(); i += 5) values[i] = 0.05f * static_cast<float>(i);
    VolumeGrid grid;
    grid.depth = 100;
    grid.a_scans = 10;
    grid.b_scans = 1;
    grid.type = VoxelType::f32;
    grid.quantity = quantity;
    return voxels_in_memory(grid, values.data())->range();
}

TEST(AutomaticRange, ExcludesDecibelsOfZero) {
    EXPECT_NEAR(range_of("db").low, 0.5, 0.3);
    EXPECT_NEAR(range_of("db").high, 49.7, 0.3);
    EXPECT_EQ(range_of("").low, -175);
}

}  // namespace
}  // namespace echolux
