// A Vulkan layer for tests that makes the Nth fallible call fail. Functions that create something run out of memory.
// Functions that submit or wait run out of memory once, or lose the device permanently. The layer is located between
// the program and the driver, so the program needs no changes. A permanent fault persists: every later allocation
// fails, and a lost device stays lost until it is destroyed.
//
// A driver that has lost its device has stopped working on it. The real driver has not, so the layer waits for it to
// become idle before it reports the loss.
#include <vulkan/vk_layer.h>
#include <vulkan/vulkan.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "tests/vulkan_faults/faults.h"
#include "tests/vulkan_layer/chain.h"

namespace {

using namespace echolux::test;

struct Faults {
    std::mutex mutex;
    VulkanFaultPlan plan;
    VulkanFaultsSeen seen;
    VkResult lasting = VK_SUCCESS;  // error of all later calls after a permanent fault
    std::set<void*> lost;           // keys of lost devices
    std::map<std::uint64_t, const char*> alive;
};

Faults& faults() {
    static Faults one;
    return one;
}

bool is_lost(void* device) {
    const std::scoped_lock lock(faults().mutex);
    return faults().lost.contains(device);
}

// Returns the error of this call if it must fail. A permanent fault also fails every later call with the same error. A
// fault of kind `once` is always out of memory, because a device cannot be lost temporarily.
std::optional<VkResult> fault(const char* function, VkResult how) {
    Faults& f = faults();
    const std::scoped_lock lock(f.mutex);
    ++f.seen.calls;
    const bool first = f.seen.calls == f.plan.at;
    if (first) {
        f.seen.first_failed = function;
        if (f.plan.time == FaultTime::for_good) f.lasting = how;
    }
    const bool fails = first || (f.plan.at > 0 && f.lasting == how);
    if (!fails) return std::nullopt;
    ++f.seen.failed;
    return how == VK_ERROR_DEVICE_LOST && f.plan.time == FaultTime::once ? VK_ERROR_OUT_OF_DEVICE_MEMORY : how;
}

template <class Handle>
void lose(Handle handle) {
    VkDevice device = VK_NULL_HANDLE;
    {
        const std::scoped_lock lock(layer::chain().mutex);
        device = layer::chain().device_of.at(layer::key(handle));
    }
    NEXT(device, vkDeviceWaitIdle)(device);
    const std::scoped_lock lock(faults().mutex);
    faults().lost.insert(layer::key(handle));
}

template <std::size_t size>
struct Name {
    char text[size];
    constexpr Name(const char (&literal)[size]) { std::copy_n(literal, size, text); }
};

// Also fails if the device is already lost and the function uses it.
template <Name name, VkResult how, class Function>
struct Fallible;

template <Name name, VkResult how, class Handle, class... Arguments>
struct Fallible<name, how, VkResult(VKAPI_PTR*)(Handle, Arguments...)> {
    using Function = VkResult(VKAPI_PTR*)(Handle, Arguments...);
    static VKAPI_ATTR VkResult VKAPI_CALL call(Handle handle, Arguments... arguments) {
        if (how == VK_ERROR_DEVICE_LOST && is_lost(layer::key(handle))) return how;
        if (const auto failed = fault(name.text, how)) {
            if (*failed == VK_ERROR_DEVICE_LOST) lose(handle);
            return *failed;
        }
        return layer::next<Function>(handle, name.text)(handle, arguments...);
    }
};

// Counts created objects until they are destroyed.
template <Name name, Name end, class Function>
struct Maker;

template <Name name, Name end, class Info, class Object>
struct Maker<name, end, VkResult(VKAPI_PTR*)(VkDevice, const Info*, const VkAllocationCallbacks*, Object*)> {
    using Make = VkResult(VKAPI_PTR*)(VkDevice, const Info*, const VkAllocationCallbacks*, Object*);
    using End = void(VKAPI_PTR*)(VkDevice, Object, const VkAllocationCallbacks*);

