// A pipeline that draws triangles into one picture by dynamic rendering, blending over what is there by straight alpha.
// Viewport and scissor are set as it is used.
#pragma once

#include <vulkan/vulkan_raii.hpp>

#include <cstdint>
#include <span>

#include "render/vk/pipeline.h"

namespace echolux::gpu {

struct TriangleShaders {
    std::span<const std::uint32_t> vertex, fragment;  // SPIR-V
};

// `attributes`: of vertices in binding 0, `vertex_bytes` apart. `target`: the picture's format. Throws Error{device,
// out_of_memory}.
vk::raii::Pipeline triangle_pipeline(const Device& device, const Bindings& bindings, const TriangleShaders& shaders,
                                     std::span<const vk::VertexInputAttributeDescription> attributes,
                                     std::uint32_t vertex_bytes, vk::Format target);

}  // namespace echolux::gpu
