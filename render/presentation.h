// From finished pictures to the pixels of a window: the swapchain, copies of pictures into panes, and the triangles of
// the user interface.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "render/picture.h"
#include "render/screen.h"
#include "render/vk/image.h"
#include "render/vk/memory.h"
#include "render/vk/pipeline.h"
#include "render/vk/queue.h"

namespace echolux {

// ---- Swapchain of a window. Each image is acquired, filled and presented at the next refresh (FIFO, which every
// device supports and which does not tear). Rebuilt whenever the window has changed.

// An image of the window. Work that fills it waits for `acquired` and signals `drawn`.
struct WindowPicture {
    std::uint32_t number = 0;
    vk::Image image;
    vk::Semaphore acquired, drawn;
};

class Swapchain {
  public:
    // For the surface of `device`. Throws Error{device}.
    Swapchain(const gpu::Device& device, gpu::Queue& queue);
    ~Swapchain();  // waits for work in flight
    Swapchain(const Swapchain&) = delete;
    Swapchain& operator=(const Swapchain&) = delete;

    // Requests a rebuild before the next acquire, e.g. after a resize.
    void renew() { is_stale_ = true; }

    // Acquires the next image. The work of `turn` (below pictures_in_flight) must have finished. `wanted` is the size
    // to request if the window adapts to its images. Returns an empty value if the window is minimised or no image is
    // free within 50 ms. Throws Error{device}.
    std::optional<WindowPicture> acquire(std::size_t turn, vk::Extent2D wanted);

    // Copies a picture (RGBA8) to the image, aligned to the top left corner. Uncovered pixels become black.
    void record_copy(const vk::raii::CommandBuffer& commands, const WindowPicture& to,
                     const gpu::DeviceImage& from) const;

    // Presents the image. Throws Error{device}.
    void present(const WindowPicture& picture);

  private:
    bool is_made_for(vk::Extent2D wanted);
    vk::SwapchainCreateInfoKHR creation(const vk::SurfaceCapabilitiesKHR& surface, vk::Extent2D extent) const;

    const gpu::Device& device_;
    gpu::Queue& queue_;
    vk::SurfaceFormatKHR format_;
    bool is_stale_ = true;
    vk::Extent2D extent_;
    std::optional<vk::raii::SwapchainKHR> swapchain_;
    std::vector<vk::Image> images_;
    std::vector<vk::raii::Semaphore> acquired_;  // per turn
    std::vector<vk::raii::Semaphore> drawn_;     // per image: free once the image is acquired again
};

// ---- Copies pictures into panes of the screen: pixel by pixel if sizes match, else filtered, and clipped at the
// screen's edges.

// Source pixels and destination pixels of a copy.
struct PaneCopy {
    Region from, to;

    bool is_scaled() const { return from.width != to.width || from.height != to.height; }
};

// Returns the copy that fills `place` with a picture, clipped to the screen. Empty if nothing is visible. If scaled and
// clipped, the source is rounded outwards to whole pixels.
std::optional<PaneCopy> pane_copy(const Region& place, vk::Extent3D picture, vk::Extent3D screen);

// `screen` needs transfer usage. Work that drew on it before must have finished.
void record_pane(const vk::raii::CommandBuffer& commands, const gpu::DeviceImage& picture, const Region& place,
                 const gpu::DeviceImage& screen);

// ---- Draws the triangles of the user interface over a picture with shaders/interface.vert and .frag.

// Vertex and index buffers for one picture in flight, which grow on demand.
class InterfaceBuffers {
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
    void record(const vk::raii::CommandBuffer& commands, const InterfaceBuffers& interface,
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
