#include "compute/sharing.h"

#include <unistd.h>

#include "compute/error.h"

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

#ifndef ECHOLUX_CUDA
std::unique_ptr<SlotWriter> share(const std::vector<ExportedSlot>& slots, const ExportedTimeline& written,
                                  const ExportedTimeline& read) {
    close_handles(slots);
    close_handle(written.handle);
    close_handle(read.handle);
    throw Error(ErrorCode::device, "this build has no CUDA", "sharing textures");
}
#endif

}  // namespace echolux
