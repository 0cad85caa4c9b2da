// How the voxels of one GPU reach a target on another. Kernels write directly to targets on the same GPU.
#pragma once

namespace echolux {

enum class PeerPath {
    automatic,    // GPU to GPU, or through pinned memory if they have no peer access
    copied,       // GPU to GPU, even if the target is on the same GPU: for tests, and for a GPU listed twice
    through_host  // always through pinned memory
};

}  // namespace echolux
