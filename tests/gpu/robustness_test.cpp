// Misuse and lack of resources: places that are not what they claim are never written to, memory and descriptors do not
// leak, and lack of memory is always an Error.
#include <dirent.h>

#include <chrono>

#include "compute/error.h"
#include "compute/indexing.h"
#include "tests/gpu/gpu_run.h"

namespace echolux {
namespace {

class GpuRobustness : public GpuTest {
  protected:
    ReconstructionSpec spec;
    std::vector<std::uint16_t> spectra = moving_reflectors(512, 8 * 3);

    GpuRobustness() {
        spec.geometry = {.samples = 512, .a_scans = 8, .b_scans = 3};
        spec.block_b_scans = 3;
        spec.recipe.levels = Levels::fixed;
    }

    std::unique_ptr<Reconstructor> reconstructor(bool fused = true) const {
        BackendChoice choice{.backend = Backend::cuda};
        choice.fused = fused;
        return make_reconstructor(spec, choice);
    }

    Block block() const { return block_of(bytes_of_lines(spectra), 0, 3); }
};

template <class Call>
ErrorCode refusal(const Call& call) {
    try {
        call();
    } catch (const Error& error) {
        EXPECT_FALSE(error.problem().empty());
        return error.code();
    }
    ADD_FAILURE() << "nothing was refused";
    return ErrorCode::cancelled;
}

std::size_t free_bytes() {
    std::size_t free = 0, total = 0;
    EXPECT_EQ(cudaSuccess, cudaDeviceSynchronize());
    EXPECT_EQ(cudaSuccess, cudaMemGetInfo(&free, &total));
    return free;
}

int open_descriptors() {
    DIR* folder = opendir("/proc/self/fd");
    int count = 0;
    while (readdir(folder) != nullptr) ++count;
    closedir(folder);
    return count;
}

TEST_F(GpuRobustness, MappedHostMemoryIsNotDevicePlace) {
    for (const bool fused : {true, false}) {
        const auto gpu = reconstructor(fused);
        const VolumeGrid& grid = gpu->grid();
        const BlockMemory mapped = block_memory(grid.bytes());
        ASSERT_EQ(mapped.kind, MemoryKind::pinned);
        std::fill_n(mapped.data, mapped.bytes, std::byte{7});
        VoxelTarget place{TargetKind::device_linear, mapped.data, 0, grid.depth * 4, grid.a_scans * grid.depth * 4};
        EXPECT_EQ(refusal([&] { gpu->submit(block(), place); }), ErrorCode::bad_setting);
        cudaDeviceSynchronize();
        EXPECT_TRUE(
            std::all_of(mapped.data, mapped.data + mapped.bytes, [](std::byte b) { return b == std::byte{7}; }));

        // The reconstructor still works.
        place.kind = TargetKind::host_linear;
        gpu->wait(gpu->submit(block(), place));
        EXPECT_NE(mapped.data[0], std::byte{7});
    }
}

TEST_F(GpuRobustness, RejectsUnsuitablePlacesAndBlocks) {
    const auto gpu = reconstructor();
    const VolumeGrid& grid = gpu->grid();
    std::vector<float> voxels(index(grid.voxels()));
    const VoxelTarget good = place_of(voxels, grid);
    const auto refused = [&](auto change) {
        VoxelTarget place = good;
        Block given = block();
        change(place, given);
        return refusal([&] { gpu->submit(given, place); });
    };
    EXPECT_EQ(refused([](VoxelTarget& p, Block&) { p.data = nullptr; }), ErrorCode::bad_setting);
    EXPECT_EQ(refused([](VoxelTarget& p, Block&) { p.first_b_scan = 1; }), ErrorCode::bad_setting);
    EXPECT_EQ(refused([](VoxelTarget& p, Block&) { p.a_scan_bytes -= 1; }), ErrorCode::bad_setting);
    EXPECT_EQ(refused([](VoxelTarget& p, Block&) { p.b_scan_bytes = 1; }), ErrorCode::bad_setting);
    EXPECT_EQ(refused([](VoxelTarget& p, Block&) { p.kind = TargetKind::device_linear; }), ErrorCode::bad_setting);
    EXPECT_EQ(refused([](VoxelTarget&, Block& b) { b.b_scans = 4; }), ErrorCode::bad_setting);
    EXPECT_EQ(refused([](VoxelTarget&, Block& b) { b.bytes -= 1; }), ErrorCode::bad_setting);
    EXPECT_EQ(refused([](VoxelTarget&, Block& b) { b.memory = MemoryKind::device; }), ErrorCode::bad_setting);
    const OnDevice device(index(grid.bytes()));
    EXPECT_EQ(refused([&](VoxelTarget& p, Block&) { p.data = device.data(); }), ErrorCode::bad_setting);
    gpu->wait(gpu->submit(block(), good));
}

TEST_F(GpuRobustness, ReleasesBlocksAfterWork) {
    const auto gpu = reconstructor();
    std::vector<float> voxels(index(gpu->grid().voxels()));
    std::vector<std::weak_ptr<const void>> keepers;
    Completion last;
    for (int i = 0; i < 20; ++i) {
        const Block one = held_block(bytes_of_lines(spectra), MemoryKind::pinned, 0, 3);
        keepers.push_back(one.keeper);
        last = gpu->submit(one, place_of(voxels, gpu->grid()));
        const auto held = std::count_if(keepers.begin(), keepers.end(), [](const auto& k) { return !k.expired(); });
        EXPECT_LE(held, 4);  // three streams, and this block
    }
    gpu->wait(last);
    EXPECT_TRUE(keepers.back().expired());
}

// A source whose memory is all in use can submit nothing until some is released.
TEST_F(GpuRobustness, ReleasesBlocksWithoutFurtherSubmit) {
    const auto gpu = reconstructor();
    std::vector<float> voxels(index(gpu->grid().voxels()));
    std::vector<std::weak_ptr<const void>> keepers;
    for (int i = 0; i < 3; ++i) {
        const Block one = held_block(bytes_of_lines(spectra), MemoryKind::pinned, 0, 3);
        keepers.push_back(one.keeper);
        gpu->submit(one, place_of(voxels, gpu->grid()));
    }
    const auto all_gone = [&] {
        return std::all_of(keepers.begin(), keepers.end(), [](const auto& keeper) { return keeper.expired(); });
    };
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(30);
    while (!all_gone() && std::chrono::steady_clock::now() < end) gpu->collect();
    EXPECT_TRUE(all_gone());
    EXPECT_TRUE(std::any_of(voxels.begin(), voxels.end(), [](float v) { return v != 0; }));
}

// Pinned blocks to a place on the GPU: the plan allocates everything in advance.
TEST_F(GpuRobustness, SubmitAllocatesNoMemory) {
    spec.geometry = {.samples = 2048, .a_scans = 512, .b_scans = 32};
    spec.block_b_scans = 32;  // 64 MiB, far above the driver's granularity
    const auto many = moving_reflectors(2048, 512 * 32);
    const Block one = held_block(bytes_of_lines(many), MemoryKind::pinned, 0, 32);
    for (const bool fused : {true, false}) {
        const auto taken = [&] {
            const auto gpu = reconstructor(fused);
            const VolumeGrid& grid = gpu->grid();
            const OnDevice volume(index(grid.bytes()));
            const VoxelTarget place{TargetKind::device_linear, volume.data(), 0, grid.depth * 4,
                                    grid.a_scans * grid.depth * 4};
            const std::size_t free = free_bytes();
            for (int i = 0; i < 4; ++i) gpu->wait(gpu->submit(one, place));
            return static_cast<std::int64_t>(free) - static_cast<std::int64_t>(free_bytes());
        };
        taken();  // loads the kernels
        EXPECT_LT(taken(), std::int64_t{1} << 20) << (fused ? "fused" : "separate");
    }
}

TEST_F(GpuRobustness, OutOfMemoryIsErrorOnly) {
    ReconstructionSpec huge = spec;
    huge.geometry = {.samples = 1 << 16, .a_scans = 4, .b_scans = 1 << 22};
    huge.recipe.background = Background::frame_mean;
    huge.block_b_scans = huge.geometry.b_scans;  // 2^38 means: 1 TiB
    const BackendChoice choice{.backend = Backend::cuda};
    EXPECT_EQ(refusal([&] { make_reconstructor(huge, choice); }), ErrorCode::out_of_memory);
    const auto gpu = reconstructor();
    std::vector<float> voxels(index(gpu->grid().voxels()));
    gpu->wait(gpu->submit(block(), place_of(voxels, gpu->grid())));
}

TEST_F(GpuRobustness, RejectsMissingGpu) {
    BackendChoice choice{.backend = Backend::cuda};
    choice.gpu.fill(0xee);
    EXPECT_EQ(refusal([&] { make_reconstructor(spec, choice); }), ErrorCode::device);
}

TEST_F(GpuRobustness, SlowThousandCyclesLeakNoMemory) {
    const auto cycle = [&](int i) {
        const auto gpu = reconstructor(i % 2 == 0);
        std::vector<float> voxels(index(gpu->grid().voxels()));
        gpu->wait(gpu->submit(block(), place_of(voxels, gpu->grid())));
        if (i % 3 == 0) gpu->submit(block(), place_of(voxels, gpu->grid()));  // never waited for
    };
    for (int i = 0; i < 20; ++i) cycle(i);
    const std::size_t free = free_bytes();
    const int descriptors = open_descriptors();
    for (int i = 0; i < 1000; ++i) cycle(i);
    EXPECT_GE(free_bytes() + (std::size_t{8} << 20), free);  // less than 8 KiB per cycle; a reconstructor holds 50 MiB
    EXPECT_EQ(open_descriptors(), descriptors);
}

}  // namespace
}  // namespace echolux
