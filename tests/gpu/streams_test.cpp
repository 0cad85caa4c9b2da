// The bits are the same for any number of streams, any block size, and any kind of memory on either side. Offsets may
// exceed 32 bits.
#include <gmock/gmock.h>
#include <functional>

#include "compute/ceilings.h"
#include "compute/gpu_backend.h"
#include "compute/indexing.h"
#include "tests/gpu/flow_scan.h"
#include "tests/gpu/gpu_run.h"
#include "tests/oracle/variants.h"
#include "tests/support/set_fields.h"

namespace echolux {
namespace {

constexpr std::int64_t samples = 1024, a_scans = 9, b_scans = 7;

const std::vector<Variant> variants = variants_and({
    {"half", "voxel=f16"},
    {"complex", "quantity=complex voxel=complex64"},
    {"any_length", "samples=832 k_polynomial=1,800,20"},
});

class GpuStream : public GpuTest, public testing::WithParamInterface<std::tuple<Variant, bool>> {
  protected:
    ReconstructionSpec spec;
    std::vector<std::uint16_t> spectra;  // of two volumes
    bool fused = true;

    GpuStream() {
        set(spec, "a2_rad=12 levels=fixed background=frame_mean k_polynomial=1,980,30");
        spec.geometry = {.samples = samples, .a_scans = a_scans, .b_scans = b_scans, .volumes = 2};
        set(spec, std::get<0>(GetParam()).assignments);
        fused = std::get<1>(GetParam());
        const std::int64_t lines = 2 * b_scans * spec.geometry.b_repeats * spec.geometry.lines_per_b_scan();
        spectra = moving_reflectors(spec.geometry.samples, lines);
    }

    std::vector<std::byte> voxels(GpuRun run) const {
        run.choice.fused = fused;
        return voxels_of<std::byte>(spec, bytes_of_lines(spectra), run);
    }

