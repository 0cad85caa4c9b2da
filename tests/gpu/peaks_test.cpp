// Peaks that kernels store with their voxels, for each path from bins to voxels: they equal the maxima of the voxels of
// the same run, computed on the host.
#include "compute/voxel_target.h"

#include "compute/error.h"
#include "compute/indexing.h"
#include "tests/gpu/gpu_run.h"
#include "tests/support/set_fields.h"

namespace echolux {
namespace {

struct Stored {
    std::vector<std::byte> voxels, peaks;
    VolumeGrid grid;
    std::string way;
};

constexpr std::int64_t a_gap = 6;  // bytes after each line of peaks

Stored stored(ReconstructionSpec spec, std::span<const std::byte> spectra, bool fused, std::int64_t depths,
              TargetKind kind, std::int64_t gap) {
    spec.block_b_scans = std::min<std::int64_t>(3, spec.geometry.b_scans);
    const auto reconstructor = make_reconstructor(spec, {.backend = Backend::cuda, .fused = fused});
    const VolumeGrid grid = reconstructor->grid();
    const std::int64_t a_pitch = peaks_of(grid.depth, depths) * bytes_of(grid.type) + gap;
    const auto peaks_bytes = index(a_pitch * grid.a_scans * grid.b_scans);
    Stored found{std::vector<std::byte>(index(grid.bytes())), std::vector<std::byte>(peaks_bytes), grid,
                 reconstructor->backend_description()};
    const OnDevice voxels(found.voxels.size()), peaks(peaks_bytes);
    const bool on_device = kind == TargetKind::device_linear;
    VoxelTargets targets(packed_target(on_device ? voxels.data() : found.voxels.data(), grid, 0, kind));
    targets.peaks =
        Peaks{{kind, on_device ? peaks.data() : found.peaks.data(), 0, a_pitch, a_pitch * grid.a_scans}, depths};
    std::vector<Completion> completions;
    for (std::int64_t first = 0; first < spec.geometry.b_scans; first += spec.block_b_scans) {
        const std::int64_t count = std::min(spec.block_b_scans, spec.geometry.b_scans - first);
        Block block = held_block(spectra.subspan(index(first * b_scan_bytes(spec)), index(count * b_scan_bytes(spec))),
                                 MemoryKind::host, first, count);
        block.sequence = static_cast<std::uint64_t>(completions.size());
        completions.push_back(reconstructor->submit(block, targets));
    }
    for (const Completion completion : completions) reconstructor->wait(completion);
    if (on_device) {
        copy_memory(found.voxels.data(), voxels.data(), grid.bytes());
        copy_memory(found.peaks.data(), peaks.data(), static_cast<std::int64_t>(peaks_bytes));
    }
    return found;
}

void expect_peaks(const ReconstructionSpec& spec, std::span<const std::byte> spectra) {
    for (const bool fused : {true, false}) {
        for (const std::int64_t depths : {4, 8}) {
            for (const auto& [kind, gap] : {std::pair{TargetKind::device_linear, std::int64_t{0}},
                                            {TargetKind::device_linear, 2 * a_gap},
                                            {TargetKind::host_linear, 2 * a_gap}}) {
                const Stored found = stored(spec, spectra, fused, depths, kind, gap);
                const std::int64_t of_line = peaks_of(found.grid.depth, depths) * bytes_of(found.grid.type);
                const std::int64_t count = found.grid.a_scans * found.grid.b_scans;
                std::vector<std::byte> expected(index(of_line));
                for (std::int64_t line = 0; line < count; ++line) {
                    store_peaks(found.grid.type, found.voxels.data() + line * found.grid.a_scan_bytes(),
                                found.grid.depth, depths, expected.data());
                    const std::byte* peaks = found.peaks.data() + line * (of_line + gap);
                    ASSERT_TRUE(std::equal(expected.begin(), expected.end(), peaks))
                        << found.way << ", peaks of " << depths << ", line " << line << ", gap " << gap;
                }
            }
        }
    }
}

ReconstructionSpec spec_of(std::int64_t samples, VoxelType type) {
    ReconstructionSpec spec = with(ReconstructionSpec{}, "a2_rad=12 levels=fixed");
    spec.geometry = {.samples = samples, .a_scans = 11, .b_scans = 7};
    spec.recipe.voxel = type;
    spec.calibration.k_polynomial = {1, static_cast<double>(samples) - 60, 40};
    return spec;
}

class PeaksOnGpu : public GpuTest {};

TEST_F(PeaksOnGpu, HoldLargestVoxels) {
    for (const std::int64_t samples : {512, 2048}) {
        const auto spectra = moving_reflectors(samples, 11 * 7);
        for (const VoxelType type : {VoxelType::u8, VoxelType::u16, VoxelType::f16, VoxelType::f32}) {
            SCOPED_TRACE(testing::Message() << samples << " samples, " << bytes_of(type) << " bytes");
            ReconstructionSpec spec = spec_of(samples, type);
            expect_peaks(spec, std::as_bytes(std::span(spectra)));
            spec.geometry.depth_flip = true;
            expect_peaks(spec, std::as_bytes(std::span(spectra)));
            set(spec, "depth_begin=5 depth_end=200");
            expect_peaks(spec, std::as_bytes(std::span(spectra)));
            set(spec, "depth_flip=false depth_begin=16");
            spec.recipe.depth_end = 16 + 208;
            expect_peaks(spec, std::as_bytes(std::span(spectra)));
        }
    }
}

TEST_F(PeaksOnGpu, AreWrittenByEveryVoxelPath) {
    const auto spectra = moving_reflectors(512, 11 * 7 * 4);
    ReconstructionSpec frames = with(spec_of(512, VoxelType::u8), "levels=frame quantity=amplitude");
    expect_peaks(frames, std::as_bytes(std::span(spectra)).first(512 * 2 * 11 * 7));
    ReconstructionSpec bidirectional = spec_of(512, VoxelType::u8);
    bidirectional.geometry.bidirectional = true;
    expect_peaks(bidirectional, std::as_bytes(std::span(spectra)).first(512 * 2 * 11 * 7));
    ReconstructionSpec repeats = with(spec_of(512, VoxelType::u16), "a_repeats=2 b_repeats=2 average=power");
    expect_peaks(repeats, std::as_bytes(std::span(spectra)));
    ReconstructionSpec nufft = spec_of(512, VoxelType::u8);
    nufft.recipe.resample = Resample::nufft;
    nufft.recipe.depth_end = 240;
    expect_peaks(nufft, std::as_bytes(std::span(spectra)).first(512 * 2 * 11 * 7));
    ReconstructionSpec any = spec_of(512, VoxelType::u8);
    any.recipe.fixed_pattern = FixedPattern::median;
    expect_peaks(any, std::as_bytes(std::span(spectra)).first(512 * 2 * 11 * 7));
}

TEST_F(PeaksOnGpu, RejectComplexVoxels) {
    ReconstructionSpec spec = spec_of(512, VoxelType::complex64);
    spec.recipe.quantity = Quantity::complex;
    const auto spectra = moving_reflectors(512, 11 * 7);
    EXPECT_THROW(stored(spec, std::as_bytes(std::span(spectra)), true, 8, TargetKind::device_linear, 0), Error);
}

}  // namespace
}  // namespace echolux
