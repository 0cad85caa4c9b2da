#include "engine/gpu_recovery.h"

#include <utility>

namespace echolux {

bool GpuRecovery::recovers(const Error& problem, Backend processor, Clock::time_point now) {
    if (!is_of_gpu(problem, processor) || insists_on_gpu(backend_)) return false;
    const std::optional<Clock::time_point> before = std::exchange(failed_at_, now);
    if (before && now - *before <= forgotten_after) backend_ = {.backend = Backend::cpu};
    return true;
}

}  // namespace echolux
