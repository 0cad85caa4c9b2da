#include "compute/sharing.h"

#include <unistd.h>

#include "compute/error.h"

namespace echolux {

void close_handle(int handle) {
    if (handle >= 0) close(handle);
}

#ifndef ECHOLUX_CUDA
std::unique_ptr<SharedSlots> share(const std::vector<ExportedImage>& slots, const ExportedTimeline& written,
                                   const ExportedTimeline& read) {
    for (const ExportedImage& slot : slots) close_handle(slot.handle);
    close_handle(written.handle);
    close_handle(read.handle);
    throw Error(ErrorCode::device, "this build has no CUDA", "sharing textures");
}
#endif

}  // namespace echolux
