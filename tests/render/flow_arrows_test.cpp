// Arrows along vessels have the given positions and directions.
#include <gmock/gmock.h>

#include "compute/error.h"
#include "render/annotations/annotations.h"
#include "rendering.h"

namespace echolux::test {
namespace {

Sheet arrows_of(const std::vector<double>& arrows) {
    View view = voxel_view(db_grid(64, 64, 64), 200, 200);
    view.flow_arrows = arrows;
    const VolumeGrid grid = db_grid(64, 64, 64);
    return annotations_of(view, grid, transfer_function(view, grid, {0, 40}));
}

TEST(FlowArrows, AreDrawnAtTheirPositions) {
    const Sheet away = arrows_of({10, 5, 0, 20, 45, 0});  // away from zero delay
    const shared::Shape& head = away.shapes().back();
    // One pixel per voxel; the centre of the first voxel is half a voxel inside.
    EXPECT_NEAR(head.at.x, 100 - 32 + 45.5, 1e-3);
    EXPECT_NEAR(head.at.y, 100 - 32 + 20.5, 1e-3);
    // The head opens backwards: its other corners are behind the tip.
    EXPECT_LT(head.at.z, head.at.x);
    EXPECT_EQ(arrows_of({10, 5, 0, 20, 45, 0, 20, 5, 0, 10, 45, 0}).shapes().size(),
              2 * arrows_of({10, 5, 0, 20, 45, 0}).shapes().size());
}

TEST(FlowArrows, InvalidNumbersNameKey) {
    View view;
    view.flow_arrows = {1, 2, 3};
    try {
        check_view(view);
        FAIL() << "was taken";
    } catch (const Error& error) {
        EXPECT_THAT(error.line(), testing::HasSubstr("view.flow_arrows"));
    }
}

}  // namespace
}  // namespace echolux::test
