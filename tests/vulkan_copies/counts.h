// Counters that the layer passes to a test.
#pragma once

#include <cstdint>

namespace echolux::test {

// Copies into host-mapped memory since the layer was loaded.
struct VulkanCopies {
    std::int64_t copies = 0;          // recorded regions: copied, blitted, resolved, or query results
    std::int64_t bytes = 0;           // sum over these regions
    std::int64_t shader_targets = 0;  // bound buffers and images that shaders could write to
    std::int64_t instances = 0;       // created through the layer; 0: the layer was not active
};

}  // namespace echolux::test
