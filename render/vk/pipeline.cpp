#include "render/vk/pipeline.h"

namespace echolux::gpu {
namespace {

vk::raii::DescriptorSetLayout made_set_layout(const Device& device, std::span<const vk::DescriptorType> types,
                                              vk::ShaderStageFlags stages) {
    std::vector<vk::DescriptorSetLayoutBinding> bindings;
    for (const vk::DescriptorType type : types) {
        bindings.push_back({.binding = static_cast<std::uint32_t>(bindings.size()),
                            .descriptorType = type,
                            .descriptorCount = 1,
                            .stageFlags = stages});
    }
    return {device.logical(),
            vk::DescriptorSetLayoutCreateInfo{.bindingCount = static_cast<std::uint32_t>(bindings.size()),
                                              .pBindings = bindings.data()}};
}

// Layout of one descriptor set and, if used, one range of push constants.
vk::raii::PipelineLayout made_layout(const Device& device, const vk::raii::DescriptorSetLayout& set,
                                     std::uint32_t push_bytes, vk::ShaderStageFlags stages) {
    const vk::PushConstantRange range{.stageFlags = stages, .size = push_bytes};
    return {device.logical(), vk::PipelineLayoutCreateInfo{.setLayoutCount = 1,
                                                           .pSetLayouts = &*set,
                                                           .pushConstantRangeCount = push_bytes > 0 ? 1U : 0U,
                                                           .pPushConstantRanges = &range}};
}

// Each set has its own pool, so its lifetime is independent of all others.
vk::raii::DescriptorPool made_pool(const Device& device, std::span<const vk::DescriptorType> types) {
    std::vector<vk::DescriptorPoolSize> sizes;
    for (const vk::DescriptorType type : types) sizes.push_back({.type = type, .descriptorCount = 1});
    return {device.logical(),
            vk::DescriptorPoolCreateInfo{.flags = vk::DescriptorPoolCreateFlagBits::eFreeDescriptorSet,
                                         .maxSets = 1,
                                         .poolSizeCount = static_cast<std::uint32_t>(sizes.size()),
                                         .pPoolSizes = sizes.data()}};
}

vk::raii::DescriptorSet made_set(const Device& device, const vk::raii::DescriptorPool& pool,
                                 const vk::raii::DescriptorSetLayout& layout) {
    vk::raii::DescriptorSets sets(
        device.logical(),
        vk::DescriptorSetAllocateInfo{.descriptorPool = *pool, .descriptorSetCount = 1, .pSetLayouts = &*layout});
    return std::move(sets.front());
}

}  // namespace

Bindings::Bindings(const Device& device, std::span<const vk::DescriptorType> types, std::uint32_t push_bytes,
                   vk::ShaderStageFlags stages)
    : device_(device), types_(types.begin(), types.end()), set_layout_(made_set_layout(device, types, stages)),
      layout_(made_layout(device, set_layout_, push_bytes, stages)), pool_(made_pool(device, types)),
      set_(made_set(device, pool_, set_layout_)) {}

void Bindings::set_buffer(std::uint32_t binding, vk::Buffer buffer, vk::DeviceSize offset, vk::DeviceSize bytes) {
    const vk::DescriptorBufferInfo part{.buffer = buffer, .offset = offset, .range = bytes};
    device_.logical().updateDescriptorSets(vk::WriteDescriptorSet{.dstSet = *set_,
                                                                  .dstBinding = binding,
                                                                  .descriptorCount = 1,
                                                                  .descriptorType = types_[binding],
                                                                  .pBufferInfo = &part},
                                           {});
}

void Bindings::set_image(std::uint32_t binding, vk::ImageView view, vk::Sampler sampler) {
    const vk::DescriptorImageInfo image{
        .sampler = sampler, .imageView = view, .imageLayout = vk::ImageLayout::eGeneral};
    device_.logical().updateDescriptorSets(vk::WriteDescriptorSet{.dstSet = *set_,
                                                                  .dstBinding = binding,
                                                                  .descriptorCount = 1,
                                                                  .descriptorType = types_[binding],
                                                                  .pImageInfo = &image},
                                           {});
}

vk::raii::Pipeline compute_pipeline(const Device& device, const Bindings& bindings,
                                    std::span<const std::uint32_t> spirv, std::span<const std::int32_t> constants) {
    return reporting("making a compute pipeline", [&] {
        // The module is only needed while the pipeline is created.
        const vk::raii::ShaderModule shader(device.logical(), {.codeSize = spirv.size_bytes(), .pCode = spirv.data()});
        std::vector<vk::SpecializationMapEntry> entries;
        for (std::uint32_t i = 0; i < constants.size(); ++i) {
            entries.push_back({.constantID = i, .offset = i * 4, .size = 4});
        }
        const vk::SpecializationInfo specialization{.mapEntryCount = static_cast<std::uint32_t>(entries.size()),
                                                    .pMapEntries = entries.data(),
                                                    .dataSize = constants.size_bytes(),
                                                    .pData = constants.data()};
        const vk::PipelineShaderStageCreateInfo stage{.stage = vk::ShaderStageFlagBits::eCompute,
                                                      .module = *shader,
                                                      .pName = "main",
                                                      .pSpecializationInfo = &specialization};
        return vk::raii::Pipeline(
            device.logical(), nullptr,
            vk::ComputePipelineCreateInfo{
                .flags = vk::PipelineCreateFlagBits::eDispatchBase, .stage = stage, .layout = bindings.layout()});
    });
}

void record_dispatch(const vk::raii::CommandBuffer& commands, const Bindings& bindings,
                     const vk::raii::Pipeline& pipeline, vk::Extent3D groups) {
    commands.bindPipeline(vk::PipelineBindPoint::eCompute, *pipeline);
    commands.bindDescriptorSets(vk::PipelineBindPoint::eCompute, bindings.layout(), 0, bindings.set(), {});
    commands.dispatch(groups.width, groups.height, groups.depth);
}

}  // namespace echolux::gpu
