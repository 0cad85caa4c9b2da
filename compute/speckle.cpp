#include "compute/speckle.h"

#include "compute/device_memory.h"
#include "compute/error.h"
#ifdef ECHOLUX_CUDA
#include "compute/cuda/speckle.h"
#endif

namespace echolux {

#ifdef ECHOLUX_CUDA

std::unique_ptr<SpeckleFilterOnGpu> speckle_filter_on_gpu(const std::array<std::int64_t, 3>& size,
                                                          const SpeckleTables& tables, const BackendChoice& choice) {
    return cuda::speckle_filter(size, tables, choice);
}

#else

std::unique_ptr<SpeckleFilterOnGpu> speckle_filter_on_gpu(const std::array<std::int64_t, 3>&, const SpeckleTables&,
                                                          const BackendChoice&) {
    throw Error(ErrorCode::device, "this build has no CUDA backend", "cuda");  // no GPU is ever found
}

#endif

std::vector<float> filtered_on_gpu(const std::vector<float>& power, const std::array<std::int64_t, 3>& size,
                                   const SpeckleTables& tables, const BackendChoice& choice) {
    const auto filter = speckle_filter_on_gpu(size, tables, choice);
    std::vector<float> out(power.size());
    const auto bytes = static_cast<std::int64_t>(power.size() * sizeof(float));
    if (bytes == 0) return out;
    const BlockMemory from = device_memory(bytes, choice.gpu), to = device_memory(bytes, choice.gpu);
    copy_memory(from.data, reinterpret_cast<const std::byte*>(power.data()), bytes);
    (*filter)(reinterpret_cast<const float*>(from.data), reinterpret_cast<float*>(to.data));
    copy_memory(reinterpret_cast<std::byte*>(out.data()), to.data, bytes);
    return out;
}

}  // namespace echolux
