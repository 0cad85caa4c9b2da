// A picture whose submission failed leaves no state that would break the next one.
#include <gmock/gmock.h>

#include <stdexcept>

#include "render/raycaster.h"
#include "render/slots/volume_texture.h"
#include "rendering.h"

namespace echolux::test {
namespace {

TEST(FailedSubmission, NextPictureUsesFreshImage) {
    std::vector<std::string> messages;
    {
        GpuDevice choice;
        choice.validation = true;
        choice.on_message = [&](const std::string& text) { messages.push_back(text); };
        const gpu::Device device(choice);
        gpu::Queue queue(device);
        BrickBuilder builder(device);
        Raycaster raycaster(device, queue);
        const VolumeGrid grid = db_grid(8, 8, 8);
        const VolumeTexture volume(device, grid, {0, 40});
        upload(device, queue, builder, volume, *voxels_in_memory(grid, voxels(grid, ball(grid, 4)).data()));
        const Scene scene(volume);
        const View view = voxel_view(grid, 8, 8);
        AccumulationBuffer accumulation(device, 8, 8);
        gpu::Chain failing;
        failing.after = [](const vk::raii::CommandBuffer&) { throw std::runtime_error("refused"); };
        for (AccumulationBuffer* target : {static_cast<AccumulationBuffer*>(nullptr), &accumulation}) {
            const Shot shot{.scene = scene, .view = view, .pass = {.accumulation = target}};
            for (int i = 0; i < 2; ++i) EXPECT_THROW(raycaster.cast(shot, failing), std::runtime_error);
            for (int i = 0; i < 2; ++i) queue.wait(raycaster.cast(shot).value);
        }
        queue.wait_for_all();
    }
    EXPECT_THAT(messages, testing::IsEmpty());
}

}  // namespace
}  // namespace echolux::test
