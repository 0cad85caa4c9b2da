// The last row and column of a coarse picture. The buffer is larger than the set of rays, and the rest holds another
// picture or is undefined.
#include <gtest/gtest.h>

#include <limits>

#include "render/resolver.h"
#include "render/slots/volume_texture.h"
#include "render/vk/read_back.h"
#include "rendering.h"

namespace echolux::test {
namespace {

// An empty volume in front of a background, so that all pixels of a picture are equal.
TEST(CoarseEdges, HideContentBeyondRays) {
    const gpu::Device device(validated_device());
    gpu::Queue queue(device);
    gpu::ReadBack read_back(device, queue);
    BrickBuilder builder(device);
    Raycaster raycaster(device, queue);
    Resolver resolver(device, queue);
    ResolvedPictures pictures(device);
    const VolumeGrid grid = db_grid(8, 8, 8);
    const VolumeTexture volume(device, grid, {0, 40});
    const auto nothing = [](std::int64_t, std::int64_t, std::int64_t) { return 0.; };
    upload(device, queue, builder, volume, *voxels_in_memory(grid, voxels(grid, nothing).data()));
    const Scene scene(volume);
    std::int64_t wrong = 0;
    for (const std::int64_t edge : {47, 61, 96}) {
        AccumulationBuffer accumulation(device, edge, edge);
        View view = voxel_view(grid, edge, edge);
        for (int step = 0; step <= 75; step += 3) {
            const double pitch = 1.25 + 0.01 * step;
            const auto cast = [&](double red, double apart) {
                view.background = {red, 0.5, 0.5};
                queue.wait(
                    raycaster
                        .cast({.scene = scene, .view = view, .pass = {.accumulation = &accumulation, .pitch = apart}})
                        .value);
            };
            cast(std::numeric_limits<double>::quiet_NaN(), 1);
            cast(0.25, pitch);
            const ResolvedPicture picture = resolver.resolve(pictures, accumulation, pitch, {0, 0, edge, edge},
                                                             sheet_of({.scene = scene, .view = view}));
            const std::span<const std::byte> pixels = read_back.pixels(*picture.image);
            for (std::int64_t y = 0; y < edge; ++y) {
                for (std::int64_t x = 0; x < edge; ++x) {
                    const bool is_last = x == edge - 1 || y == edge - 1;
                    const auto red = std::to_integer<int>(pixels[index(4 * (y * edge + x))]);
                    if (is_last && red != 64) ++wrong;
                }
            }
        }
    }
    EXPECT_EQ(wrong, 0) << "pixels";
}

}  // namespace
}  // namespace echolux::test