    std::vector<std::byte> whole() const {
        GpuRun run{.block_b_scans = b_scans};
        run.choice.streams = 1;
        return voxels(run);
    }
};

TEST_P(GpuStream, BlocksAndStreamsChangeNoBit) {
    const auto expected = whole();
    for (const int streams : {1, 2, 3, 5}) {
        for (const std::int64_t size : {1, 2, 3, 7}) {
            GpuRun run{.block_b_scans = size};
            run.choice.streams = streams;
            EXPECT_EQ(voxels(run), expected) << streams << " streams, blocks of " << size;
        }
    }
}

TEST_P(GpuStream, KindsOfBlockMemoryChangeNoBit) {
    const auto expected = whole();
    for (const MemoryKind kind : {MemoryKind::host, MemoryKind::pinned, MemoryKind::device}) {
        EXPECT_EQ(voxels({.block_b_scans = 2, .from = kind}), expected) << static_cast<int>(kind);
    }
    GpuRun direct{.block_b_scans = 2, .from = MemoryKind::pinned};
    direct.choice.spectra = SpectraPath::direct;
    EXPECT_EQ(voxels(direct), expected) << "read over the link";
}

TEST_P(GpuStream, PrimedStartChangesNoBit) {
    const auto expected = whole();
    spec.geometry.volumes = 1;
    spec.block_b_scans = 2;
    BackendChoice choice{.backend = Backend::cuda};
    choice.fused = fused;
    const auto reconstructor = make_reconstructor(spec, choice);
    std::vector<std::byte> found(index(reconstructor->grid().bytes()));
    const auto bytes = bytes_of_lines(spectra);
    for (std::int64_t first = 0; first < b_scans; first += 2) {
        const std::int64_t count = std::min<std::int64_t>(2, b_scans - first);
        const Block block =
            block_of(bytes.subspan(index(first * b_scan_bytes(spec)), index(count * b_scan_bytes(spec))), first, count);
        if (first < 4) {
            reconstructor->prime(block);
        } else {
            reconstructor->wait(reconstructor->submit(block, place_of(found, reconstructor->grid())));
        }
    }
    const auto skipped = static_cast<std::ptrdiff_t>(found.size() / b_scans * 4);
    EXPECT_TRUE(std::equal(found.begin() + skipped, found.end(), expected.begin() + skipped));
    EXPECT_TRUE(std::all_of(found.begin(), found.begin() + skipped, [](std::byte b) { return b == std::byte{0}; }));
}

// Pageable, pinned and device memory, with and without gaps.
TEST_P(GpuStream, KindsOfPlaceChangeNoBit) {
    const auto expected = whole();
    spec.geometry.volumes = 1;
    spec.block_b_scans = 3;
    BackendChoice choice{.backend = Backend::cuda};
    choice.fused = fused;
    const auto reconstructor = make_reconstructor(spec, choice);
    const VolumeGrid& grid = reconstructor->grid();
    const std::int64_t line = grid.depth * bytes_of(grid.type);
    for (const std::int64_t gap : {std::int64_t{0}, 3 * bytes_of(grid.type)}) {
        VoxelTarget place;
        place.a_scan_bytes = line + gap;
        place.b_scan_bytes = grid.a_scans * place.a_scan_bytes + 2 * gap;
        const auto bytes = index(grid.b_scans * place.b_scan_bytes);
        const auto check = [&](const std::byte* found, const char* kind) {
            for (std::int64_t b = 0; b < grid.b_scans; ++b) {
                for (std::int64_t a = 0; a < grid.a_scans; ++a) {
                    ASSERT_EQ(0, std::memcmp(found + b * place.b_scan_bytes + a * place.a_scan_bytes,
                                             expected.data() + (b * grid.a_scans + a) * line, index(line)))
                        << kind << " gap " << gap << " at " << b << ", " << a;
                }
            }
        };
        const GpuRun run{.block_b_scans = 3};
        std::vector<std::byte> pageable(bytes);
        place.data = pageable.data();
        run_scan(*reconstructor, spec, bytes_of_lines(spectra), run, place, 0);
        check(pageable.data(), "pageable");

        const BlockMemory pinned = block_memory(static_cast<std::int64_t>(bytes));
        ASSERT_EQ(pinned.kind, MemoryKind::pinned);
        place.data = pinned.data;
        run_scan(*reconstructor, spec, bytes_of_lines(spectra), run, place, 0);
        check(pinned.data, "pinned");

        const OnDevice device(bytes);
        place.kind = TargetKind::device_linear;
        place.data = device.data();
        run_scan(*reconstructor, spec, bytes_of_lines(spectra), run, place, 0);
        ASSERT_EQ(cudaSuccess, cudaMemcpy(pageable.data(), device.data(), bytes, cudaMemcpyDeviceToHost));
        check(pageable.data(), "device");
    }
}

INSTANTIATE_TEST_SUITE_P(Variants, GpuStream, testing::Combine(testing::ValuesIn(variants), testing::Bool()),
                         [](const auto& test) {
                             return std::get<0>(test.param).name + (std::get<1>(test.param) ? "_fused" : "_separate");
                         });

// The mean over a B-scan equals the CPU's to the last bit, so constant spectra give exactly zero.
class GpuBackground : public GpuTest {};

TEST_F(GpuBackground, RemovesConstantSpectra) {
    ReconstructionSpec spec;
    spec.geometry = {.samples = 1024, .a_scans = 77, .b_scans = 3};
    spec.recipe.quantity = Quantity::intensity;
    for (const Background mode : {Background::frame_mean, Background::median}) {
        spec.recipe.background = mode;
        std::vector<std::uint16_t> spectra(1024 * 77 * 3);
        for (std::size_t i = 0; i < spectra.size(); ++i) spectra[i] = static_cast<std::uint16_t>(i % 1024 * 63);
        for (const bool fused : {true, false}) {
            GpuRun run{.block_b_scans = 2};
            run.choice.fused = fused;
            const auto found = voxels_of<float>(spec, bytes_of_lines(spectra), run);
            EXPECT_TRUE(std::all_of(found.begin(), found.end(), [](float v) { return v == 0; }))
                << static_cast<int>(mode);
        }
    }
}

// Offsets beyond 32 bits in spectra and voxels, for fused and separate kernels.
class GpuLarge : public GpuTest, public testing::WithParamInterface<bool> {
  protected:
    ReconstructionSpec spec;

    GpuLarge() { spec.recipe.levels = Levels::fixed; }

    std::unique_ptr<Reconstructor> reconstructor() const {
        BackendChoice choice{.backend = Backend::cuda};
        choice.fused = GetParam();
        choice.spectra = SpectraPath::direct;  // no copy of blocks that are already on the GPU
        choice.streams = 1;
        return make_reconstructor(spec, choice);
    }

