// Volumes that cannot be displayed are refused with their sizes, before anything is allocated or read.
#include <gmock/gmock.h>

#include "compute/error.h"
#include "rendering.h"

namespace echolux::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;

class RefusedVolume : public Rendering {
  protected:
    std::string refusal(const VolumeGrid& grid, ErrorCode code) {
        try {
            renderer().set_volume(grid, nullptr);  // never read
        } catch (const Error& error) {
            EXPECT_EQ(error.code(), code);
            return error.line();
        }
        return "no error";
    }
};

TEST_F(RefusedVolume, NamesBytesNeededAndAvailable) {
    EXPECT_THAT(refusal(db_grid(2048, 2048, 2048), ErrorCode::out_of_memory),
                AllOf(HasSubstr("2048 x 2048 x 2048"), HasSubstr("needs 32.00 GiB"), HasSubstr("at most"),
                      HasSubstr(renderer().device_name())));
}

TEST_F(RefusedVolume, ReportsLongestEdge) {
    EXPECT_THAT(refusal(db_grid(20000, 4, 4), ErrorCode::out_of_memory),
                AllOf(HasSubstr("20000 x 4 x 4"), HasSubstr("at most")));
    EXPECT_THAT(refusal(db_grid(4, 4, std::int64_t{1} << 40), ErrorCode::out_of_memory), HasSubstr("1099511627776"));
}

TEST_F(RefusedVolume, ReportsReason) {
    EXPECT_THAT(refusal(db_grid(4, 4, 4, VoxelType::complex64), ErrorCode::bad_setting),
                AllOf(HasSubstr("complex"), HasSubstr("recipe.quantity")));
    EXPECT_THAT(refusal(db_grid(4, 0, 4), ErrorCode::bad_setting), HasSubstr("empty"));
    VolumeGrid flat = db_grid(4, 4, 4);
    flat.scale = 0;
    EXPECT_THAT(refusal(flat, ErrorCode::bad_setting), HasSubstr("scale"));
}

TEST_F(RefusedVolume, KeepsPreviousVolume) {
    const VolumeGrid grid = db_grid(16, 16, 16);
    renderer().set_volume(grid, voxels(grid, ball(grid, 8)).data());
    View view;
    view.width = view.height = 32;
    const Image before = renderer().render(view);
    refusal(db_grid(20000, 4, 4), ErrorCode::out_of_memory);
    EXPECT_EQ(renderer().render(view).pixels, before.pixels);
}

TEST_F(RefusedVolume, IsRequiredForPicture) {
    EXPECT_THROW(renderer().render({}), Error);
}

TEST_F(RefusedVolume, SingleVoxelIsAccepted) {
    const VolumeGrid grid = db_grid(1, 1, 1);
    renderer().set_volume(grid, voxels(grid, [](auto...) { return 30.0; }).data());
    View view;
    view.mode = ViewMode::mip;
    view.width = view.height = 5;
    EXPECT_NEAR(renderer().measure(view)[12].value, 30, 1e-4);
}

TEST_F(RefusedVolume, SignedVoxelsKeepTheirValues) {
    VolumeGrid grid = db_grid(2, 1, 1, VoxelType::i16);
    grid.scale = 0.5;
    grid.offset = 10;
    const std::array<std::int16_t, 2> codes{-2000, -3000};
    renderer().set_volume(grid, codes.data());
    View view = voxel_view(grid, 1, 2);
    view.mode = ViewMode::mip;
    const std::vector<RayMeasure> rays = renderer().measure(view);
    EXPECT_NEAR(rays[0].value, -990, 0.01);
    EXPECT_NEAR(rays[1].value, -1490, 0.01);
}

}  // namespace
}  // namespace echolux::test
