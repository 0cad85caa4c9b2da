// What the counting layer knows of a process, and its way to whoever comes next: see layer.cpp.
#pragma once

#include <vulkan/vk_layer.h>
#include <vulkan/vulkan.h>

#include <cstdint>
#include <cstring>
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
    std::map<void*, PFN_vkGetInstanceProcAddr> instances;
    std::map<void*, PFN_vkGetDeviceProcAddr> devices;
    std::map<void*, VkDevice> device_of;
    std::map<VkDeviceMemory, std::uint64_t> memories;
    std::map<VkBuffer, Resource> buffers;
    std::map<VkImage, Resource> images;
    std::map<std::uint64_t, Allocation> allocations;  // ids are never used again, and freed ones stay
    std::uint64_t last_id = 0;
    std::int64_t instances_made = 0;
};

inline State& state() {
    static State one;
    return one;
}

// Dispatchable objects begin with a pointer that all objects of one device, or one instance, share.
template <class Handle>
void* key(Handle handle) {
    void* found = nullptr;
    std::memcpy(&found, static_cast<const void*>(handle), sizeof(found));
    return found;
}

// The next layer's, or the driver's, function of that name.
template <class Function, class Handle>
Function next(Handle handle, const char* name) {
    State& s = state();
    const std::scoped_lock lock(s.mutex);
    const auto device = s.devices.find(key(handle));
    return reinterpret_cast<Function>(device->second(s.device_of.at(key(handle)), name));
}

#define NEXT(handle, function) next<PFN_##function>(handle, #function)

}  // namespace echolux::test
