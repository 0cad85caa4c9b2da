#include "engine/gpu_recovery.h"

#include <utility>

namespace echolux {

bool GpuRecovery::recovers(const Error& problem, Backend processor, Clock::time_point now) {
    if (!is_of_gpu(problem, processor) || insists_on_gpu(backend_)) return false;
    const std::optional<Clock::time_point> before = std::exchange(failed_at_, now);
    if (before && now - *before <= forgotten_after) backend_ = {.backend = Backend::cpu};
    return true;
}

// Naming the remaining GPUs also excludes a device that is listed twice.
void GpuRecovery::leave_out_failed(const std::vector<DeviceWork>& devices) {
    backend_.named_gpus.clear();
    for (const DeviceWork& device : devices) {
        if (device.failure.empty()) backend_.named_gpus.push_back(device.id);
    }
}

}  // namespace echolux
