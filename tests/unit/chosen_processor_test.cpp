// Work that both processors support: it runs on the requested one, and on the CPU without a GPU.
#include "compute/backend.h"

#include <gtest/gtest.h>

#include "compute/error.h"

namespace echolux {
namespace {

struct Work {
    int on_gpu = 0, on_cpu = 0;

    SelectedBackend on(const BackendChoice& choice) {
        return on_gpu_or_cpu(
            choice, [&] { ++on_gpu; }, [&] { ++on_cpu; });
    }
};

TEST(ChosenProcessor, UsesCpuOnRequest) {
    Work work;
    const SelectedBackend used = work.on({.backend = Backend::cpu});
    EXPECT_EQ(used.backend, Backend::cpu);
    EXPECT_EQ(used.refusal, "");
    EXPECT_EQ(work.on_cpu, 1);
    EXPECT_EQ(work.on_gpu, 0);
    EXPECT_THROW(work.on({.backend = Backend::cpu, .gpus = 2}), Error);
    EXPECT_EQ(work.on_cpu, 1);
}

TEST(ChosenProcessor, UsesCpuWithoutGpu) {
    if (!surveyed_gpus().usable.empty()) GTEST_SKIP() << "there is a GPU";
    Work work;
    const SelectedBackend used = work.on({});
    EXPECT_EQ(used.backend, Backend::cpu);
    EXPECT_EQ(used.refusal, "");
    EXPECT_EQ(work.on_cpu, 1);
    EXPECT_THROW(work.on({.backend = Backend::cuda}), Error);
    EXPECT_EQ(work.on_cpu, 1);
    EXPECT_EQ(work.on_gpu, 0);
}

TEST(ChosenProcessor, ForwardsErrorsOfWork) {
    EXPECT_THROW(on_gpu_or_cpu(
                     {.backend = Backend::cpu}, [] {}, [] { throw Error(ErrorCode::cancelled, "stopped"); }),
                 Error);
}

}  // namespace
}  // namespace echolux
