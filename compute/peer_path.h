// How the voxels of one GPU get to a place on another. A place on the same GPU is written by kernels.
#pragma once

namespace echolux {

enum class PeerPath {
    automatic,    // copied from GPU to GPU, through pinned memory where they have no access to each other
    copied,       // the same, also where the place is on the same GPU: for tests, and for a GPU that counts twice
    through_host  // through pinned memory in any case
};

}  // namespace echolux
