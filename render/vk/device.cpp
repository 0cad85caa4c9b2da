#include "render/vk/device.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <optional>

#include "compute/error.h"
#include "render/vk/driver_files.h"

namespace echolux::gpu {
namespace {

constexpr const char* validation_layer = "VK_LAYER_KHRONOS_validation";
// Every format that a texture or picture may have. Devices that lack one are refused.
constexpr std::array filtered_formats{vk::Format::eR8Unorm, vk::Format::eR16Unorm, vk::Format::eR16Snorm,
                                      vk::Format::eR16Sfloat, vk::Format::eR32Sfloat};
constexpr std::array stored_formats{vk::Format::eR8G8B8A8Unorm, vk::Format::eR32G32B32A32Sfloat};

// Validation is enabled by the choice or by ECHOLUX_VALIDATION=1.
bool validation_wanted(const GpuDevice& choice) {
    const char* text = std::getenv("ECHOLUX_VALIDATION");
    return choice.validation || (text != nullptr && std::strcmp(text, "1") == 0);
}

std::function<void(const std::string&)> listener_of(const GpuDevice& choice) {
    if (choice.on_message) return choice.on_message;
    return [](const std::string& text) { std::fprintf(stderr, "%s\n", text.c_str()); };
}

// Throws Error{device} if libvulkan is missing, with the packages to install.
vk::raii::Context opened_loader() try { return {}; } catch (const std::runtime_error&) {
    throw Error(ErrorCode::device, "the Vulkan loader cannot be opened", "renderer",
                "install package libvulkan1 and a driver, e.g. mesa-vulkan-drivers");
}

// Keeps the drivers loaded until the program ends, through an instance that is never destroyed. NVIDIA's driver fails
// to load after a few dozen load and unload cycles.
struct PersistentInstance {
    vk::raii::Context context;
    vk::raii::Instance instance{context, vk::InstanceCreateInfo{}};
};
// Only written. The attribute keeps it, so that leak checkers find the instance.
[[gnu::used]] const PersistentInstance* persistent_instance = nullptr;

void keep_drivers_loaded() {
    static std::once_flag once;
    try {
        std::call_once(once, [] { persistent_instance = new PersistentInstance; });
    } catch (const std::exception&) {  // opening the device below reports the cause
    }
}

// Passes messages of the validation layer to the listener. VK_FALSE continues the call that caused the message.
VKAPI_ATTR VkBool32 VKAPI_CALL on_validation_message(VkDebugUtilsMessageSeverityFlagBitsEXT,
                                                     VkDebugUtilsMessageTypeFlagsEXT,
                                                     const VkDebugUtilsMessengerCallbackDataEXT* message,
                                                     void* listener) {
    (*static_cast<const std::function<void(const std::string&)>*>(listener))(message->pMessage);
    return VK_FALSE;
}

vk::DebugUtilsMessengerCreateInfoEXT messenger_facts(std::function<void(const std::string&)>* listener) {
    using Severity = vk::DebugUtilsMessageSeverityFlagBitsEXT;
    using Type = vk::DebugUtilsMessageTypeFlagBitsEXT;
    return {.messageSeverity = Severity::eWarning | Severity::eError,
            // No performance messages: they warn about the general layout, which costs compute nothing.
            .messageType = Type::eValidation,
            .pfnUserCallback = on_validation_message,
            .pUserData = listener};
}

void require_validation_layer(const vk::raii::Context& context) {
    for (const vk::LayerProperties& layer : context.enumerateInstanceLayerProperties()) {
        if (std::strcmp(layer.layerName, validation_layer) == 0) return;
    }
    throw Error(ErrorCode::device, "the Vulkan validation layer is not installed", "renderer",
                "install package vulkan-validationlayers, or run without validation");
}

std::vector<const char*> instance_extensions(const WindowSurface& surface, bool validation) {
    std::vector<const char*> names;
    for (const std::string& name : surface.extensions) names.push_back(name.c_str());
    if (validation) names.push_back(VK_EXT_DEBUG_UTILS_EXTENSION_NAME);
    return names;
}

vk::raii::Instance create_instance(const vk::raii::Context& context, const WindowSurface& surface, bool validation,
                                   std::function<void(const std::string&)>* listener) try {
    if (validation) require_validation_layer(context);
    const vk::ApplicationInfo application{.pApplicationName = "Echolux", .apiVersion = VK_API_VERSION_1_3};
    const std::vector<const char*> extensions = instance_extensions(surface, validation);
    // Synchronization validation finds missing barriers, which the standard checks do not.
    const std::array checks{vk::ValidationFeatureEnableEXT::eSynchronizationValidation};
    const vk::ValidationFeaturesEXT features{.enabledValidationFeatureCount = checks.size(),
                                             .pEnabledValidationFeatures = checks.data()};
    vk::DebugUtilsMessengerCreateInfoEXT messenger = messenger_facts(listener);
    messenger.pNext = &features;
    return {context, vk::InstanceCreateInfo{.pNext = validation ? &messenger : nullptr,
                                            .pApplicationInfo = &application,
                                            .enabledLayerCount = validation ? 1U : 0U,
                                            .ppEnabledLayerNames = &validation_layer,
                                            .enabledExtensionCount = static_cast<std::uint32_t>(extensions.size()),
                                            .ppEnabledExtensionNames = extensions.data()}};
} catch (const vk::ExtensionNotPresentError&) {
    throw Error(ErrorCode::device, "Vulkan cannot present images in windows of this system", "renderer",
                "install a graphics driver for this screen, or `render` without a window");
} catch (const vk::IncompatibleDriverError&) {
    throw no_driver("no Vulkan driver was found", unusable_drivers());
} catch (const vk::SystemError& error) {
    throw_vulkan_error("starting Vulkan", error);
}

DeviceType type_of(vk::PhysicalDeviceType type) {
    switch (type) {
        case vk::PhysicalDeviceType::eDiscreteGpu: return DeviceType::discrete;
        case vk::PhysicalDeviceType::eIntegratedGpu: return DeviceType::integrated;
        case vk::PhysicalDeviceType::eVirtualGpu: return DeviceType::virtual_gpu;
        case vk::PhysicalDeviceType::eCpu: return DeviceType::cpu;
        default: return DeviceType::other;
    }
}

vk::raii::SurfaceKHR create_surface(const vk::raii::Instance& instance, const WindowSurface& surface) {
    if (!surface.make) return nullptr;
    const std::uint64_t made = surface.make(static_cast<VkInstance>(*instance));
    return {instance, reinterpret_cast<VkSurfaceKHR>(made)};  // NOLINT: window libraries handle surfaces as integers
}

// Returns the family of the single queue: the first one with compute and graphics that can also present to the window,
// if there is a window. Without a window, a family without graphics is the fallback.
std::optional<std::uint32_t> chosen_family(const vk::raii::PhysicalDevice& device, vk::SurfaceKHR surface) {
    const auto families = device.getQueueFamilyProperties();
    std::optional<std::uint32_t> computes;
    for (std::uint32_t i = 0; i < families.size(); ++i) {
        const vk::QueueFlags does = families[i].queueFlags;
        if (!(does & vk::QueueFlagBits::eCompute)) continue;
        const bool draws = static_cast<bool>(does & vk::QueueFlagBits::eGraphics);
        if (surface ? draws && device.getSurfaceSupportKHR(i, surface) : draws) return i;
        if (!surface && !computes) computes = i;
    }
    return computes;
}

// Adds the required formats that the device cannot filter or use for storage images.
void note_missing_formats(const vk::raii::PhysicalDevice& device, std::vector<std::string>& missing) {
    using Feature = vk::FormatFeatureFlagBits;
    const auto lacks = [&](vk::Format format, vk::FormatFeatureFlags wanted) {
        return (device.getFormatProperties(format).optimalTilingFeatures & wanted) != wanted;
    };
    for (const vk::Format format : filtered_formats) {
        const vk::FormatFeatureFlags wanted = Feature::eSampledImageFilterLinear | Feature::eTransferDst;
        if (lacks(format, wanted)) missing.push_back("filtered textures of " + vk::to_string(format));
    }
    for (const vk::Format format : stored_formats) {
        if (lacks(format, Feature::eStorageImage)) missing.push_back("storage images of " + vk::to_string(format));
    }
}

// The UUID identifies the same GPU in CUDA.
DeviceId id_of(const vk::raii::PhysicalDevice& device) {
    const auto chain = device.getProperties2<vk::PhysicalDeviceProperties2, vk::PhysicalDeviceIDProperties>();
    DeviceId id{};
    std::ranges::copy(chain.get<vk::PhysicalDeviceIDProperties>().deviceUUID, id.begin());
    return id;
}

bool has_extension(const vk::raii::PhysicalDevice& device, const char* name) {
    return std::ranges::any_of(device.enumerateDeviceExtensionProperties(),
                               [&](const auto& extension) { return std::strcmp(extension.extensionName, name) == 0; });
}

// Timelines are exported as opaque file descriptors. lavapipe 22.3 cannot export them.
bool can_export_timelines(const vk::raii::PhysicalDevice& device) {
    if (!has_extension(device, VK_KHR_EXTERNAL_SEMAPHORE_FD_EXTENSION_NAME)) return false;
    const vk::SemaphoreTypeCreateInfo type{.semaphoreType = vk::SemaphoreType::eTimeline};
    const vk::ExternalSemaphoreProperties properties = device.getExternalSemaphoreProperties(
        {.pNext = &type, .handleType = vk::ExternalSemaphoreHandleTypeFlagBits::eOpaqueFd});
    return static_cast<bool>(properties.externalSemaphoreFeatures & vk::ExternalSemaphoreFeatureFlagBits::eExportable);
}

// Collects the properties that choose a device, and the reasons for refusing it.
DeviceFacts facts_of(const vk::raii::PhysicalDevice& device, vk::SurfaceKHR surface) {
    const vk::PhysicalDeviceProperties properties = device.getProperties();
    DeviceFacts facts{properties.deviceName.data(),
                      type_of(properties.deviceType),
                      static_cast<int>(VK_API_VERSION_MAJOR(properties.apiVersion)),
                      static_cast<int>(VK_API_VERSION_MINOR(properties.apiVersion)),
                      {},
                      {}};
    if (!refusal(facts).empty()) return facts;  // older devices must not be queried for 1.3 structures
    facts.id = id_of(device);
    const auto chain = device.getFeatures2<vk::PhysicalDeviceFeatures2, vk::PhysicalDeviceVulkan12Features,
                                           vk::PhysicalDeviceVulkan13Features>();
    const auto need = [&](vk::Bool32 there, const char* what) {
        if (!there) facts.missing.emplace_back(what);
    };
    need(chain.get<vk::PhysicalDeviceFeatures2>().features.shaderStorageImageWriteWithoutFormat,
         "storage image writes without format");
    need(chain.get<vk::PhysicalDeviceVulkan12Features>().timelineSemaphore, "timeline semaphores");
    need(chain.get<vk::PhysicalDeviceVulkan13Features>().synchronization2, "synchronization2");
    need(chain.get<vk::PhysicalDeviceVulkan13Features>().maintenance4, "maintenance4");
    need(chosen_family(device, {}).has_value(), "a compute queue");
    if (surface) {
        const bool shows = has_extension(device, VK_KHR_SWAPCHAIN_EXTENSION_NAME) && chosen_family(device, surface);
        need(shows, "a queue that can present to the window");
    }
    note_missing_formats(device, facts.missing);
    return facts;
}

vk::raii::PhysicalDevice chosen_physical(const vk::raii::Instance& instance, vk::SurfaceKHR surface,
                                         const GpuDevice& choice) try {
    vk::raii::PhysicalDevices devices(instance);
    if (devices.empty()) throw no_driver("no Vulkan device was found", unusable_drivers());
    std::vector<DeviceFacts> facts;
    for (const vk::raii::PhysicalDevice& device : devices) facts.push_back(facts_of(device, surface));
    return std::move(devices[chosen_device(facts, choice.name, choice.near)]);
} catch (const vk::SystemError& error) {
    throw_vulkan_error("listing the Vulkan devices", error);
}

vk::raii::Device create_device(const vk::raii::PhysicalDevice& physical, std::uint32_t family, bool reduces,
                               const std::vector<const char*>& extensions) {
    // A single queue: all work is ordered by submission.
    const float priority = 1;
    const vk::DeviceQueueCreateInfo queue{.queueFamilyIndex = family, .queueCount = 1, .pQueuePriorities = &priority};
    // glslc for Vulkan 1.3 emits LocalSizeId, which requires maintenance4.
    const vk::StructureChain features{
        vk::PhysicalDeviceFeatures2{.features = {.shaderStorageImageWriteWithoutFormat = true}},
        vk::PhysicalDeviceVulkan12Features{.samplerFilterMinmax = reduces, .timelineSemaphore = true},
        vk::PhysicalDeviceVulkan13Features{.synchronization2 = true, .dynamicRendering = true, .maintenance4 = true}};
    return reporting("opening the Vulkan device", [&] {
        return vk::raii::Device(
            physical, vk::DeviceCreateInfo{.pNext = &features.get<vk::PhysicalDeviceFeatures2>(),
                                           .queueCreateInfoCount = 1,
                                           .pQueueCreateInfos = &queue,
                                           .enabledExtensionCount = static_cast<std::uint32_t>(extensions.size()),
                                           .ppEnabledExtensionNames = extensions.data()});
    });
}

bool can_draw(const vk::raii::PhysicalDevice& device, std::uint32_t family) {
    return static_cast<bool>(device.getQueueFamilyProperties()[family].queueFlags & vk::QueueFlagBits::eGraphics);
}

bool can_reduce(const vk::raii::PhysicalDevice& device) {
    const auto chain = device.getFeatures2<vk::PhysicalDeviceFeatures2, vk::PhysicalDeviceVulkan12Features>();
    return chain.get<vk::PhysicalDeviceVulkan12Features>().samplerFilterMinmax;
}

std::vector<const char*> device_extensions(bool memory, bool timelines, bool window) {
    std::vector<const char*> names;
    if (window) names.push_back(VK_KHR_SWAPCHAIN_EXTENSION_NAME);
    if (memory) names.push_back(VK_KHR_EXTERNAL_MEMORY_FD_EXTENSION_NAME);
    if (timelines) names.push_back(VK_KHR_EXTERNAL_SEMAPHORE_FD_EXTENSION_NAME);
    return names;
}

}  // namespace

void throw_vulkan_error(const char* doing, const vk::SystemError& error) {
    throw Error(is_out_of_memory(error) ? ErrorCode::out_of_memory : ErrorCode::device,
                fmt::format("{} failed: {}", doing, error.what()), "renderer");
}

Device::Device(const GpuDevice& choice)
    : on_message_(listener_of(choice)), loses_(choice.loses), context_(opened_loader()),
      instance_(create_instance(context_, choice.surface, validation_wanted(choice), &on_message_)),
      messenger_(nullptr), surface_(create_surface(instance_, choice.surface)),
      physical_(chosen_physical(instance_, *surface_, choice)), name_(physical_.getProperties().deviceName.data()),
      id_(id_of(physical_)), software_(physical_.getProperties().deviceType == vk::PhysicalDeviceType::eCpu),
      reduces_(can_reduce(physical_)), reports_budget_(has_extension(physical_, VK_EXT_MEMORY_BUDGET_EXTENSION_NAME)),
      exports_memory_(has_extension(physical_, VK_KHR_EXTERNAL_MEMORY_FD_EXTENSION_NAME)),
      exports_timelines_(can_export_timelines(physical_)), queue_family_(chosen_family(physical_, *surface_).value()),
      draws_(can_draw(physical_, queue_family_)),
      device_(create_device(physical_, queue_family_, reduces_,
                            device_extensions(exports_memory_, exports_timelines_, surface()))) {
    if (validation_wanted(choice)) messenger_ = {instance_, messenger_facts(&on_message_)};
    keep_drivers_loaded();
}

bool Device::accepts_work() const {
    if (loses_ && loses_()) lost_ = true;
    return !lost_;
}

void Device::check(const char* doing) const {
    if (lost_) throw_vulkan_error(doing, vk::DeviceLostError("a simulated loss"));
}

}  // namespace echolux::gpu
