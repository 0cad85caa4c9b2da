#include "render/vk/handle.h"

#include <unistd.h>

namespace echolux::gpu {

Handle::~Handle() {
    if (descriptor_ >= 0) close(descriptor_);
}

}  // namespace echolux::gpu
