// A Vulkan layer for tests, located between the program and the driver. It counts all transfers into host-mapped
// memory: copies, blits and resolves of any kind (core 1.3), and query results. Tests compare the renderer's own
// counter with it. vkCmdFillBuffer and vkCmdUpdateBuffer are not counted because their data comes from the host.
//
// Memory counts as host memory once it has been mapped, because software Vulkan could map all of it. Buffers and images
// with storage usage in mapped memory are also counted: a shader could write there without any copy.
#include <vulkan/vk_layer.h>
#include <vulkan/vulkan.h>

#include <cstdint>
#include <cstdlib>
#include <string>
#include <vulkan/vulkan_format_traits.hpp>

#include "tests/vulkan_copies/counts.h"
#include "tests/vulkan_copies/layer_state.h"
#include "tests/vulkan_layer/chain.h"

namespace {

using namespace echolux::test;

// ---- memory and resources -------------------------------------------------------------------------------------------

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
    s.images[*image] = {0, info->format, (info->usage & VK_IMAGE_USAGE_STORAGE_BIT) != 0};
    return result;
}

void bind(State& s, Resource& resource, VkDeviceMemory memory) {
    resource.memory = s.memories[memory];
    if (resource.shader_may_write) ++s.allocations[resource.memory].shader_targets;
}

void bind(VkBuffer buffer, VkDeviceMemory memory) {
    const std::scoped_lock lock(state().mutex);
    bind(state(), state().buffers[buffer], memory);
}

void bind(VkImage image, VkDeviceMemory memory) {
    const std::scoped_lock lock(state().mutex);
    bind(state(), state().images[image], memory);
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
    ++allocation.copies;
    allocation.bytes += bytes;
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
void count_buffer_to_image(VkImage to, std::uint32_t regions, const Region* region) {
    for (std::uint32_t i = 0; i < regions; ++i) {
        count_into(to, texels(region[i].imageExtent, region[i].imageSubresource));
    }
}

// Counts the destination region, which may be mirrored.
template <class Region>
void count_blit(VkImage to, std::uint32_t regions, const Region* region) {
    for (std::uint32_t i = 0; i < regions; ++i) {
        const VkOffset3D &a = region[i].dstOffsets[0], &b = region[i].dstOffsets[1];
        count_into(to, std::abs(std::int64_t{b.x} - a.x) * std::abs(std::int64_t{b.y} - a.y) *
                           std::abs(std::int64_t{b.z} - a.z) * region[i].dstSubresource.layerCount);
    }
}

// Also used for resolves.
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
    count_buffer_to_image(to, regions, region);
    NEXT(commands, vkCmdCopyBufferToImage)(commands, from, to, layout, regions, region);
}

VKAPI_ATTR void VKAPI_CALL CmdCopyBufferToImage2(VkCommandBuffer commands, const VkCopyBufferToImageInfo2* info) {
    count_buffer_to_image(info->dstImage, info->regionCount, info->pRegions);
    NEXT(commands, vkCmdCopyBufferToImage2)(commands, info);
}

VKAPI_ATTR void VKAPI_CALL CmdBlitImage(VkCommandBuffer commands, VkImage from, VkImageLayout from_layout, VkImage to,
                                        VkImageLayout to_layout, std::uint32_t regions, const VkImageBlit* region,
                                        VkFilter filter) {
    count_blit(to, regions, region);
    NEXT(commands, vkCmdBlitImage)(commands, from, from_layout, to, to_layout, regions, region, filter);
}

VKAPI_ATTR void VKAPI_CALL CmdBlitImage2(VkCommandBuffer commands, const VkBlitImageInfo2* info) {
    count_blit(info->dstImage, info->regionCount, info->pRegions);
    NEXT(commands, vkCmdBlitImage2)(commands, info);
}

VKAPI_ATTR void VKAPI_CALL CmdResolveImage(VkCommandBuffer commands, VkImage from, VkImageLayout from_layout,
                                           VkImage to, VkImageLayout to_layout, std::uint32_t regions,
                                           const VkImageResolve* region) {
    count_image_copy(to, regions, region);
    NEXT(commands, vkCmdResolveImage)(commands, from, from_layout, to, to_layout, regions, region);
}

VKAPI_ATTR void VKAPI_CALL CmdResolveImage2(VkCommandBuffer commands, const VkResolveImageInfo2* info) {
    count_image_copy(info->dstImage, info->regionCount, info->pRegions);
    NEXT(commands, vkCmdResolveImage2)(commands, info);
}

VKAPI_ATTR void VKAPI_CALL CmdCopyQueryPoolResults(VkCommandBuffer commands, VkQueryPool pool, std::uint32_t first,
                                                   std::uint32_t queries, VkBuffer to, VkDeviceSize offset,
                                                   VkDeviceSize stride, VkQueryResultFlags flags) {
    count_into(to, static_cast<std::int64_t>(stride) * queries);
    NEXT(commands, vkCmdCopyQueryPoolResults)(commands, pool, first, queries, to, offset, stride, flags);
}

}  // namespace

// ---- the chain of layers --------------------------------------------------------------------------------------------

PFN_vkVoidFunction echolux::test::layer::ours(const char* name) {
#define OURS(function) \
    { "vk" #function, reinterpret_cast<PFN_vkVoidFunction>(&function) }
    static const std::map<std::string, PFN_vkVoidFunction> functions{
        {"vkCreateInstance", reinterpret_cast<PFN_vkVoidFunction>(&layer::CreateInstance)},
        {"vkCreateDevice", reinterpret_cast<PFN_vkVoidFunction>(&layer::CreateDevice)},
        {"vkGetInstanceProcAddr", reinterpret_cast<PFN_vkVoidFunction>(&layer::GetInstanceProcAddr)},
        {"vkGetDeviceProcAddr", reinterpret_cast<PFN_vkVoidFunction>(&layer::GetDeviceProcAddr)},
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
        OURS(CmdBlitImage2),
        OURS(CmdResolveImage),
        OURS(CmdResolveImage2),
        OURS(CmdCopyBufferToImage),
        OURS(CmdCopyBufferToImage2),
        OURS(CmdCopyQueryPoolResults),
    };
#undef OURS
    const auto found = functions.find(name);
    return found == functions.end() ? nullptr : found->second;
}

extern "C" {

VK_LAYER_EXPORT VkResult VKAPI_CALL vkNegotiateLoaderLayerInterfaceVersion(VkNegotiateLayerInterface* face) {
    return layer::negotiate(face);
}

VK_LAYER_EXPORT void echolux_vulkan_copies(VulkanCopies* into_mapped_memory) {
    const std::scoped_lock lock(state().mutex);
    *into_mapped_memory = {};
    into_mapped_memory->instances = layer::chain().instances_made;
    for (const auto& [id, allocation] : state().allocations) {
        if (!allocation.mapped) continue;
        into_mapped_memory->copies += allocation.copies;
        into_mapped_memory->bytes += allocation.bytes;
        into_mapped_memory->shader_targets += allocation.shader_targets;
    }
}

}  // extern "C"
