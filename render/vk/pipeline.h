// Pipelines: SPIR-V, its bindings (one descriptor set) and its specialization constants.
#pragma once

#include <vulkan/vulkan_raii.hpp>

#include <cstdint>
#include <span>

#include "render/vk/device.h"

namespace echolux::gpu {

// The one descriptor set of a shader and its contents. Bindings are numbered in the order of `types`.
class Bindings {
  public:
    // `push_bytes` of constants are handed over with each dispatch. `stages`: of the shaders that have them.
    Bindings(const Device& device, std::span<const vk::DescriptorType> types, std::uint32_t push_bytes = 0,
             vk::ShaderStageFlags stages = vk::ShaderStageFlagBits::eCompute);

    void set_buffer(std::uint32_t binding, vk::Buffer buffer, vk::DeviceSize offset = 0,
                    vk::DeviceSize bytes = VK_WHOLE_SIZE);
    void set_image(std::uint32_t binding, vk::ImageView view, vk::Sampler sampler = {});  // in the general layout

    vk::PipelineLayout layout() const { return *layout_; }
    vk::DescriptorSet set() const { return *set_; }

  private:
    const Device& device_;
    std::vector<vk::DescriptorType> types_;
    vk::raii::DescriptorSetLayout set_layout_;
    vk::raii::PipelineLayout layout_;
    vk::raii::DescriptorPool pool_;
    vk::raii::DescriptorSet set_;
};

// Specialization constant i of the shader gets constants[i]; booleans are 0 or 1.
vk::raii::Pipeline compute_pipeline(const Device& device, const Bindings& bindings,
                                    std::span<const std::uint32_t> spirv, std::span<const std::int32_t> constants);

// So many groups of a compute pipeline with these bindings.
void record_dispatch(const vk::raii::CommandBuffer& commands, const Bindings& bindings,
                     const vk::raii::Pipeline& pipeline, vk::Extent3D groups);

}  // namespace echolux::gpu