    static bool holds(std::int64_t bytes) {
        std::size_t free = 0, total = 0;
        EXPECT_EQ(cudaSuccess, cudaMemGetInfo(&free, &total));
        return static_cast<std::int64_t>(free) >= bytes + (std::int64_t{2} << 30);
    }

    static std::vector<std::byte> from_device(const std::byte* data, std::int64_t bytes) {
        std::vector<std::byte> copy(index(bytes));
        EXPECT_EQ(cudaSuccess, cudaMemcpy(copy.data(), data, copy.size(), cudaMemcpyDeviceToHost));
        return copy;
    }
};

// A device volume of f32 beyond 4 GiB: its last B-scans equal the first.
TEST_P(GpuLarge, SlowVolumeBeyond32Bits) {
    spec.geometry = {.samples = 2048, .a_scans = 1024, .b_scans = 1100};
    spec.block_b_scans = 4;
    const auto spectra = moving_reflectors(2048, 1024 * 4);
    const auto gpu = reconstructor();
    const VolumeGrid& grid = gpu->grid();
    ASSERT_GT(grid.bytes(), std::int64_t{1} << 32);
    if (!holds(grid.bytes())) GTEST_SKIP() << "too little GPU memory";
    const OnDevice volume(index(grid.bytes()));
    const VoxelTarget place{TargetKind::device_linear, volume.data(), 0, grid.depth * 4, grid.a_scans * grid.depth * 4};
    gpu->wait(gpu->submit(block_of(bytes_of_lines(spectra), 0, 4), place));
    gpu->wait(gpu->submit(block_of(bytes_of_lines(spectra), 1096, 4), place));
    const std::int64_t bytes = 4 * place.b_scan_bytes;
    const auto begin = from_device(volume.data(), bytes);
    EXPECT_EQ(from_device(volume.data() + 1096 * place.b_scan_bytes, bytes), begin);
    EXPECT_TRUE(std::any_of(begin.begin(), begin.end(), [](std::byte b) { return b != std::byte{0xcd}; }));
}

// One block of spectra beyond 4 GiB that repeats the same B-scans: all results are equal, and equal to those of the
// first B-scans in a separate block.
TEST_P(GpuLarge, SlowBlockBeyond32Bits) {
    constexpr std::int64_t period = 4, repeats = 259;
    set(spec, "background=frame_mean voxel=u8");
    spec.geometry = {.samples = 2048, .a_scans = 1024, .b_scans = period * repeats};
    spec.block_b_scans = spec.geometry.b_scans;
    const auto spectra = moving_reflectors(2048, 1024 * period);
    const auto bytes = bytes_of_lines(spectra);
    const std::int64_t raw_bytes = std::ssize(bytes) * repeats;
    ASSERT_GT(raw_bytes, std::int64_t{1} << 32);
    if (!holds(2 * raw_bytes)) GTEST_SKIP() << "too little GPU memory";
    const OnDevice raw(index(raw_bytes));
    for (std::int64_t i = 0; i < repeats; ++i) {
        copy_memory(raw.data() + i * std::ssize(bytes), bytes.data(), std::ssize(bytes));
    }
    const auto gpu = reconstructor();
    const VolumeGrid& grid = gpu->grid();
    const OnDevice volume(index(grid.bytes()));
    const VoxelTarget place{TargetKind::device_linear, volume.data(), 0, grid.depth, grid.a_scans * grid.depth};
    Block block{.data = raw.data(), .bytes = raw_bytes, .memory = MemoryKind::device, .b_scans = spec.geometry.b_scans};
    gpu->wait(gpu->submit(block, place));
    const std::int64_t period_bytes = period * place.b_scan_bytes;
    const auto first = from_device(volume.data(), period_bytes);
    for (std::int64_t i = 1; i < repeats; ++i) {
        ASSERT_EQ(from_device(volume.data() + i * period_bytes, period_bytes), first) << "B-scans from " << i * period;
    }
    ASSERT_EQ(cudaSuccess, cudaMemset(volume.data(), 0, index(period_bytes)));
    block.b_scans = period;
    gpu->wait(gpu->submit(block, place));
    EXPECT_EQ(from_device(volume.data(), period_bytes), first);
}

INSTANTIATE_TEST_SUITE_P(SweepPaths, GpuLarge, testing::Bool(),
                         [](const auto& test) { return test.param ? "fused" : "separate"; });

// ---- missing blocks -------------------------------------------------------------------------------------------------

class GpuMissing : public GpuTest, public testing::WithParamInterface<VoxelType> {
  protected:
    GpuMissing() {
        set(spec, "b_scans=6 background=running");
        spec.recipe.voxel = GetParam();
        spec.block_b_scans = 2;
        const std::int64_t lines = spec.geometry.b_scans * spec.geometry.lines_per_b_scan();
        spectra = moving_reflectors(spec.geometry.samples, lines);
    }

