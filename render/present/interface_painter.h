// Draws the triangles of the interface over a picture, by shaders/interface.vert and .frag.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>

#include "render/screen.h"
#include "render/vk/image.h"
#include "render/vk/memory.h"
#include "render/vk/pipeline.h"
#include "render/vk/queue.h"

namespace echolux {

// The triangles of one picture under way, where the device reads them; grows with them.
class DrawnInterface {
  public:
    // The device must be done with what it held before. Throws Error{out_of_memory}, Error{bad_setting} for parts whose
    // indices are not in the mesh.
    void fill(const gpu::Device& device, const InterfaceMesh& mesh);

  private:
    friend class InterfacePainter;

    std::optional<gpu::HostBuffer> vertices_;
    std::optional<gpu::HostBuffer> indices_;
    std::vector<InterfacePart> parts_;
};

class InterfacePainter {
  public:
    // On pictures of this format. Throws Error{device, out_of_memory}.
    InterfacePainter(const gpu::Device& device, gpu::Queue& queue, vk::Format target);

    // Coverage, row by row from the top; until then everything is covered. Waits for the pictures under way.
    void set_glyphs(std::int64_t width, std::int64_t height, std::span<const std::uint8_t> coverage);

    // `target` is a colour attachment.
    void record(const vk::raii::CommandBuffer& commands, const DrawnInterface& interface,
                const gpu::DeviceImage& target) const;

  private:
    const gpu::Device& device_;
    gpu::Queue& queue_;
    vk::raii::Sampler sampler_;
    gpu::Bindings bindings_;
    vk::raii::Pipeline pipeline_;
    std::optional<gpu::DeviceImage> glyphs_;
};

}  // namespace echolux
