// Majorants that are too low are detected and counted, which proves that the check used for all path-traced pictures
// can fail.
#include <cstring>

#include "render/picture.h"
#include "render/raycaster.h"
#include "render/slots/volume_texture.h"
#include "render/vk/read_back.h"
#include "rendering.h"
#include "tests/support/set_fields.h"

namespace echolux::test {
namespace {

class PlantedFaults : public testing::Test {
  protected:
    PlantedFaults()
        : device_(validated_device()), queue_(device_), builder_(device_), raycaster_(device_, queue_),
          read_back_(device_, queue_), grid_(db_grid(30, 41, 37)), volume_(device_, grid_, {0, 40}),
          accumulation_(device_, 32, 32) {
        view_ = voxel_view(grid_, 32, 32);
        set(view_, "mode=traced low=0 high=40 bounces=1");
        view_.transfer = "test";  // with a peak inside, so that the ends of a range are not sufficient
        view_.transfer_curve = TransferCurve{
            {{0, 1, 1, 1, 0}, {.4, 1, 1, 1, 0}, {.45, 1, 1, 1, 80}, {.5, 1, 1, 1, 2}, {1, 1, 1, 1, 6}}, "", true, 0};
    }
    ~PlantedFaults() override { queue_.wait_for_all(); }

    void fill(const ValueAt& value) {
        upload(device_, queue_, builder_, volume_, *voxels_in_memory(grid_, voxels(grid_, value).data()));
        ++serial_;
    }

    static constexpr std::int64_t paths = 64;

    // Returns the number of lookups above the majorant per path.
    double above(MajorantFault fault) {
        Scene scene(volume_);
        scene.serials = {serial_, 0, 0};
        for (std::int64_t number = 0; number < paths; ++number) {
            raycaster_.cast({.scene = scene,
                             .view = view_,
                             .output = RayOutput::counts,
                             .pass = {&accumulation_, number},
                             .fault = fault});
        }
        const std::span<const std::byte> pixels = read_back_.pixels(accumulation_.mean);
        double sum = 0;
        for (std::size_t i = 0; i < pixels.size(); i += sizeof(PathCounts)) {
            PathCounts counts;
            std::memcpy(&counts, pixels.data() + i, sizeof counts);
            sum += counts.above_majorant;
        }
        return sum / (32 * 32);
    }

    const gpu::Device device_;
    gpu::Queue queue_;
    BrickBuilder builder_;
    Raycaster raycaster_;
    gpu::ReadBack read_back_;
    const VolumeGrid grid_;
    const VolumeTexture volume_;
    AccumulationBuffer accumulation_;
    View view_;
    std::uint64_t serial_ = 0;
};

double boxes(std::int64_t z, std::int64_t a, std::int64_t b) {
    return (a / 9 + b / 8 + z / 10) % 3 == 0 ? 40 : 0;
}

// Without a halo, one lookup per thousand paths exceeds the majorant: 67 for 65,000 paths, and almost never less than
// half of that.
TEST_F(PlantedFaults, AreDetected) {
    fill(boxes);
    for (const MajorantFault fault : {MajorantFault::half, MajorantFault::no_halo, MajorantFault::ends_only}) {
        EXPECT_GT(above(fault), 5e-4) << static_cast<int>(fault);
        EXPECT_EQ(above(MajorantFault::none), 0) << static_cast<int>(fault);
    }
}

TEST_F(PlantedFaults, StaleMajorantsAreDetected) {
    fill(boxes);
    EXPECT_EQ(above(MajorantFault::none), 0);
    fill([](std::int64_t z, std::int64_t a, std::int64_t b) { return boxes(z + 5, a + 4, b + 4); });
    EXPECT_GT(above(MajorantFault::stale), 1e-3);
    EXPECT_EQ(above(MajorantFault::none), 0);
}

}  // namespace
}  // namespace echolux::test
