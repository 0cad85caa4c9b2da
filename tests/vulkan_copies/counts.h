// What the layer counts, as it hands it to a test.
#pragma once

#include <cstdint>

namespace echolux::test {

// Into memory that the host has mapped, since the layer was loaded.
struct VulkanCopies {
    std::int64_t copies = 0;          // recorded regions: copied, blitted, resolved, or results of queries
    std::int64_t bytes = 0;           // of these
    std::int64_t shader_targets = 0;  // bound buffers and images that shaders could write to
    std::int64_t instances = 0;       // made through the layer; none: nothing was seen
};

}  // namespace echolux::test
