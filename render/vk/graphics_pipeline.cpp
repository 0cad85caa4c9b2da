#include "render/vk/graphics_pipeline.h"

#include <array>

namespace echolux::gpu {
namespace {

vk::raii::ShaderModule made_module(const Device& device, std::span<const std::uint32_t> spirv) {
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

}  // namespace

vk::raii::Pipeline triangle_pipeline(const Device& device, const Bindings& bindings, const TriangleShaders& shaders,
                                     std::span<const vk::VertexInputAttributeDescription> attributes,
                                     std::uint32_t vertex_bytes, vk::Format target) {
    return reporting("making a graphics pipeline", [&] {
        const vk::raii::ShaderModule vertex = made_module(device, shaders.vertex);
        const vk::raii::ShaderModule fragment = made_module(device, shaders.fragment);
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

}  // namespace echolux::gpu
