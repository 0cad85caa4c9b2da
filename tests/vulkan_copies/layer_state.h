// State of the counting layer; see layer.cpp.
#pragma once

#include <vulkan/vulkan.h>

#include <cstdint>
#include <map>
#include <mutex>

namespace echolux::test {

struct Resource {           // a buffer or an image
    std::uint64_t memory;   // id of the allocation; 0: not bound
    VkFormat format;        // images only
    bool shader_may_write;  // has storage usage
};

struct Allocation {
    bool mapped = false;
    std::int64_t copies = 0;
    std::int64_t bytes = 0;
    std::int64_t shader_targets = 0;
};

// State of the whole process. Handles of all devices share one map because tests use few devices.
struct State {
    std::mutex mutex;
    std::map<VkDeviceMemory, std::uint64_t> memories;
    std::map<VkBuffer, Resource> buffers;
    std::map<VkImage, Resource> images;
    std::map<std::uint64_t, Allocation> allocations;  // ids are never reused, and freed allocations stay
    std::uint64_t last_id = 0;
};

inline State& state() {
    static State one;
    return one;
}

}  // namespace echolux::test
