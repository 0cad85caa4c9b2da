// Failing submissions: the queue continues after a recording that throws, and a lost device is an error.
#include "render/vk/queue.h"

#include <gmock/gmock.h>

#include <atomic>
#include <stdexcept>

#include "compute/error.h"

namespace echolux::test {
namespace {

class Queues : public testing::Test {
  protected:
    Queues() {
        choice_.validation = true;
        choice_.on_message = [](const std::string& text) { ADD_FAILURE() << "validation layer: " << text; };
        choice_.loses = [this] { return lost_.load(); };
    }

    std::atomic<bool> lost_ = false;
    GpuDevice choice_;
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
    try {
        queue.wait(value);
        FAIL() << "no error";
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::device);
        EXPECT_THAT(error.line(), testing::HasSubstr("a simulated loss"));
    }
    EXPECT_THROW(queue.is_done(value), Error);
    EXPECT_THROW(timeline.value(), Error);
    EXPECT_THROW(timeline.wait(1, std::chrono::seconds(1)), Error);
    timeline.abandon(1);
    EXPECT_TRUE(timeline.wait(1, std::chrono::seconds(1)));
    timeline.abandon(1);  // may be repeated
}

}  // namespace
}  // namespace echolux::test
