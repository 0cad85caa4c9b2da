// The pictures of a window, which take turns: one is got, filled, and given to the window system to be shown at the
// next refresh (FIFO, which every device has and which tears nothing). Made anew whenever the window is not any more
// as it was.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "render/picture.h"
#include "render/vk/image.h"
#include "render/vk/queue.h"

namespace echolux {

// One picture of the window, to be filled by work that waits for `acquired` and signals `drawn`.
struct WindowPicture {
    std::uint32_t number = 0;
    vk::Image image;
    vk::Semaphore acquired, drawn;
};

class Swapchain {
  public:
    // On the device's surface. Throws Error{device}.
    Swapchain(const gpu::Device& device, gpu::Queue& queue);
    ~Swapchain();  // waits for what is under way
    Swapchain(const Swapchain&) = delete;
    Swapchain& operator=(const Swapchain&) = delete;

    // The window may have another size.
    void renew() { is_stale_ = true; }

    // The next picture. `turn`, below pictures_under_way: whose work is finished. `wanted` is asked for where the
    // window takes the size of its pictures. Nothing: minimised, or the window system has none free at the moment.
    // Throws Error{device}.
    std::optional<WindowPicture> acquire(std::size_t turn, vk::Extent2D wanted);

    // Fills it with a picture (RGBA8), pixel by pixel from the left top corner.
    void record_copy(const vk::raii::CommandBuffer& commands, const WindowPicture& to,
                     const gpu::DeviceImage& from) const;

    // Throws Error{device}.
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
    std::vector<vk::raii::Semaphore> acquired_;  // one a turn
    std::vector<vk::raii::Semaphore> drawn_;     // one a picture: free when that is got again
};

}  // namespace echolux
