// Draws the triangles of the user interface over a picture with shaders/interface.vert and .frag.
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

// Vertex and index buffers for one picture in flight, which grow on demand.
class DrawnInterface {
  public:
    // Copies the mesh to the buffers. Work that reads the previous content must have finished. Throws
    // Error{out_of_memory}, Error{bad_setting} for parts with indices outside the mesh.
    void fill(const gpu::Device& device, const InterfaceMesh& mesh);

  private:
    friend class InterfacePainter;

    std::optional<gpu::HostBuffer> vertices_;
    std::optional<gpu::HostBuffer> indices_;
    std::vector<InterfacePart> parts_;
};

class InterfacePainter {
  public:
    // `target` is the format of the pictures. Throws Error{device, out_of_memory}.
    InterfacePainter(const gpu::Device& device, gpu::Queue& queue, vk::Format target);

    // Uploads the coverage of the glyphs, row by row from the top. Waits for pictures in flight. Until the first call,
    // coverage is 1 everywhere.
    void set_glyphs(std::int64_t width, std::int64_t height, std::span<const std::uint8_t> coverage);

    // Draws the parts in order, each clipped to its rectangle. `target` must have colour attachment usage.
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