    static VKAPI_ATTR VkResult VKAPI_CALL make(VkDevice device, const Info* info,
                                               const VkAllocationCallbacks* callbacks, Object* object) {
        if (const auto failed = fault(name.text, VK_ERROR_OUT_OF_DEVICE_MEMORY)) return *failed;
        const VkResult result = layer::next<Make>(device, name.text)(device, info, callbacks, object);
        const std::scoped_lock lock(faults().mutex);
        if (result == VK_SUCCESS) faults().alive[reinterpret_cast<std::uint64_t>(*object)] = name.text;
        return result;
    }

    static VKAPI_ATTR void VKAPI_CALL destroy(VkDevice device, Object object, const VkAllocationCallbacks* callbacks) {
        {
            const std::scoped_lock lock(faults().mutex);
            faults().alive.erase(reinterpret_cast<std::uint64_t>(object));
        }
        layer::next<End>(device, end.text)(device, object, callbacks);
    }
};

VKAPI_ATTR VkResult VKAPI_CALL create_instance(const VkInstanceCreateInfo* info, const VkAllocationCallbacks* callbacks,
                                               VkInstance* instance) {
    if (const auto failed = fault("vkCreateInstance", VK_ERROR_OUT_OF_HOST_MEMORY)) return *failed;
    return layer::CreateInstance(info, callbacks, instance);
}

VKAPI_ATTR VkResult VKAPI_CALL create_device(VkPhysicalDevice physical, const VkDeviceCreateInfo* info,
                                             const VkAllocationCallbacks* callbacks, VkDevice* device) {
    if (const auto failed = fault("vkCreateDevice", VK_ERROR_INITIALIZATION_FAILED)) return *failed;
    return layer::CreateDevice(physical, info, callbacks, device);
}

VKAPI_ATTR void VKAPI_CALL destroy_device(VkDevice device, const VkAllocationCallbacks* callbacks) {
    const auto destroy = layer::next<PFN_vkDestroyDevice>(device, "vkDestroyDevice");
    {
        const std::scoped_lock lock(faults().mutex);
        faults().lost.erase(layer::key(device));  // a later device may have the same address
    }
    destroy(device, callbacks);
}

}  // namespace

