// Submissions: the queue continues after a recording that throws, a lost device is an error, and the amount of work
// that fits into one is learned.
#include "render/vk/queue.h"

#include <gmock/gmock.h>

#include <atomic>
#include <stdexcept>

#include "render/raycaster.h"
#include "render/slots/volume_texture.h"
#include "rendering.h"

namespace echolux::test {
namespace {

class Queues : public testing::Test {
  protected:
    Queues() {
        choice_.loses = [this] { return lost_.load(); };
    }

    std::atomic<bool> lost_ = false;
    GpuDevice choice_ = validated_device();
};

TEST_F(Queues, ContinueAfterFailedRecording) {
    const gpu::Device device(choice_);
    gpu::Queue queue(device);
    const auto throws = [](const vk::raii::CommandBuffer&) { throw std::runtime_error("not recorded"); };
    for (int i = 0; i < 80; ++i) {  // uses every command buffer more than once
        EXPECT_THROW(queue.submit(throws), std::runtime_error);
        if (i % 2 == 0) queue.run([](const vk::raii::CommandBuffer& commands) { gpu::record_order(commands); });
    }
}

TEST_F(Queues, LostDeviceIsErrorAndReleasesWaiters) {
    const gpu::Device device(choice_);
    gpu::Queue queue(device);
    const gpu::Timeline timeline(device);
    const auto nothing = [](const vk::raii::CommandBuffer&) {};
    queue.run(nothing);
    lost_ = true;
    gpu::Chain owes;
    owes.signals = {{timeline.semaphore(), 1}};
    const std::uint64_t value = queue.submit(nothing, owes);
    const Error error = refusal_of([&] { queue.wait(value); });
    EXPECT_EQ(error.code(), ErrorCode::device);
    EXPECT_THAT(error.line(), testing::HasSubstr("a simulated loss"));
    EXPECT_THROW(queue.is_done(value), Error);
    EXPECT_THROW(timeline.value(), Error);
    EXPECT_THROW(timeline.wait(1, std::chrono::seconds(1)), Error);
    timeline.abandon(1);
    EXPECT_TRUE(timeline.wait(1, std::chrono::seconds(1)));
    timeline.abandon(1);  // may be repeated
}

// A picture whose submission failed leaves no state that would break the next one.
TEST_F(Queues, NextPictureAfterFailedSubmissionUsesFreshImage) {
    const gpu::Device device(choice_);
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

// How much of a picture fits into a submission is learned, doubted and forgotten.
// Dense tissue after empty space: the speed learned in one is not trusted for the other.
TEST(Paces, AreDoubtedWithinLimitOfSlowDevice) {
    Pace pace;
    pace.learn(1e6, 1e-3, 0);  // 1 ns
    pace.doubt(8);
    EXPECT_NEAR(pace.seconds(1), 8e-9, 1e-12);
    pace.learn(1e6, 9e-3, 0);
    pace.doubt(8);
    EXPECT_NEAR(pace.seconds(1), 1e-8, 1e-12);
    pace.learn(1, 1e-6, 0);
    pace.doubt(8);
    EXPECT_NEAR(pace.seconds(1), 1e-6, 1e-12);
}

TEST(Paces, StayConstantForEqualPictures) {
    Pace pace;
    pace.learn(1e6, 1e-6, 0);  // 1 ps
    for (int turn = 0; turn < 40; ++turn) {
        pace.doubt(8);
        EXPECT_LE(pace.seconds(1), 8.1e-12) << turn;
        pace.learn(1e6, 1e-6, 0.25);
    }
}

}  // namespace
}  // namespace echolux::test
