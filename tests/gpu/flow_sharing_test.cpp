// Structure and flow of a time point in two Vulkan textures, written by CUDA and published together: each holds the
// voxels of plain memory, for each way of sharing.
#include "compute/indexing.h"
#include "flow_scan.h"
#include "shared_slots.h"

namespace echolux::test {
namespace {

TEST_F(Sharing, WritesFlowBesideStructure) {
    for (const SlotKind kind : {SlotKind::surface, SlotKind::buffer}) {
        for (const FlowMethod method : {FlowMethod::doppler, FlowMethod::power_doppler}) {
            SCOPED_TRACE(testing::Message() << "kind " << static_cast<int>(kind) << ", " << static_cast<int>(method));
            ReconstructionSpec spec = flow_scan_spec();
            spec.flow.method = method;
            spec.block_b_scans = 2;
            SeenPath seen(spec, kind);
            ASSERT_EQ(seen.path->feeder.kind(), kind) << seen.path->feeder.describe();
            ASSERT_TRUE(seen.has_flow);
            const auto spectra = drifting_reflectors(spec);
            const auto bytes = bytes_of_lines(spectra);
            const FlowScan expected = flow_scan(spec, bytes, {.block_b_scans = 5});
            const auto flow_bytes = std::as_bytes(std::span(expected.flow));
            for (std::int64_t volume = 0; volume < 6; ++volume) {  // uses each slot more than once
                for (std::int64_t first = 0; first < spec.geometry.b_scans; first += 2) {
                    const std::int64_t count = std::min<std::int64_t>(2, spec.geometry.b_scans - first);
                    Block block =
                        held_block(bytes.subspan(index(first * b_scan_bytes(spec)), index(count * b_scan_bytes(spec))),
                                   MemoryKind::pinned, first, count);
                    block.volume = volume;
                    ASSERT_TRUE(seen.path->feeder.feed(block));
                }
                EXPECT_EQ(seen.path->display.read_volume()->voxels, expected.structure);
            }
            seen.path->feeder.finish();
            const VoxelTargets targets = seen.slots->targets(0);
            ASSERT_TRUE(targets.flow);
            EXPECT_EQ(voxels_at(targets.structure), expected.structure);
            const auto flow = voxels_at(*targets.flow);
            EXPECT_TRUE(std::ranges::equal(flow, flow_bytes));
        }
    }
}

}  // namespace
}  // namespace echolux::test
