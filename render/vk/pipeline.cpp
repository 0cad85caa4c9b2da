#include "render/vk/pipeline.h"

#include <array>
#include <functional>
#include <map>
#include <mutex>
#include <spirv-tools/optimizer.hpp>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "compute/error.h"

namespace echolux::gpu {
namespace {

vk::raii::DescriptorSetLayout create_set_layout(const Device& device, std::span<const vk::DescriptorType> types,
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
vk::raii::PipelineLayout create_layout(const Device& device, const vk::raii::DescriptorSetLayout& set,
                                       std::uint32_t push_bytes, vk::ShaderStageFlags stages) {
    const vk::PushConstantRange range{.stageFlags = stages, .size = push_bytes};
    return {device.logical(), vk::PipelineLayoutCreateInfo{.setLayoutCount = 1,
                                                           .pSetLayouts = &*set,
                                                           .pushConstantRangeCount = push_bytes > 0 ? 1U : 0U,
                                                           .pPushConstantRanges = &range}};
}

// Each set has its own pool, so its lifetime is independent of all others.
vk::raii::DescriptorPool create_pool(const Device& device, std::span<const vk::DescriptorType> types) {
    std::vector<vk::DescriptorPoolSize> sizes;
    for (const vk::DescriptorType type : types) sizes.push_back({.type = type, .descriptorCount = 1});
    return {device.logical(),
            vk::DescriptorPoolCreateInfo{.flags = vk::DescriptorPoolCreateFlagBits::eFreeDescriptorSet,
                                         .maxSets = 1,
                                         .poolSizeCount = static_cast<std::uint32_t>(sizes.size()),
                                         .pPoolSizes = sizes.data()}};
}

vk::raii::DescriptorSet create_set(const Device& device, const vk::raii::DescriptorPool& pool,
                                   const vk::raii::DescriptorSetLayout& layout) {
    vk::raii::DescriptorSets sets(
        device.logical(),
        vk::DescriptorSetAllocateInfo{.descriptorPool = *pool, .descriptorSetCount = 1, .pSetLayouts = &*layout});
    return std::move(sets.front());
}

}  // namespace

Bindings::Bindings(const Device& device, std::span<const vk::DescriptorType> types, std::uint32_t push_bytes,
                   vk::ShaderStageFlags stages)
    : device_(device), types_(types.begin(), types.end()), set_layout_(create_set_layout(device, types, stages)),
      layout_(create_layout(device, set_layout_, push_bytes, stages)), pool_(create_pool(device, types)),
      set_(create_set(device, pool_, set_layout_)) {}

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
    return reporting("creating a compute pipeline", [&] {
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

vk::Extent3D groups_of(vk::Extent3D count, vk::Extent3D group) {
    return {(count.width + group.width - 1) / group.width, (count.height + group.height - 1) / group.height,
            (count.depth + group.depth - 1) / group.depth};
}

void record_bind(const vk::raii::CommandBuffer& commands, const Bindings& bindings,
                 const vk::raii::Pipeline& pipeline) {
    commands.bindPipeline(vk::PipelineBindPoint::eCompute, *pipeline);
    commands.bindDescriptorSets(vk::PipelineBindPoint::eCompute, bindings.layout(), 0, bindings.set(), {});
}

void record_dispatch(const vk::raii::CommandBuffer& commands, const Bindings& bindings,
                     const vk::raii::Pipeline& pipeline, vk::Extent3D groups) {
    record_bind(commands, bindings, pipeline);
    commands.dispatch(groups.width, groups.height, groups.depth);
}

// ---- Graphics pipeline

static vk::raii::ShaderModule create_module(const Device& device, std::span<const std::uint32_t> spirv) {
    return {device.logical(), vk::ShaderModuleCreateInfo{.codeSize = spirv.size_bytes(), .pCode = spirv.data()}};
}

// Source over destination with straight alpha; the destination's alpha accumulates coverage.
constexpr vk::PipelineColorBlendAttachmentState over{
    .blendEnable = true,
    .srcColorBlendFactor = vk::BlendFactor::eSrcAlpha,
    .dstColorBlendFactor = vk::BlendFactor::eOneMinusSrcAlpha,
    .colorBlendOp = vk::BlendOp::eAdd,
    .srcAlphaBlendFactor = vk::BlendFactor::eOne,
    .dstAlphaBlendFactor = vk::BlendFactor::eOneMinusSrcAlpha,
    .alphaBlendOp = vk::BlendOp::eAdd,
    .colorWriteMask = vk::ColorComponentFlagBits::eR | vk::ColorComponentFlagBits::eG | vk::ColorComponentFlagBits::eB |
                      vk::ColorComponentFlagBits::eA};

vk::raii::Pipeline triangle_pipeline(const Device& device, const Bindings& bindings, const TriangleShaders& shaders,
                                     std::span<const vk::VertexInputAttributeDescription> attributes,
                                     std::uint32_t vertex_bytes, vk::Format target) {
    return reporting("creating a graphics pipeline", [&] {
        const vk::raii::ShaderModule vertex = create_module(device, shaders.vertex);
        const vk::raii::ShaderModule fragment = create_module(device, shaders.fragment);
        const std::array stages{vk::PipelineShaderStageCreateInfo{
                                    .stage = vk::ShaderStageFlagBits::eVertex, .module = *vertex, .pName = "main"},
                                vk::PipelineShaderStageCreateInfo{
                                    .stage = vk::ShaderStageFlagBits::eFragment, .module = *fragment, .pName = "main"}};
        const vk::VertexInputBindingDescription corners{.binding = 0, .stride = vertex_bytes};
        const vk::PipelineVertexInputStateCreateInfo input{
            .vertexBindingDescriptionCount = 1,
            .pVertexBindingDescriptions = &corners,
            .vertexAttributeDescriptionCount = static_cast<std::uint32_t>(attributes.size()),
            .pVertexAttributeDescriptions = attributes.data()};
        const vk::PipelineInputAssemblyStateCreateInfo triangles{.topology = vk::PrimitiveTopology::eTriangleList};
        const vk::PipelineViewportStateCreateInfo viewport{.viewportCount = 1, .scissorCount = 1};
        const vk::PipelineRasterizationStateCreateInfo filled{.lineWidth = 1};
        const vk::PipelineMultisampleStateCreateInfo one_sample{.rasterizationSamples = vk::SampleCountFlagBits::e1};
        const vk::PipelineColorBlendStateCreateInfo blend{.attachmentCount = 1, .pAttachments = &over};
        const std::array changing{vk::DynamicState::eViewport, vk::DynamicState::eScissor};
        const vk::PipelineDynamicStateCreateInfo dynamic{.dynamicStateCount = changing.size(),
                                                         .pDynamicStates = changing.data()};
        const vk::PipelineRenderingCreateInfo rendering{.colorAttachmentCount = 1, .pColorAttachmentFormats = &target};
        return vk::raii::Pipeline(device.logical(), nullptr,
                                  vk::GraphicsPipelineCreateInfo{.pNext = &rendering,
                                                                 .stageCount = stages.size(),
                                                                 .pStages = stages.data(),
                                                                 .pVertexInputState = &input,
                                                                 .pInputAssemblyState = &triangles,
                                                                 .pViewportState = &viewport,
                                                                 .pRasterizationState = &filled,
                                                                 .pMultisampleState = &one_sample,
                                                                 .pColorBlendState = &blend,
                                                                 .pDynamicState = &dynamic,
                                                                 .layout = bindings.layout()});
    });
}

// ---- Specialized

namespace {

std::vector<std::uint32_t> fold_constants(std::span<const std::uint32_t> spirv,
                                          std::span<const std::int32_t> constants) {
    std::unordered_map<std::uint32_t, std::vector<std::uint32_t>> values;
    for (std::uint32_t i = 0; i < constants.size(); ++i) values[i] = {static_cast<std::uint32_t>(constants[i])};
    spvtools::Optimizer optimizer(SPV_ENV_VULKAN_1_3);
    optimizer.RegisterPass(spvtools::CreateSetSpecConstantDefaultValuePass(values))
        .RegisterPass(spvtools::CreateFreezeSpecConstantValuePass())
        .RegisterPass(spvtools::CreateFoldSpecConstantOpAndCompositePass())
        .RegisterPass(spvtools::CreateDeadBranchElimPass())
        .RegisterPass(spvtools::CreateEliminateDeadFunctionsPass());
    spvtools::OptimizerOptions options;
    options.set_run_validator(false);  // the input is valid, and the validation layers check the output
    std::vector<std::uint32_t> made;
    if (!optimizer.Run(spirv.data(), spirv.size(), &made, options)) {
        throw Error(ErrorCode::device, "cannot be specialized", "shader");
    }
    return made;
}

// Latest results by a hash of the shader, and the constants.
class SpecializedShaders {
  public:
    using Words = std::vector<std::uint32_t>;

    Words of(std::span<const std::uint32_t> spirv, std::span<const std::int32_t> constants) {
        const std::string_view bytes(reinterpret_cast<const char*>(spirv.data()), spirv.size_bytes());
        const Key key{std::hash<std::string_view>()(bytes), {constants.begin(), constants.end()}};
        const std::scoped_lock lock(mutex_);
        const auto found = shaders_.find(key);
        if (found != shaders_.end()) return found->second;
        if (shaders_.size() >= max_shaders) shaders_.clear();
        return shaders_[key] = fold_constants(spirv, constants);
    }

  private:
    using Key = std::pair<std::size_t, std::vector<std::int32_t>>;
    static constexpr std::size_t max_shaders = 64;  // 100 KiB each

    std::mutex mutex_;
    std::map<Key, Words> shaders_;
};

}  // namespace

// Kept for the whole process, because each new renderer calls this pure function again: a sixth of the processor time
// of tests that make a renderer per case.
std::vector<std::uint32_t> specialized(std::span<const std::uint32_t> spirv, std::span<const std::int32_t> constants) {
    static SpecializedShaders shaders;
    return shaders.of(spirv, constants);
}

}  // namespace echolux::gpu