    // Returns structure, then flow; the block that begins with `missing` is missing.
    std::vector<std::byte> voxels(Backend backend, TargetKind kind, std::int64_t missing) const {
        const auto reconstructor = make_reconstructor(spec, {.backend = backend});
        const VolumeGrid grid = reconstructor->grid(), flow = reconstructor->flow_grid().value();
        std::vector<std::byte> found(index(grid.bytes() + flow.bytes()));
        const OnDevice memory(found.size());
        std::byte* const begin = kind == TargetKind::device_linear ? memory.data() : found.data();
        const VoxelTargets targets(packed_target(begin, grid, 0, kind),
                                   packed_target(begin + grid.bytes(), flow, 0, kind));
        std::vector<Completion> completions;
        for (std::int64_t first = 0; first < spec.geometry.b_scans; first += spec.block_b_scans) {
            const std::int64_t bytes = b_scan_bytes(spec) * spec.block_b_scans;
            Block block = held_block(bytes_of_lines(spectra).subspan(index(first * b_scan_bytes(spec)), index(bytes)),
                                     MemoryKind::host, first, spec.block_b_scans);
            if (first == missing) {
                block = {};
                block.first_b_scan = first;
                block.b_scans = spec.block_b_scans;
            }
            block.sequence = static_cast<std::uint64_t>(completions.size());
            completions.push_back(reconstructor->submit(block, targets));
        }
        for (const Completion completion : completions) reconstructor->wait(completion);
        if (kind == TargetKind::device_linear) copy_memory(found.data(), memory.data(), std::ssize(found));
        return found;
    }

    // Returns the missing B-scans.
    std::span<const std::byte> part(const std::vector<std::byte>& all, std::int64_t first) const {
        const std::int64_t bytes = planned_grid(spec).b_scan_bytes();
        return std::span(all).subspan(index(first * bytes), index(spec.block_b_scans * bytes));
    }

    ReconstructionSpec spec = flow_scan_spec();
    std::vector<std::uint16_t> spectra;
};

TEST_P(GpuMissing, MatchVoxelsOfCpu) {
    for (const std::int64_t missing : {0, 2, 4}) {
        SCOPED_TRACE(missing);
        const auto cpu = voxels(Backend::cpu, TargetKind::host_linear, missing);
        const auto host = voxels(Backend::cuda, TargetKind::host_linear, missing);
        EXPECT_TRUE(std::ranges::equal(part(host, missing), part(cpu, missing)));
        EXPECT_EQ(voxels(Backend::cuda, TargetKind::device_linear, missing), host);
    }
}

INSTANTIATE_TEST_SUITE_P(Types, GpuMissing,
                         testing::Values(VoxelType::u8, VoxelType::u16, VoxelType::f16, VoxelType::f32));

// ---- published methods for the mean spectrum ------------------------------------------------------------------------

class FrameMeansOnGpu : public GpuTest {};

TEST_F(FrameMeansOnGpu, AllWaysAgree) {
    for (const FrameMeans& of : {FrameMeans{100, 37, 3}, FrameMeans{832, 240, 4}, FrameMeans{31, 1, 1}}) {
        std::vector<std::string> keys;
        required_gpu().measure_frame_means({}, of, {.repetitions = 1, .seconds = 0}, [&](const Ceiling& ceiling) {
            keys.push_back(ceiling.key);
            EXPECT_GT(ceiling.rates.at(0), 0);
        });
        EXPECT_THAT(keys, testing::ElementsAre("mean.serial", "mean.transposed", "mean.product"));
    }
}

}  // namespace
}  // namespace echolux
