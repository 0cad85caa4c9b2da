// Structure and flow of a time point in two textures of Vulkan, written by CUDA and published together: each holds what
// plain memory holds, by each way to share.
#include <cuda_runtime.h>

#include "compute/cuda/slot.h"
#include "flow_scan.h"
#include "sharing.h"

namespace echolux::test {
namespace {

// The voxels of a shared texture or buffer, read by CUDA.
std::vector<std::byte> voxels_at(const Place& place) {
    const auto& slot = *static_cast<const cuda::CudaSlot*>(place.data);
    const auto line = static_cast<std::size_t>(slot.depth * bytes_of(slot.type));
    const auto a_scans = static_cast<std::size_t>(slot.a_scans), b_scans = static_cast<std::size_t>(slot.b_scans);
    std::vector<std::byte> voxels(line * a_scans * b_scans);
    cudaMemcpy3DParms copy{};
    copy.extent = {static_cast<std::size_t>(slot.depth), a_scans, b_scans};
    copy.dstPtr = make_cudaPitchedPtr(voxels.data(), line, static_cast<std::size_t>(slot.depth), a_scans);
    copy.kind = cudaMemcpyDeviceToHost;
    if (slot.buffer != nullptr) {
        copy.extent.width = line;  // counted in bytes between memories, in voxels where an array is one of them
        copy.srcPtr = make_cudaPitchedPtr(slot.buffer, line, line, a_scans);
    } else {
        cudaResourceDesc resource{};
        EXPECT_EQ(cudaSuccess, cudaGetSurfaceObjectResourceDesc(&resource, slot.surface));
        copy.srcArray = resource.res.array.array;
    }
    EXPECT_EQ(cudaSuccess, cudaMemcpy3D(&copy));
    return voxels;
}

// A way through textures of Vulkan that lets the test see their places.
struct SeenPath {
    SeenPath(const ReconstructionSpec& spec, SlotKind kind) {
        VolumePathOptions options;
        options.first_kind = kind;
        options.share = [this](const auto& exported, const auto& written, const auto& read) {
            for (const ExportedSlot& slot : exported) has_flow = slot.flow.has_value();
            auto shared = share(exported, written, read);
            slots = shared.get();
            return shared;
        };
        path = std::make_unique<LoneVolumePath>(spec, on_gpu, DeviceChoice{}, options);
    }

    const SharedSlots* slots = nullptr;
    bool has_flow = false;
    std::unique_ptr<VolumePath> path;
};

TEST_F(Sharing, FlowLiesBesideTheStructure) {
    for (const SlotKind kind : {SlotKind::surface, SlotKind::buffer}) {
        for (const FlowMethod method : {FlowMethod::doppler, FlowMethod::power_doppler}) {
            SCOPED_TRACE(testing::Message() << "kind " << static_cast<int>(kind) << ", " << static_cast<int>(method));
            ReconstructionSpec spec = flow_scan_spec();
            spec.flow.method = method;
            spec.block_b_scans = 2;
            SeenPath seen(spec, kind);
            ASSERT_EQ(seen.path->kind(), kind) << seen.path->describe();
            ASSERT_TRUE(seen.has_flow);
            const auto spectra = drifting_reflectors(spec);
            const auto bytes = bytes_of_lines(spectra);
            const FlowScan expected = flow_scan(spec, bytes, {.block_b_scans = 5});
            const auto flow_bytes = std::as_bytes(std::span(expected.flow));
            for (std::int64_t volume = 0; volume < 6; ++volume) {  // each slot more than once
                for (std::int64_t first = 0; first < spec.geometry.b_scans; first += 2) {
                    const std::int64_t count = std::min<std::int64_t>(2, spec.geometry.b_scans - first);
                    Block block = held_block(bytes.subspan(static_cast<std::size_t>(first * b_scan_bytes(spec)),
                                                           static_cast<std::size_t>(count * b_scan_bytes(spec))),
                                             MemoryKind::pinned, first, count);
                    block.volume = volume;
                    ASSERT_TRUE(seen.path->feed(block));
                }
                EXPECT_EQ(seen.path->read_volume()->voxels, expected.structure);
            }
            seen.path->finish();
            const Places places = seen.slots->places(0);
            ASSERT_TRUE(places.flow);
            EXPECT_EQ(voxels_at(places.structure), expected.structure);
            const auto flow = voxels_at(*places.flow);
            EXPECT_TRUE(std::ranges::equal(flow, flow_bytes));
        }
    }
}

}  // namespace
}  // namespace echolux::test
