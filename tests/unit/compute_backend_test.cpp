// The choice of the backend and the memory of blocks, with and without a GPU.
#include <gtest/gtest.h>

#include <fmt/format.h>
#include <algorithm>
#include <cstring>

#include "compute/backend.h"
#include "compute/error.h"
#include "compute/indexing.h"
#include "compute/voxel_target.h"
#include "engine/memory.h"
#include "tests/oracle/chain.h"
#include "tests/support/error_of.h"

namespace echolux {
namespace {

TEST(Backends, SurveyFindsGpusOrReason) {
    const GpuSurvey& survey = surveyed_gpus();
    EXPECT_TRUE(!survey.usable.empty() || !survey.refusal.empty());
    EXPECT_EQ(&survey, &surveyed_gpus());  // surveys only once
    for (const Gpu& gpu : survey.usable) {
        EXPECT_NE(gpu.id, DeviceId{});
        EXPECT_FALSE(gpu.name.empty());
        EXPECT_GT(gpu.memory_bytes, 0);
    }
}

TEST(Backends, UsesCpuOnRequest) {
    const auto cpu = make_reconstructor(plain_spec(64, 2), {.backend = Backend::cpu});
    EXPECT_EQ(cpu->backend(), Backend::cpu);
    EXPECT_TRUE(cpu->backend_description().starts_with("cpu")) << cpu->backend_description();
    EXPECT_EQ(choose_reconstructor(plain_spec(64, 2), {.backend = Backend::cpu}).reason, "");
}

TEST(Backends, ReportsThatCpuIgnoresFastPrecision) {
    ReconstructionSpec spec = plain_spec(64, 2);
    spec.recipe.precision = Precision::fast;
    const ChosenReconstructor chosen = choose_reconstructor(spec, {.backend = Backend::cpu});
    EXPECT_EQ(chosen.reconstructor->precision(), Precision::exact);
    EXPECT_EQ(chosen.reason, "recipe.precision = fast has no effect: this recipe is reconstructed in single precision");
}

TEST(Backends, FallsBackToCpuWithoutCuda) {
    if (!surveyed_gpus().usable.empty()) GTEST_SKIP() << "there is a GPU";
    const ChosenReconstructor chosen = choose_reconstructor(plain_spec(64, 2));
    EXPECT_EQ(chosen.reconstructor->backend(), Backend::cpu);
    EXPECT_EQ(chosen.reason, surveyed_gpus().refusal);
    const Caught caught = error_of([] { make_reconstructor(plain_spec(64, 2), {.backend = Backend::cuda}); });
    EXPECT_EQ(caught.code, ErrorCode::device);
    EXPECT_NE(caught.line.find(surveyed_gpus().refusal), std::string::npos) << caught.line;
}

// Chooses between a GPU that exists and the CPU, depending on the outcome of planning on the GPU.
ChosenReconstructor chosen_with_gpu(const std::function<std::unique_ptr<Reconstructor>()>& plan_on_gpu,
                                    const std::string& refusal = {}) {
    return gpu_or_cpu(plain_spec(64, 2), {{{.id = {1}, .name = "a GPU"}}, refusal}, plan_on_gpu);
}

ChosenReconstructor chosen_after(ErrorCode code) {
    return chosen_with_gpu([=]() -> std::unique_ptr<Reconstructor> { throw Error(code, "no", "a GPU"); });
}

TEST(Backends, FallsBackToCpuWhenGpuRejectsPlan) {
    for (const ErrorCode code : {ErrorCode::device, ErrorCode::out_of_memory}) {
        const ChosenReconstructor chosen = chosen_after(code);
        EXPECT_EQ(chosen.reconstructor->backend(), Backend::cpu);
        EXPECT_EQ(chosen.reason, "a GPU: no: reconstructing on the CPU instead");
    }
    EXPECT_THROW(chosen_after(ErrorCode::bad_setting), Error);
}

TEST(Backends, KeepsGpuThatAcceptsPlan) {
    const auto planned = [] { return plan_on_cpu(plain_spec(64, 2)); };
    EXPECT_NE(chosen_with_gpu(planned).reconstructor, nullptr);
    EXPECT_EQ(chosen_with_gpu(planned).reason, "");
    EXPECT_EQ(chosen_with_gpu(planned, "another is too old").reason, "another is too old");
}

GpuSurvey survey_of(const std::vector<DeviceId>& ids, const std::string& refusal = "") {
    GpuSurvey survey{{}, refusal};
    for (const DeviceId& id : ids) survey.usable.push_back({id, "a GPU", 1});
    return survey;
}

TEST(Backends, ChoosesRequestedNumberOfGpus) {
    const DeviceId first{1}, second{2}, third{3};
    const GpuSurvey three = survey_of({first, second, third});
    using Ids = std::vector<DeviceId>;
    EXPECT_EQ(chosen_gpus({}, three), Ids{first});
    EXPECT_EQ(chosen_gpus({.gpus = 2}, three), (Ids{first, second}));
    EXPECT_EQ(chosen_gpus({.gpu = third, .gpus = 2}, three), (Ids{third, first}));
    EXPECT_EQ(chosen_gpus({.gpus = 0}, three), (Ids{first, second, third}));
}

TEST(Backends, RejectsMissingGpu) {
    const GpuSurvey two = survey_of({{1}, {2}});
    for (const int gpus : {0, 1, 3}) EXPECT_THROW(chosen_gpus({.gpu = {9}, .gpus = gpus}, two), Error) << gpus;
}

// The second of three GPUs has too little memory.
TEST(Backends, SkipsRejectingGpuOfSeveral) {
    const std::vector<DeviceId> three{{1}, {2}, {3}};
    const auto planned = [](ErrorCode code, const std::vector<DeviceId>& refusing) {
        return [=](DeviceId id) {
            if (std::ranges::find(refusing, id) != refusing.end())
                throw Error(code, "no", fmt::format("GPU {}", id[0]));
            return plan_on_cpu(plain_spec(64, 2));
        };
    };
    for (const ErrorCode code : {ErrorCode::device, ErrorCode::out_of_memory}) {
        const PlannedDevices found = planned_devices(three, true, planned(code, {{2}}));
        EXPECT_EQ(found.devices.size(), 2u);
        EXPECT_EQ(found.left_out, "GPU 2 of 3 is not used: GPU 2: no");
        EXPECT_THROW(planned_devices(three, false, planned(code, {{2}})), Error) << "three were asked for";
        EXPECT_EQ(error_of([&] { planned_devices(three, true, planned(code, three)); }).where, "GPU 1");
    }
    EXPECT_THROW(planned_devices(three, true, planned(ErrorCode::bad_setting, {{2}})), Error);
    EXPECT_EQ(planned_devices(three, true, planned(ErrorCode::device, {})).left_out, "");
}

TEST(Backends, FewerGpusThanAskedForAreRefused) {
    for (const auto& [gpus, survey] : {std::pair{2, survey_of({{1}})},
                                       {4, survey_of({{1}, {2}}, "another is too old")},
                                       {0, survey_of({}, "no CUDA device")}}) {
        const Caught caught = error_of([&, n = gpus, &all = survey] { chosen_gpus({.gpus = n}, all); });
        EXPECT_EQ(caught.code, ErrorCode::device) << gpus;
        EXPECT_NE(caught.line.find(survey.refusal), std::string::npos) << caught.line;
    }
}

TEST(Backends, SeveralGpusRequireCuda) {
    EXPECT_TRUE(insists_on_gpu({.backend = Backend::cuda}));
    EXPECT_TRUE(insists_on_gpu({.gpus = 2}));
    EXPECT_FALSE(insists_on_gpu({.gpus = 0}));
    EXPECT_THROW(make_reconstructor(plain_spec(64, 2), {.backend = Backend::cpu, .gpus = 2}), Error);
    if (surveyed_gpus().usable.size() > 1) GTEST_SKIP() << "there are several";
    EXPECT_THROW(make_reconstructor(plain_spec(64, 2), {.gpus = 2}), Error);
    EXPECT_THROW(require_backend({.gpus = 2}), Error);
}

TEST(BlockMemory, AlignsToPages) {
    for (const std::int64_t bytes : {std::int64_t{0}, std::int64_t{1}, std::int64_t{4096}, std::int64_t{100000}}) {
        for (const MemoryKind wanted : {MemoryKind::host, MemoryKind::pinned}) {
            const BlockMemory memory = block_memory(bytes, wanted);
            ASSERT_NE(memory.data, nullptr);
            EXPECT_EQ(reinterpret_cast<std::uintptr_t>(memory.data) % 4096, 0u);
            EXPECT_EQ(memory.bytes, bytes);
            EXPECT_EQ(memory.kind == MemoryKind::pinned,
                      wanted == MemoryKind::pinned && !surveyed_gpus().usable.empty());
            std::memset(memory.data, 1, index(bytes));
        }
    }
    EXPECT_THROW(block_memory(-1), Error);
    EXPECT_THROW(block_memory(1, MemoryKind::device), Error);
}

TEST(BlockPool, ReusesMemoryWithoutViews) {
    BlockPool pool(1000, MemoryKind::host);
    BlockMemory first = pool.take(), second = pool.take();
    EXPECT_NE(first.data, second.data);
    const std::byte* given_back = second.data;
    auto view = second.keeper;
    second = {};
    const BlockMemory third = pool.take();
    EXPECT_NE(third.data, given_back);  // a view remains, so the memory is in use
    EXPECT_NE(third.data, first.data);
    view.reset();
    EXPECT_EQ(pool.take().data, given_back);
}

TEST(BlockPool, MemoryOutlivesPool) {
    BlockMemory memory;
    {
        BlockPool pool(1000, MemoryKind::host);
        memory = pool.take();
    }
    std::memset(memory.data, 1, 1000);
    EXPECT_EQ(memory.data[999], std::byte{1});
}

// ---- work that both processors support -----------------------------------------------------------------------------

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
