#include "compute/layers.h"

#include "compute/error.h"
#ifdef ECHOLUX_CUDA
#include "compute/cuda/boundaries.h"
#endif

namespace echolux {

#ifdef ECHOLUX_CUDA

std::unique_ptr<BoundarySearch> boundary_search_on_gpu(const std::vector<float>& intensity, const LayerTables& tables,
                                                       const BackendChoice& choice) {
    return cuda::boundary_search(intensity, tables, choice);
}

std::unique_ptr<SurfaceSearchOnGpu> surface_search_on_gpu(const float* intensity, const SurfaceTables& tables,
                                                          const BackendChoice& choice) {
    return cuda::surface_search(intensity, tables, choice);
}

#else

std::unique_ptr<BoundarySearch> boundary_search_on_gpu(const std::vector<float>&, const LayerTables&,
                                                       const BackendChoice&) {
    throw Error(ErrorCode::device, "this build has no CUDA backend", "cuda");  // unreachable: no GPU is found
}

std::unique_ptr<SurfaceSearchOnGpu> surface_search_on_gpu(const float*, const SurfaceTables&, const BackendChoice&) {
    throw Error(ErrorCode::device, "this build has no CUDA backend", "cuda");
}

#endif

}  // namespace echolux
