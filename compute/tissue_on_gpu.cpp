#include "compute/tissue_on_gpu.h"

#include "compute/error.h"
#ifdef ECHOLUX_CUDA
#include "compute/cuda/entry.h"
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

std::shared_ptr<RegistrationOnGpu> registration_on_gpu(const BackendChoice& choice) {
    return cuda::registration(choice);
}

std::unique_ptr<VolumeOnGpu> volume_on_gpu(const VolumeOnGpuOptions& wanted, const BackendChoice& choice) {
    return cuda::volume_on_gpu(wanted, choice);
}

#else

namespace {

[[noreturn]] void refuse() {
    throw Error(ErrorCode::device, "this build has no CUDA backend", "cuda");  // unreachable: no GPU is found
}

}  // namespace

std::unique_ptr<BoundarySearch> boundary_search_on_gpu(const std::vector<float>&, const LayerTables&,
                                                       const BackendChoice&) {
    refuse();
}

std::unique_ptr<SurfaceSearchOnGpu> surface_search_on_gpu(const float*, const SurfaceTables&, const BackendChoice&) {
    refuse();
}

std::shared_ptr<RegistrationOnGpu> registration_on_gpu(const BackendChoice&) {
    refuse();
}

std::unique_ptr<VolumeOnGpu> volume_on_gpu(const VolumeOnGpuOptions&, const BackendChoice&) {
    refuse();
}

#endif

}  // namespace echolux
