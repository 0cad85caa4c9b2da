// Recovery from a failing GPU: one retry, then the CPU; no fallback if GPUs are required.
#include "engine/planning.h"

#include <gtest/gtest.h>

namespace echolux::test {
namespace {

const Error lost(ErrorCode::device, "lost", "test");

TEST(GpuRecovery, RetriesGpuOnceThenUsesCpu) {
    GpuRecovery recovery({.backend = Backend::automatic, .streams = 2, .gpus = 0});
    EXPECT_TRUE(recovery.recovers(lost, Backend::cuda));
    EXPECT_EQ(recovery.backend().backend, Backend::automatic);
    EXPECT_EQ(recovery.backend().streams, 2);
    EXPECT_EQ(recovery.backend().gpus, 0);
    EXPECT_TRUE(recovery.recovers(lost, Backend::cuda));
    EXPECT_EQ(recovery.backend().backend, Backend::cpu);
    EXPECT_NO_THROW(require_backend(recovery.backend()));
}

// Two failures weeks apart must not disable the GPU.
TEST(GpuRecovery, ForgetsOldFailures) {
    const auto now = GpuRecovery::Clock::now();
    const auto later = now + GpuRecovery::forgotten_after + std::chrono::seconds(1);
    GpuRecovery recovery({});
    EXPECT_TRUE(recovery.recovers(lost, Backend::cuda, now));
    EXPECT_TRUE(recovery.recovers(lost, Backend::cuda, later));
    EXPECT_EQ(recovery.backend().backend, Backend::automatic);
    EXPECT_TRUE(recovery.recovers(lost, Backend::cuda, later + GpuRecovery::forgotten_after));
    EXPECT_EQ(recovery.backend().backend, Backend::cpu);
}

TEST(GpuRecovery, IgnoresOtherErrors) {
    GpuRecovery recovery({});
    EXPECT_FALSE(recovery.recovers(lost, Backend::cpu));
    EXPECT_FALSE(recovery.recovers(Error(ErrorCode::bad_setting, "wrong", "test"), Backend::cuda));
    EXPECT_FALSE(recovery.recovers(Error(ErrorCode::out_of_memory, "full", "test"), Backend::cuda));
    EXPECT_TRUE(recovery.recovers(lost, Backend::cuda));
    EXPECT_EQ(recovery.backend().backend, Backend::automatic) << "only failures of the GPU are counted";
}

TEST(GpuRecovery, KeepsRequestedGpus) {
    GpuRecovery demanded({.backend = Backend::cuda});
    GpuRecovery several({.gpus = 2});
    EXPECT_FALSE(demanded.recovers(lost, Backend::cuda));
    EXPECT_FALSE(several.recovers(lost, Backend::cuda));
}

}  // namespace
}  // namespace echolux::test
