// What the layer counts, as it hands it to a test.
#pragma once

#include <cstdint>

namespace echolux::test {

// Into memory that the host has mapped, since the process began.
struct VulkanCopies {
    std::int64_t copies = 0;
    std::int64_t bytes = 0;
    std::int64_t storage_buffers = 0;  // that shaders could write to
};

}  // namespace echolux::test
