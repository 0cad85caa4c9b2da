// Missing blocks on a GPU: the same voxels as on the CPU, in host and device memory, and the same running background
// afterwards.
#include "compute/indexing.h"
#include "tests/gpu/flow_scan.h"
#include "tests/support/set_fields.h"

namespace echolux {
namespace {

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

}  // namespace
}  // namespace echolux
