#include "compute/chosen_processor.h"

#include "compute/error.h"

namespace echolux {

ProcessorUsed on_gpu_or_cpu(const BackendChoice& choice, const std::function<void()>& on_gpu,
                            const std::function<void()>& on_cpu) {
    require_backend(choice);
    ProcessorUsed used;
    if (insists_on_gpu(choice)) {
        on_gpu();
        return {Backend::cuda};
    }
    if (choice.backend == Backend::automatic && !surveyed_gpus().usable.empty()) {
        try {
            on_gpu();
            return {Backend::cuda};
        } catch (const Error& refusal) {
            if (refusal.code() != ErrorCode::device && refusal.code() != ErrorCode::out_of_memory) throw;
            used.refusal = refusal.line() + ": the CPU does it instead";
        }
    }
    on_cpu();
    return used;
}

}  // namespace echolux
