// A CUDA context poisoned by a failing kernel: from then on every CUDA call of the process fails. Each case therefore
// runs in a separate process of this program, in which a real kernel traps.
#include <cstdlib>
#include <filesystem>
#include <string>

#include <cuda_runtime.h>
#include <sys/wait.h>

#include "app/live/live_pipeline.h"
#include "compute/indexing.h"
#include "gpu_run.h"
#include "sharing.h"

namespace echolux::test {
namespace {

const char* const trapping_kernel = R"(
.version 7.0
.target sm_75
.address_size 64
.visible .entry trapping() { trap; }
)";

// All pending work fails with it, on any stream.
void poison() {
    cudaLibrary_t library = nullptr;
    cudaKernel_t kernel = nullptr;
    ASSERT_EQ(cudaLibraryLoadData(&library, trapping_kernel, nullptr, nullptr, 0, nullptr, nullptr, 0), cudaSuccess);
    ASSERT_EQ(cudaLibraryGetKernel(&kernel, library, "trapping"), cudaSuccess);
    ASSERT_EQ(cudaLaunchKernel(static_cast<const void*>(kernel), dim3(1), dim3(1), nullptr, 0, nullptr), cudaSuccess);
    ASSERT_NE(cudaDeviceSynchronize(), cudaSuccess) << "nothing is poisoned";
    ASSERT_NE(cudaDeviceSynchronize(), cudaSuccess) << "it was no error that stays";
}

// Runs DISABLED_`name` in a separate process. Returns true if it passes within two minutes.
bool passes_in_a_process_of_its_own(const std::string& name) {
    const std::string program = std::filesystem::read_symlink("/proc/self/exe").string();
    // A shard of the cases would leave out the one that is wanted.
    const std::string command = "env -u GTEST_TOTAL_SHARDS -u GTEST_SHARD_INDEX timeout 120 '" + program +
                                "' --gtest_also_run_disabled_tests --gtest_filter=" + "PoisonedContext.DISABLED_" +
                                name;
    const int status = std::system(command.c_str());
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

class PoisonedContext : public GpuTest {};

TEST_F(PoisonedContext, CpuContinuesWithBlocks) {
    EXPECT_TRUE(passes_in_a_process_of_its_own("Blocks"));
}

TEST_F(PoisonedContext, CpuContinuesWithLiveRing) {
    if (!obstacle().empty()) GTEST_SKIP() << obstacle();
    EXPECT_TRUE(passes_in_a_process_of_its_own("LiveRing"));
}

TEST_F(PoisonedContext, DetectsDeadWriter) {
    if (!obstacle().empty()) GTEST_SKIP() << obstacle();
    EXPECT_TRUE(passes_in_a_process_of_its_own("SharedSlots"));
}

// Planning again detects the dead GPU, chooses the CPU and reports the reason.
TEST_F(PoisonedContext, DISABLED_Blocks) {
    const ReconstructionSpec spec = spec_of({512, 37, 11, 0, 0}, VoxelType::u8);
    const PinnedSpectra spectra(spec, 0);
    const auto volume_by = [&](Reconstructor& by) {
        std::vector<std::byte> voxels(index(by.grid().bytes()));
        VoxelTarget place{.kind = TargetKind::host_linear, .data = voxels.data()};
        place.a_scan_bytes = by.grid().depth * bytes_of(by.grid().type);
        place.b_scan_bytes = by.grid().a_scans * place.a_scan_bytes;
        for (std::int64_t begin = 0; begin < spec.geometry.b_scans; begin += spec.block_b_scans) {
            const std::int64_t end = std::min(begin + spec.block_b_scans, spec.geometry.b_scans);
            by.wait(by.submit(spectra.block(spec, 0, begin, end), place));
        }
        return voxels;
    };
    auto chosen = choose_reconstructor(spec);
    ASSERT_EQ(chosen.reconstructor->backend(), Backend::cuda);
    volume_by(*chosen.reconstructor);
    poison();
    EXPECT_THROW(volume_by(*chosen.reconstructor), Error);
    chosen.reconstructor.reset();
    chosen = choose_reconstructor(spec);
    EXPECT_EQ(chosen.reconstructor->backend(), Backend::cpu);
    EXPECT_NE(chosen.reason, "");
    EXPECT_EQ(volume_by(*chosen.reconstructor), volume_by(*make_reconstructor(spec, {.backend = Backend::cpu})));
}

// Pictures of existing volumes continue, nothing hangs, and the CPU makes the next volumes.
TEST_F(PoisonedContext, DISABLED_LiveRing) {
    const ReconstructionSpec spec = spec_of({512, 37, 11, 0, 0}, VoxelType::u8);
    LivePipeline path(spec, {}, {}, {});
    ASSERT_THAT(path.feeder.describe(), testing::StartsWith("cuda ("));
    const auto show = [&] { path.display.wait(path.display.picture(from_above(path.feeder.grid())).value()); };
    for (std::int64_t volume = 0; volume < 3; ++volume) {
        const PinnedSpectra spectra(spec, volume);
        feed(path, spec, spectra, volume);
        show();
    }
    const PinnedSpectra before(spec, 3);
    feed(path, spec, before, 3);  // not yet drawn
    poison();
    const std::vector<std::uint16_t> samples = noise_spectra(spec, 4);
    const auto feed_from_the_host = [&](std::int64_t volume) {
        for (std::int64_t begin = 0; begin < spec.geometry.b_scans; begin += spec.block_b_scans) {
            const std::int64_t end = std::min(begin + spec.block_b_scans, spec.geometry.b_scans);
            path.feeder.feed(block_of(spec, std::as_bytes(std::span(samples)), volume, begin, end));
        }
    };
    for (std::int64_t volume = 4; volume < 9; ++volume) {
        feed_from_the_host(volume);
        if (volume > 5) show();
    }
    EXPECT_THAT(path.feeder.describe(), testing::StartsWith("cpu ("));
    EXPECT_EQ(path.display.read_volume()->stamp.volume, 8);
}

// settle() must report the writer as dead, so that the host may signal in its place, once.
TEST_F(PoisonedContext, DISABLED_SharedSlots) {
    const ReconstructionSpec spec = spec_of({512, 37, 11, 0, 0}, VoxelType::u8);
    SlotWriter* writer = nullptr;
    LivePipelineOptions options;
    options.share = [&](const auto& slots, const auto& written, const auto& read) {
        std::unique_ptr<SlotWriter> made = share(slots, written, read);
        writer = made.get();
        return made;
    };
    LivePipeline path(spec, on_gpu, {}, options);
    const PinnedSpectra spectra(spec, 0);
    feed(path, spec, spectra, 0);
    EXPECT_EQ(writer->settle(std::chrono::seconds(10)), SlotWriter::SettleResult::done);
    poison();
    EXPECT_EQ(writer->settle({}), SlotWriter::SettleResult::dead);
}

}  // namespace
}  // namespace echolux::test
