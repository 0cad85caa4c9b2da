// Makes each CUDA call fail, once or for good. Either an Error reports it or the result is right; nothing stays
// allocated, and the next reconstruction in the same process is right.
#include "tests/gpu/cuda_faults.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <cstring>
#include <functional>

#include "compute/error.h"
#include "tests/gpu/gpu_run.h"
#include "tests/gpu/sharing.h"
#include "tests/support/set_fields.h"

namespace echolux::test {
namespace {

using testing::AnyOf;

using Result = std::vector<float>;

ReconstructionSpec small_spec() {
    ReconstructionSpec spec = with(ReconstructionSpec{}, "levels=fixed background=frame_mean");
    spec.geometry = {.samples = 512, .a_scans = 8, .b_scans = 6};
    return spec;
}

Result reconstructed(const ReconstructionSpec& spec, bool fused, MemoryKind from) {
    const auto spectra = moving_reflectors(512, 8 * 6);
    GpuRun run{.choice = {.backend = Backend::cuda}, .block_b_scans = 2, .from = from};
    run.choice.fused = fused;
    return voxels_of<float>(spec, bytes_of_lines(spectra), run);
}

Result from_pageable_memory() {
    return reconstructed(small_spec(), true, MemoryKind::host);
}
Result from_pinned_memory() {
    return reconstructed(small_spec(), true, MemoryKind::pinned);
}
Result by_separate_passes() {
    return reconstructed(small_spec(), false, MemoryKind::pinned);
}

Result by_nufft() {
    ReconstructionSpec spec = small_spec();
    spec.recipe.resample = Resample::nufft;
    return reconstructed(spec, true, MemoryKind::host);
}

Result into_textures() {
    const ReconstructionSpec spec = spec_of({512, 37, 11, 0, 0}, VoxelType::u8);
    LivePipeline path(spec, on_gpu, {});
    for (std::int64_t volume = 0; volume < 3; ++volume) {
        const PinnedSpectra spectra(spec, volume);
        feed(path, spec, spectra, volume);
        if (const auto picture = path.display.picture(from_above(path.feeder.grid()))) path.display.wait(*picture);
    }
    const auto volume = path.display.read_volume();
    if (!volume || volume->stamp.volume != 2) throw Error(ErrorCode::device, "the last volume did not come");
    Result codes;
    for (const std::byte code : volume->voxels) codes.push_back(static_cast<float>(code));
    return codes;
}

// Uses one GPU as two. Errors of missing volumes are reported at the latest by the wait for them.
Result into_textures_of_another() {
    const ReconstructionSpec spec = spec_of({512, 37, 11, 0, 0}, VoxelType::u8);
    const DeviceId gpu = surveyed_gpus().usable.front().id;
    LivePipeline path(spec, {.backend = Backend::cuda, .named_gpus = {gpu, gpu}}, {});
    const PinnedSpectra spectra(spec, 2);
    feed(path, spec, spectra, 2);
    path.feeder.finish();
    const auto volume = path.display.read_volume();
    if (!volume || volume->stamp.volume != 2) throw Error(ErrorCode::device, "the volume did not come");
    Result codes;
    for (const std::byte code : volume->voxels) codes.push_back(static_cast<float>(code));
    return codes;
}

struct Workload {
    const char* name;
    Result (*run)();
    bool needs_vulkan;
};

constexpr Workload workloads[] = {{"FromPageableMemory", from_pageable_memory, false},
                                  {"FromPinnedMemory", from_pinned_memory, false},
                                  {"BySeparatePasses", by_separate_passes, false},
                                  {"ByNufft", by_nufft, false},
                                  {"IntoTextures", into_textures, true},
                                  {"IntoTexturesOfAnother", into_textures_of_another, true}};

char tried[160] = "";

// Names the failing call if a run hangs.
void limit_to_a_minute(const Workload& work, std::int64_t at, CudaFault fault) {
    std::memset(tried, 0, sizeof(tried));
    fmt::format_to_n(tried, sizeof(tried) - 1, "{} does not end within a minute after call {} failed{}\n", work.name,
                     at, fault == CudaFault::once ? " once" : " for good");
    std::signal(SIGALRM, [](int) {
        static_cast<void>(!write(STDERR_FILENO, tried, strlen(tried)));
        std::abort();
    });
    alarm(60);
}

class CudaFaults : public testing::TestWithParam<Workload> {
  protected:
    void SetUp() override {
        if (surveyed_gpus().usable.empty()) GTEST_SKIP() << surveyed_gpus().refusal;
        if (GetParam().needs_vulkan && !obstacle().empty()) GTEST_SKIP() << obstacle();
        expected_ = GetParam().run();
        alive_ = seen_cuda_faults().alive;
    }

    void TearDown() override {
        alarm(0);
        plan_cuda_fault(0);
        if (expected_.empty()) return;
        EXPECT_EQ(GetParam().run(), expected_) << "after faults";
    }

    std::int64_t calls(CudaFault fault) {
        plan_cuda_fault(-1, fault);
        EXPECT_EQ(GetParam().run(), expected_);
        return seen_cuda_faults().calls;
    }

    bool fail(std::int64_t at, CudaFault fault) {
        limit_to_a_minute(GetParam(), at, fault);
        plan_cuda_fault(at, fault);
        std::string outcome = "the result is right";
        try {
            if (GetParam().run() != expected_) ADD_FAILURE() << "a wrong result" << where(at, fault);
        } catch (const Error& error) {
            outcome = error.line();
            EXPECT_THAT(error.code(), AnyOf(ErrorCode::device, ErrorCode::out_of_memory))
                << outcome << where(at, fault);
        } catch (const std::exception& error) {
            ADD_FAILURE() << "no Error, but: " << error.what() << where(at, fault);
        }
        const CudaFaultsSeen seen = seen_cuda_faults();
        EXPECT_EQ(seen.alive, alive_) << where(at, fault);
        plan_cuda_fault(0);
        return seen.failed;
    }

  private:
    static std::string where(std::int64_t at, CudaFault fault) {
        return fmt::format("\ncall {}, {}, fails {}", at, seen_cuda_faults().first_failed,
                           fault == CudaFault::once ? "once" : "for good");
    }

    Result expected_;
    std::int64_t alive_ = 0;
};

TEST_P(CudaFaults, EachCallFails) {
    std::int64_t faults = 0, tries = 0;
    for (const CudaFault fault : {CudaFault::once, CudaFault::for_good}) {
        const std::int64_t most = calls(fault);
        EXPECT_GT(most, 20);
        for (std::int64_t at = 1; at <= most && !HasFatalFailure(); ++at, ++tries) faults += fail(at, fault);
    }
    fmt::print("{}: {} faults in {} runs\n", GetParam().name, faults, tries);
    EXPECT_GT(faults, tries * 9 / 10);  // the number of completion queries varies
}

INSTANTIATE_TEST_SUITE_P(Work, CudaFaults, testing::ValuesIn(workloads),
                         [](const auto& one) { return std::string(one.param.name); });

}  // namespace
}  // namespace echolux::test
