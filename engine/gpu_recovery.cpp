#include "engine/gpu_recovery.h"

#include <utility>

namespace echolux {

bool GpuRecovery::recovers(const Error& problem, Backend processor) {
    if (!is_of_gpu(problem, processor) || insists_on_gpu(backend_)) return false;
    if (std::exchange(has_failed_, true)) backend_ = {.backend = Backend::cpu};
    return true;
}

}  // namespace echolux
