#include "compute/sharing.h"

#include <unistd.h>

#include "compute/gpu_backend.h"

namespace echolux {

void close_handle(int handle) {
    if (handle >= 0) close(handle);
}

void close_handles(const std::vector<ExportedSlot>& slots) {
    for (const ExportedSlot& slot : slots) {
        close_handle(slot.structure.handle);
        if (slot.flow) close_handle(slot.flow->handle);
        if (slot.peaks) close_handle(slot.peaks->handle);
    }
}

std::unique_ptr<SlotWriter> share(const std::vector<ExportedSlot>& slots, const ExportedTimeline& written,
                                  const ExportedTimeline& read) {
    if (const GpuBackend* gpu = gpu_backend()) return gpu->share(slots, written, read);
    close_handles(slots);
    close_handle(written.handle);
    close_handle(read.handle);
    required_gpu();  // throws
    return nullptr;
}

}  // namespace echolux
