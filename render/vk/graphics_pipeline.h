// Graphics pipelines that draw triangles into one picture with dynamic rendering and straight-alpha blending. Viewport
// and scissor are dynamic state.
#pragma once

#include <vulkan/vulkan_raii.hpp>

#include <cstdint>
#include <span>

#include "render/vk/pipeline.h"

namespace echolux::gpu {

struct TriangleShaders {
    std::span<const std::uint32_t> vertex, fragment;  // SPIR-V
};

// Returns a pipeline for vertices in binding 0 with the given attributes and a stride of `vertex_bytes`. `target` is
// the format of the picture. Throws Error{device, out_of_memory}.
vk::raii::Pipeline triangle_pipeline(const Device& device, const Bindings& bindings, const TriangleShaders& shaders,
                                     std::span<const vk::VertexInputAttributeDescription> attributes,
                                     std::uint32_t vertex_bytes, vk::Format target);

}  // namespace echolux::gpu
