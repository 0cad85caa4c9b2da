// Compute pipelines and their bindings: SPIR-V, one descriptor set, push constants and specialization constants.
#pragma once

#include <cstdint>
#include <span>
#include <vector>
#include <vulkan/vulkan_raii.hpp>

#include "render/vk/device.h"

namespace echolux::gpu {

// The descriptor set of a shader and its layout. Bindings are numbered in the order of `types`.
class Bindings {
  public:
    // `push_bytes`: size of the push constants. `stages`: shader stages that access the bindings.
    Bindings(const Device& device, std::span<const vk::DescriptorType> types, std::uint32_t push_bytes = 0,
             vk::ShaderStageFlags stages = vk::ShaderStageFlagBits::eCompute);
    // Write the descriptor of one binding. The set must not be in use by submitted work.

    void set_buffer(std::uint32_t binding, vk::Buffer buffer, vk::DeviceSize offset = 0,
                    vk::DeviceSize bytes = VK_WHOLE_SIZE);
    void set_image(std::uint32_t binding, vk::ImageView view, vk::Sampler sampler = {});  // image in general layout

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

// Returns a compute pipeline. Specialization constant i is constants[i]; booleans are 0 or 1. Throws Error{device,
// out_of_memory}.
vk::raii::Pipeline compute_pipeline(const Device& device, const Bindings& bindings,
                                    std::span<const std::uint32_t> spirv, std::span<const std::int32_t> constants);

// Returns the number of workgroups of `group` invocations that cover `count`, per axis.
vk::Extent3D groups_of(vk::Extent3D count, vk::Extent3D group);

// Binds pipeline and descriptor set for the next dispatches.
void record_bind(const vk::raii::CommandBuffer& commands, const Bindings& bindings, const vk::raii::Pipeline& pipeline);

// Sets the push constants of the next dispatches.
template <class Part>
void record_push(const vk::raii::CommandBuffer& commands, const Bindings& bindings, const Part& part) {
    commands.pushConstants<Part>(bindings.layout(), vk::ShaderStageFlagBits::eCompute, 0, part);
}

// Binds pipeline and descriptor set, then dispatches `groups` workgroups.
void record_dispatch(const vk::raii::CommandBuffer& commands, const Bindings& bindings,
                     const vk::raii::Pipeline& pipeline, vk::Extent3D groups);

// ---- Graphics pipelines that draw triangles into one picture with dynamic rendering and straight-alpha blending.
// Viewport and scissor are dynamic state.

struct TriangleShaders {
    std::span<const std::uint32_t> vertex, fragment;  // SPIR-V
};

// Returns a pipeline for vertices in binding 0 with the given attributes and a stride of `vertex_bytes`. `target` is
// the format of the picture. Throws Error{device, out_of_memory}.
vk::raii::Pipeline triangle_pipeline(const Device& device, const Bindings& bindings, const TriangleShaders& shaders,
                                     std::span<const vk::VertexInputAttributeDescription> attributes,
                                     std::uint32_t vertex_bytes, vk::Format target);

// ---- Shaders with their specialization constants folded in and unreachable code removed. GPU drivers do this quickly
// themselves. Software Vulkan takes ten times as long to compile a complete large shader as the remaining part.

// Returns `spirv` with specialization constant i frozen to constants[i]; booleans are 0 or 1. Expects unoptimised
// SPIR-V: optimising it takes longer than it saves. Throws Error{device} for invalid SPIR-V.
std::vector<std::uint32_t> specialized(std::span<const std::uint32_t> spirv, std::span<const std::int32_t> constants);

}  // namespace echolux::gpu
