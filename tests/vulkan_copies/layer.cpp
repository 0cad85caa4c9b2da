// A Vulkan layer for tests: it stands between the program and the driver, whatever the program does, and counts the
// copies into memory that the host has mapped. What a renderer's own counter says can be held against it.
//
// Memory counts as the host's once it has been mapped: on software Vulkan all memory could be. Storage buffers in
// mapped memory are counted too, because a shader could write to the host there without any copy.
#include <vulkan/vk_layer.h>
#include <vulkan/vulkan.h>

#include <cstdint>
#include <cstring>
#include <map>
#include <mutex>
#include <string>
#include <vulkan/vulkan_format_traits.hpp>

#include "tests/vulkan_copies/counts.h"

namespace {

using echolux::test::VulkanCopies;

struct Resource {           // a buffer or an image
    std::uint64_t memory;   // id of the allocation; 0: not bound
    VkFormat format;        // of an image
    bool shader_may_write;  // a buffer with storage usage
};

struct Allocation {
    bool mapped = false;
    VulkanCopies copies;
    std::int64_t storage_buffers = 0;
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
};

State& state() {
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

// ---- what lies where ------------------------------------------------------------------------------------------------

VKAPI_ATTR VkResult VKAPI_CALL AllocateMemory(VkDevice device, const VkMemoryAllocateInfo* info,
                                              const VkAllocationCallbacks* callbacks, VkDeviceMemory* memory) {
    const VkResult result = NEXT(device, vkAllocateMemory)(device, info, callbacks, memory);
    if (result != VK_SUCCESS) return result;
    State& s = state();
    const std::scoped_lock lock(s.mutex);
    s.memories[*memory] = ++s.last_id;
    s.allocations[s.last_id] = {};
    return result;
}

VKAPI_ATTR void VKAPI_CALL FreeMemory(VkDevice device, VkDeviceMemory memory, const VkAllocationCallbacks* callbacks) {
    NEXT(device, vkFreeMemory)(device, memory, callbacks);
    State& s = state();
    const std::scoped_lock lock(s.mutex);
    s.memories.erase(memory);
}

VKAPI_ATTR VkResult VKAPI_CALL MapMemory(VkDevice device, VkDeviceMemory memory, VkDeviceSize offset, VkDeviceSize size,
                                         VkMemoryMapFlags flags, void** address) {
    {
        State& s = state();
        const std::scoped_lock lock(s.mutex);
        s.allocations[s.memories[memory]].mapped = true;
    }
    return NEXT(device, vkMapMemory)(device, memory, offset, size, flags, address);
}

VKAPI_ATTR VkResult VKAPI_CALL CreateBuffer(VkDevice device, const VkBufferCreateInfo* info,
                                            const VkAllocationCallbacks* callbacks, VkBuffer* buffer) {
    const VkResult result = NEXT(device, vkCreateBuffer)(device, info, callbacks, buffer);
    if (result != VK_SUCCESS) return result;
    constexpr VkBufferUsageFlags storage =
        VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_STORAGE_TEXEL_BUFFER_BIT;
    State& s = state();
    const std::scoped_lock lock(s.mutex);
    s.buffers[*buffer] = {0, VK_FORMAT_UNDEFINED, (info->usage & storage) != 0};
    return result;
}

VKAPI_ATTR VkResult VKAPI_CALL CreateImage(VkDevice device, const VkImageCreateInfo* info,
                                           const VkAllocationCallbacks* callbacks, VkImage* image) {
    const VkResult result = NEXT(device, vkCreateImage)(device, info, callbacks, image);
    if (result != VK_SUCCESS) return result;
    State& s = state();
    const std::scoped_lock lock(s.mutex);
    s.images[*image] = {0, info->format, false};
    return result;
}

void bind(VkBuffer buffer, VkDeviceMemory memory) {
    State& s = state();
    const std::scoped_lock lock(s.mutex);
    Resource& resource = s.buffers[buffer];
    resource.memory = s.memories[memory];
    if (resource.shader_may_write) ++s.allocations[resource.memory].storage_buffers;
}

void bind(VkImage image, VkDeviceMemory memory) {
    State& s = state();
    const std::scoped_lock lock(s.mutex);
    s.images[image].memory = s.memories[memory];
}

VKAPI_ATTR VkResult VKAPI_CALL BindBufferMemory(VkDevice device, VkBuffer buffer, VkDeviceMemory memory,
                                                VkDeviceSize offset) {
    bind(buffer, memory);
    return NEXT(device, vkBindBufferMemory)(device, buffer, memory, offset);
}

VKAPI_ATTR VkResult VKAPI_CALL BindImageMemory(VkDevice device, VkImage image, VkDeviceMemory memory,
                                               VkDeviceSize offset) {
    bind(image, memory);
    return NEXT(device, vkBindImageMemory)(device, image, memory, offset);
}

VKAPI_ATTR VkResult VKAPI_CALL BindBufferMemory2(VkDevice device, std::uint32_t count,
                                                 const VkBindBufferMemoryInfo* infos) {
    for (std::uint32_t i = 0; i < count; ++i) bind(infos[i].buffer, infos[i].memory);
    return NEXT(device, vkBindBufferMemory2)(device, count, infos);
}

VKAPI_ATTR VkResult VKAPI_CALL BindImageMemory2(VkDevice device, std::uint32_t count,
                                                const VkBindImageMemoryInfo* infos) {
    for (std::uint32_t i = 0; i < count; ++i) bind(infos[i].image, infos[i].memory);
    return NEXT(device, vkBindImageMemory2)(device, count, infos);
}

// ---- copies ---------------------------------------------------------------------------------------------------------

void count(std::uint64_t memory, std::int64_t bytes) {
    State& s = state();
    Allocation& allocation = s.allocations[memory];
    ++allocation.copies.copies;
    allocation.copies.bytes += bytes;
}

void count_into(VkBuffer buffer, std::int64_t bytes) {
    const std::scoped_lock lock(state().mutex);
    count(state().buffers[buffer].memory, bytes);
}

std::int64_t texels(const VkExtent3D& extent, const VkImageSubresourceLayers& layers) {
    return std::int64_t{extent.width} * extent.height * extent.depth * layers.layerCount;
}

std::int64_t texel_bytes(VkImage image) {
    const std::scoped_lock lock(state().mutex);
    return vk::blockSize(static_cast<vk::Format>(state().images[image].format));
}

void count_into(VkImage image, std::int64_t amount) {
    const std::int64_t each = texel_bytes(image);
    const std::scoped_lock lock(state().mutex);
    count(state().images[image].memory, amount * each);
}

template <class Region>
void count_buffer_copy(VkBuffer to, std::uint32_t regions, const Region* region) {
    for (std::uint32_t i = 0; i < regions; ++i) count_into(to, static_cast<std::int64_t>(region[i].size));
}

template <class Region>
void count_image_to_buffer(VkImage from, VkBuffer to, std::uint32_t regions, const Region* region) {
    for (std::uint32_t i = 0; i < regions; ++i) {
        count_into(to, texels(region[i].imageExtent, region[i].imageSubresource) * texel_bytes(from));
    }
}

template <class Region>
void count_image_copy(VkImage to, std::uint32_t regions, const Region* region) {
    for (std::uint32_t i = 0; i < regions; ++i) {
        count_into(to, texels(region[i].extent, region[i].dstSubresource));
    }
}

VKAPI_ATTR void VKAPI_CALL CmdCopyBuffer(VkCommandBuffer commands, VkBuffer from, VkBuffer to, std::uint32_t regions,
                                         const VkBufferCopy* region) {
    count_buffer_copy(to, regions, region);
    NEXT(commands, vkCmdCopyBuffer)(commands, from, to, regions, region);
}

VKAPI_ATTR void VKAPI_CALL CmdCopyBuffer2(VkCommandBuffer commands, const VkCopyBufferInfo2* info) {
    count_buffer_copy(info->dstBuffer, info->regionCount, info->pRegions);
    NEXT(commands, vkCmdCopyBuffer2)(commands, info);
}

VKAPI_ATTR void VKAPI_CALL CmdCopyImageToBuffer(VkCommandBuffer commands, VkImage from, VkImageLayout layout,
                                                VkBuffer to, std::uint32_t regions, const VkBufferImageCopy* region) {
    count_image_to_buffer(from, to, regions, region);
    NEXT(commands, vkCmdCopyImageToBuffer)(commands, from, layout, to, regions, region);
}

VKAPI_ATTR void VKAPI_CALL CmdCopyImageToBuffer2(VkCommandBuffer commands, const VkCopyImageToBufferInfo2* info) {
    count_image_to_buffer(info->srcImage, info->dstBuffer, info->regionCount, info->pRegions);
    NEXT(commands, vkCmdCopyImageToBuffer2)(commands, info);
}

VKAPI_ATTR void VKAPI_CALL CmdCopyImage(VkCommandBuffer commands, VkImage from, VkImageLayout from_layout, VkImage to,
                                        VkImageLayout to_layout, std::uint32_t regions, const VkImageCopy* region) {
    count_image_copy(to, regions, region);
    NEXT(commands, vkCmdCopyImage)(commands, from, from_layout, to, to_layout, regions, region);
}

VKAPI_ATTR void VKAPI_CALL CmdCopyImage2(VkCommandBuffer commands, const VkCopyImageInfo2* info) {
    count_image_copy(info->dstImage, info->regionCount, info->pRegions);
    NEXT(commands, vkCmdCopyImage2)(commands, info);
}

VKAPI_ATTR void VKAPI_CALL CmdCopyBufferToImage(VkCommandBuffer commands, VkBuffer from, VkImage to,
                                                VkImageLayout layout, std::uint32_t regions,
                                                const VkBufferImageCopy* region) {
    for (std::uint32_t i = 0; i < regions; ++i) {
        count_into(to, texels(region[i].imageExtent, region[i].imageSubresource));
    }
    NEXT(commands, vkCmdCopyBufferToImage)(commands, from, to, layout, regions, region);
}

VKAPI_ATTR void VKAPI_CALL CmdBlitImage(VkCommandBuffer commands, VkImage from, VkImageLayout from_layout, VkImage to,
                                        VkImageLayout to_layout, std::uint32_t regions, const VkImageBlit* region,
                                        VkFilter filter) {
    for (std::uint32_t i = 0; i < regions; ++i) {
        const VkOffset3D &a = region[i].dstOffsets[0], &b = region[i].dstOffsets[1];
        count_into(to, std::int64_t{1} * (b.x - a.x) * (b.y - a.y) * (b.z - a.z));
    }
    NEXT(commands, vkCmdBlitImage)(commands, from, from_layout, to, to_layout, regions, region, filter);
}

VKAPI_ATTR void VKAPI_CALL CmdCopyQueryPoolResults(VkCommandBuffer commands, VkQueryPool pool, std::uint32_t first,
                                                   std::uint32_t queries, VkBuffer to, VkDeviceSize offset,
                                                   VkDeviceSize stride, VkQueryResultFlags flags) {
    count_into(to, static_cast<std::int64_t>(stride) * queries);
    NEXT(commands, vkCmdCopyQueryPoolResults)(commands, pool, first, queries, to, offset, stride, flags);
}

// ---- the chain of layers --------------------------------------------------------------------------------------------

PFN_vkVoidFunction ours(const char* name);

template <class Link, class Info>
Link* link_of(const Info* info, VkStructureType type) {
    auto* one = const_cast<Link*>(static_cast<const Link*>(info->pNext));
    while (one != nullptr && (one->sType != type || one->function != VK_LAYER_LINK_INFO)) {
        one = const_cast<Link*>(static_cast<const Link*>(one->pNext));
    }
    return one;
}

VKAPI_ATTR VkResult VKAPI_CALL CreateInstance(const VkInstanceCreateInfo* info, const VkAllocationCallbacks* callbacks,
                                              VkInstance* instance) {
    auto* link = link_of<VkLayerInstanceCreateInfo>(info, VK_STRUCTURE_TYPE_LOADER_INSTANCE_CREATE_INFO);
    if (link == nullptr) return VK_ERROR_INITIALIZATION_FAILED;
    const PFN_vkGetInstanceProcAddr next_address = link->u.pLayerInfo->pfnNextGetInstanceProcAddr;
    link->u.pLayerInfo = link->u.pLayerInfo->pNext;
    const auto create = reinterpret_cast<PFN_vkCreateInstance>(next_address(nullptr, "vkCreateInstance"));
    const VkResult result = create(info, callbacks, instance);
    if (result != VK_SUCCESS) return result;
    const std::scoped_lock lock(state().mutex);
    state().instances[key(*instance)] = next_address;
    return result;
}

VKAPI_ATTR VkResult VKAPI_CALL CreateDevice(VkPhysicalDevice physical, const VkDeviceCreateInfo* info,
                                            const VkAllocationCallbacks* callbacks, VkDevice* device) {
    auto* link = link_of<VkLayerDeviceCreateInfo>(info, VK_STRUCTURE_TYPE_LOADER_DEVICE_CREATE_INFO);
    if (link == nullptr) return VK_ERROR_INITIALIZATION_FAILED;
    const PFN_vkGetInstanceProcAddr instance_address = link->u.pLayerInfo->pfnNextGetInstanceProcAddr;
    const PFN_vkGetDeviceProcAddr device_address = link->u.pLayerInfo->pfnNextGetDeviceProcAddr;
    link->u.pLayerInfo = link->u.pLayerInfo->pNext;
    const auto create = reinterpret_cast<PFN_vkCreateDevice>(instance_address(nullptr, "vkCreateDevice"));
    const VkResult result = create(physical, info, callbacks, device);
    if (result != VK_SUCCESS) return result;
    const std::scoped_lock lock(state().mutex);
    state().devices[key(*device)] = device_address;
    state().device_of[key(*device)] = *device;
    return result;
}

VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL GetDeviceProcAddr(VkDevice device, const char* name) {
    if (const PFN_vkVoidFunction found = ours(name)) return found;
    return next<PFN_vkVoidFunction>(device, name);
}

VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL GetInstanceProcAddr(VkInstance instance, const char* name) {
    if (const PFN_vkVoidFunction found = ours(name)) return found;
    if (instance == nullptr) return nullptr;
    PFN_vkGetInstanceProcAddr next_address = nullptr;
    {
        const std::scoped_lock lock(state().mutex);
        next_address = state().instances.at(key(instance));
    }
    return next_address(instance, name);
}

PFN_vkVoidFunction ours(const char* name) {
#define OURS(function) \
    { "vk" #function, reinterpret_cast<PFN_vkVoidFunction>(&function) }
    static const std::map<std::string, PFN_vkVoidFunction> functions{
        OURS(CreateInstance),
        OURS(CreateDevice),
        OURS(GetInstanceProcAddr),
        OURS(GetDeviceProcAddr),
        OURS(AllocateMemory),
        OURS(FreeMemory),
        OURS(MapMemory),
        OURS(CreateBuffer),
        OURS(CreateImage),
        OURS(BindBufferMemory),
        OURS(BindImageMemory),
        OURS(BindBufferMemory2),
        OURS(BindImageMemory2),
        OURS(CmdCopyBuffer),
        OURS(CmdCopyBuffer2),
        OURS(CmdCopyImageToBuffer),
        OURS(CmdCopyImageToBuffer2),
        OURS(CmdCopyImage),
        OURS(CmdCopyImage2),
        OURS(CmdBlitImage),
        OURS(CmdCopyBufferToImage),
        OURS(CmdCopyQueryPoolResults),
    };
#undef OURS
    const auto found = functions.find(name);
    return found == functions.end() ? nullptr : found->second;
}

}  // namespace

extern "C" {

VK_LAYER_EXPORT VkResult VKAPI_CALL vkNegotiateLoaderLayerInterfaceVersion(VkNegotiateLayerInterface* face) {
    face->loaderLayerInterfaceVersion = 2;
    face->pfnGetInstanceProcAddr = GetInstanceProcAddr;
    face->pfnGetDeviceProcAddr = GetDeviceProcAddr;
    face->pfnGetPhysicalDeviceProcAddr = nullptr;
    return VK_SUCCESS;
}

VK_LAYER_EXPORT void echolux_vulkan_copies(VulkanCopies* into_mapped_memory) {
    const std::scoped_lock lock(state().mutex);
    *into_mapped_memory = {};
    for (const auto& [id, allocation] : state().allocations) {
        if (!allocation.mapped) continue;
        into_mapped_memory->copies += allocation.copies.copies;
        into_mapped_memory->bytes += allocation.copies.bytes;
        into_mapped_memory->storage_buffers += allocation.storage_buffers;
    }
}

}  // extern "C"
