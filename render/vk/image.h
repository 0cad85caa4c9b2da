// A texture or picture with its own memory and view: 1-D tables, 2-D pictures, 3-D volumes. Images stay in the general
// layout, because shaders write them and copies read them. The general layout costs compute nothing.
#pragma once

#include <array>
#include <vulkan/vulkan_raii.hpp>

#include "render/vk/device.h"
#include "render/vk/memory.h"
#include "render/vk/queue.h"

namespace echolux::gpu {

struct ImageShape {
    vk::ImageType type = vk::ImageType::e2D;
    vk::Format format = vk::Format::eR8G8B8A8Unorm;
    vk::Extent3D extent{1, 1, 1};
    vk::ImageUsageFlags usage;
    Sharing sharing = Sharing::none;  // exported: its memory can be imported by another API on the same GPU
};

// Limits of the device for one more image of a given type and format.
struct ImageRoom {
    std::int64_t edge = 0;   // smallest of the max extents per axis, in pixels
    std::int64_t bytes = 0;  // free device memory for one image, less an eighth for pictures and tables
};
ImageRoom room_for(const Device& device, const ImageShape& shape);

// Returns the free device memory in bytes. Without a memory budget it is the heap size: memory of other programs is
// unknown.
std::int64_t free_bytes(const Device& device);

// Returns true if the image is within the device's extent limits and its free memory.
bool fits(const Device& device, const ImageShape& shape);

// Returns true if the driver supports and exports such images.
bool can_export(const Device& device, const ImageShape& shape);

// Returns a sampler with linear filtering. `outside` is the colour beyond the image with clamping to the border.
vk::raii::Sampler linear_sampler(const Device& device,
                                 vk::SamplerAddressMode mode = vk::SamplerAddressMode::eClampToEdge,
                                 vk::BorderColor outside = vk::BorderColor::eFloatTransparentBlack);

class DeviceImage {
  public:
    // Allocates the image. `what` names it in errors: "volume of 512 x 500 x 500 voxels". Throws Error{out_of_memory}
    // with sizes before anything is allocated if the device cannot hold the image, else Error{device, out_of_memory}.
    DeviceImage(const Device& device, const ImageShape& shape, const std::string& what);

    vk::Image handle() const { return *image_; }
    vk::ImageView view() const { return *view_; }
    const ImageShape& shape() const { return shape_; }

    std::int64_t bytes_per_pixel() const;

    // Exported images only: size of the memory allocation, and a new handle to it. The caller owns the handle.
    std::int64_t memory_bytes() const { return memory_bytes_; }
    Handle exported() const;

    // Transitions the image to the general layout. Must be recorded once, before any other use; the content is
    // undefined after it.
    void record_first_use(const vk::raii::CommandBuffer& commands) const;

    // Fills the image with one colour, zeros by default.
    void record_clear(const vk::raii::CommandBuffer& commands, const std::array<float, 4>& colour = {}) const;

    // Transfer ownership of an exported image between this queue and the other API. The content is preserved.
    void record_acquire(const vk::raii::CommandBuffer& commands) const;
    void record_release(const vk::raii::CommandBuffer& commands) const;

    // Copies layers [first, first + count) of the third axis from a tightly packed buffer.
    void record_copy_from(const vk::raii::CommandBuffer& commands, vk::Buffer buffer, vk::DeviceSize offset,
                          std::uint32_t first = 0, std::uint32_t count = 1) const;
    // Copies a box from a tightly packed buffer.
    void record_box_from(const vk::raii::CommandBuffer& commands, vk::Buffer buffer, vk::DeviceSize offset,
                         vk::Offset3D first, vk::Extent3D extent) const;
    // Copies the whole image to a buffer, tightly packed.
    void record_copy_to(const vk::raii::CommandBuffer& commands, vk::Buffer buffer) const;

  private:
    vk::ImageMemoryBarrier2 ownership(std::uint32_t from, std::uint32_t to) const;

    const Device* device_;
    ImageShape shape_;
    vk::raii::Image image_;
    std::int64_t memory_bytes_;
    vk::raii::DeviceMemory memory_;
    vk::raii::ImageView view_;
};

}  // namespace echolux::gpu