PFN_vkVoidFunction echolux::test::layer::ours(const char* name) {
#define PLAIN(function, by) \
    { "vk" #function, reinterpret_cast<PFN_vkVoidFunction>(&by) }
#define WORK(function, how) \
    { "vk" #function, reinterpret_cast<PFN_vkVoidFunction>(&Fallible<"vk" #function, how, PFN_vk##function>::call) }
#define MADE(function, end)                                                                                            \
    {"vk" #function, reinterpret_cast<PFN_vkVoidFunction>(&Maker<"vk" #function, "vk" #end, PFN_vk##function>::make)}, \
    {                                                                                                                  \
        "vk" #end, reinterpret_cast<PFN_vkVoidFunction>(&Maker<"vk" #function, "vk" #end, PFN_vk##function>::destroy)  \
    }
    static const std::map<std::string, PFN_vkVoidFunction> functions{
        PLAIN(CreateInstance, create_instance),
        PLAIN(CreateDevice, create_device),
        PLAIN(DestroyDevice, destroy_device),
        PLAIN(GetInstanceProcAddr, layer::GetInstanceProcAddr),
        PLAIN(GetDeviceProcAddr, layer::GetDeviceProcAddr),
        MADE(AllocateMemory, FreeMemory),
        MADE(CreateBuffer, DestroyBuffer),
        MADE(CreateImage, DestroyImage),
        MADE(CreateImageView, DestroyImageView),
        MADE(CreateSampler, DestroySampler),
        MADE(CreateShaderModule, DestroyShaderModule),
        MADE(CreateDescriptorSetLayout, DestroyDescriptorSetLayout),
        MADE(CreateDescriptorPool, DestroyDescriptorPool),
        MADE(CreatePipelineLayout, DestroyPipelineLayout),
        MADE(CreatePipelineCache, DestroyPipelineCache),
        MADE(CreateCommandPool, DestroyCommandPool),
        MADE(CreateFence, DestroyFence),
        MADE(CreateSemaphore, DestroySemaphore),
        MADE(CreateQueryPool, DestroyQueryPool),
        WORK(CreateComputePipelines, VK_ERROR_OUT_OF_DEVICE_MEMORY),
        WORK(CreateGraphicsPipelines, VK_ERROR_OUT_OF_DEVICE_MEMORY),
        WORK(AllocateDescriptorSets, VK_ERROR_OUT_OF_POOL_MEMORY),
        WORK(AllocateCommandBuffers, VK_ERROR_OUT_OF_DEVICE_MEMORY),
        WORK(BindBufferMemory, VK_ERROR_OUT_OF_DEVICE_MEMORY),
        WORK(BindImageMemory, VK_ERROR_OUT_OF_DEVICE_MEMORY),
        WORK(MapMemory, VK_ERROR_MEMORY_MAP_FAILED),
        WORK(FlushMappedMemoryRanges, VK_ERROR_OUT_OF_DEVICE_MEMORY),
        WORK(InvalidateMappedMemoryRanges, VK_ERROR_OUT_OF_DEVICE_MEMORY),
        WORK(BeginCommandBuffer, VK_ERROR_OUT_OF_DEVICE_MEMORY),
        WORK(EndCommandBuffer, VK_ERROR_OUT_OF_DEVICE_MEMORY),
        WORK(ResetCommandBuffer, VK_ERROR_OUT_OF_DEVICE_MEMORY),
        WORK(QueueSubmit, VK_ERROR_DEVICE_LOST),
        WORK(QueueSubmit2, VK_ERROR_DEVICE_LOST),
        WORK(QueueWaitIdle, VK_ERROR_DEVICE_LOST),
        WORK(DeviceWaitIdle, VK_ERROR_DEVICE_LOST),
        WORK(WaitSemaphores, VK_ERROR_DEVICE_LOST),
        WORK(WaitForFences, VK_ERROR_DEVICE_LOST),
        WORK(GetSemaphoreCounterValue, VK_ERROR_DEVICE_LOST),
        WORK(GetQueryPoolResults, VK_ERROR_DEVICE_LOST),
        WORK(SignalSemaphore, VK_ERROR_OUT_OF_DEVICE_MEMORY),
        WORK(GetMemoryFdKHR, VK_ERROR_TOO_MANY_OBJECTS),
        WORK(GetSemaphoreFdKHR, VK_ERROR_TOO_MANY_OBJECTS),
    };
#undef PLAIN
#undef WORK
#undef MADE
    const auto found = functions.find(name);
    return found == functions.end() ? nullptr : found->second;
}

extern "C" {

VK_LAYER_EXPORT VkResult VKAPI_CALL vkNegotiateLoaderLayerInterfaceVersion(VkNegotiateLayerInterface* face) {
    return layer::negotiate(face);
}

// Starts counting calls from here.
VK_LAYER_EXPORT void echolux_vulkan_faults_plan(const VulkanFaultPlan* plan) {
    const std::scoped_lock lock(faults().mutex);
    faults().plan = *plan;
    faults().seen = {};
    faults().lasting = VK_SUCCESS;
}

VK_LAYER_EXPORT void echolux_vulkan_faults_seen(VulkanFaultsSeen* seen) {
    const std::scoped_lock lock(faults().mutex, layer::chain().mutex);
    *seen = faults().seen;
    seen->instances = layer::chain().instances_made;
    seen->objects = std::ssize(faults().alive);
    if (!faults().alive.empty()) seen->an_object_of = faults().alive.begin()->second;
}

}  // extern "C"
