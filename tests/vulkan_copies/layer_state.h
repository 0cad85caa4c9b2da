// What the counting layer knows of a process: see layer.cpp.
#pragma once

#include <vulkan/vulkan.h>

#include <cstdint>
#include <map>
#include <mutex>

namespace echolux::test {

struct Resource {           // a buffer or an image
    std::uint64_t memory;   // id of the allocation; 0: not bound
    VkFormat format;        // of an image
    bool shader_may_write;  // has storage usage
};

struct Allocation {
    bool mapped = false;
    std::int64_t copies = 0;
    std::int64_t bytes = 0;
    std::int64_t shader_targets = 0;
};

// Everything the layer knows. Handles of all devices of a process live in one space here: tests use few.
struct State {
    std::mutex mutex;
    std::map<VkDeviceMemory, std::uint64_t> memories;
    std::map<VkBuffer, Resource> buffers;
    std::map<VkImage, Resource> images;
    std::map<std::uint64_t, Allocation> allocations;  // ids are never used again, and freed ones stay
    std::uint64_t last_id = 0;
};

inline State& state() {
    static State one;
    return one;
}

}  // namespace echolux::test
