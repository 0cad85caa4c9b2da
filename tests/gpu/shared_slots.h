// Test access to slots shared by CUDA and Vulkan: the content of their textures and buffers.
#pragma once

#include <cuda_runtime.h>

#include "compute/cuda/transfers.h"
#include "compute/indexing.h"
#include "sharing.h"

namespace echolux::test {

// Reads the voxels of a shared texture or buffer through CUDA.
inline std::vector<std::byte> voxels_at(const VoxelTarget& place) {
    const auto& slot = *static_cast<const cuda::CudaSlot*>(place.data);
    const auto line = index(slot.depth * bytes_of(slot.type));
    const auto a_scans = index(slot.a_scans), b_scans = index(slot.b_scans);
    std::vector<std::byte> voxels(line * a_scans * b_scans);
    cudaMemcpy3DParms copy{};
    copy.extent = {index(slot.depth), a_scans, b_scans};
    copy.dstPtr = make_cudaPitchedPtr(voxels.data(), line, index(slot.depth), a_scans);
    copy.kind = cudaMemcpyDeviceToHost;
    if (slot.buffer != nullptr) {
        copy.extent.width = line;  // in bytes for copies between linear memory, in voxels if an array is involved
        copy.srcPtr = make_cudaPitchedPtr(slot.buffer, line, line, a_scans);
    } else {
        cudaResourceDesc resource{};
        EXPECT_EQ(cudaSuccess, cudaGetSurfaceObjectResourceDesc(&resource, slot.surface));
        copy.srcArray = resource.res.array.array;
    }
    EXPECT_EQ(cudaSuccess, cudaMemcpy3D(&copy));
    return voxels;
}

// A path through Vulkan textures that gives the test access to their places.
struct SeenPath {
    SeenPath(const ReconstructionSpec& spec, SlotKind kind, const BackendChoice& backend = on_gpu,
             LivePipelineOptions options = {}) {
        options.first_kind = kind;
        options.share = [this](const auto& exported, const auto& written, const auto& read) {
            count = exported.size();
            for (const ExportedSlot& slot : exported) has_flow = slot.flow.has_value();
            auto shared = share(exported, written, read);
            slots = shared.get();
            return shared;
        };
        path = std::make_unique<LivePipeline>(spec, backend, GpuDevice{}, options);
    }

    const SlotWriter* slots = nullptr;
    std::size_t count = 0;  // number of slots
    bool has_flow = false;
    std::unique_ptr<LivePipeline> path;
};

}  // namespace echolux::test
