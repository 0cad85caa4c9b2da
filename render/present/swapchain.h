// Swapchain of a window. Each image is acquired, filled and presented at the next refresh (FIFO, which every device
// supports and which does not tear). Rebuilt whenever the window has changed.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "render/picture.h"
#include "render/vk/image.h"
#include "render/vk/queue.h"

namespace echolux {

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

    // Acquires the next image. The work of `turn` (below pictures_under_way) must have finished. `wanted` is the size
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

}  // namespace echolux
