// A texture or picture with memory and view of its own: 1-D tables, 2-D pictures, 3-D volumes. Images stay in the
// general layout: pictures are written by shaders and copied, and it costs compute nothing.
#pragma once

#include <vulkan/vulkan_raii.hpp>

#include <array>

#include "render/vk/device.h"
#include "render/vk/handle.h"
#include "render/vk/timeline.h"

namespace echolux::gpu {

struct ImageShape {
    vk::ImageType type = vk::ImageType::e2D;
    vk::Format format = vk::Format::eR8G8B8A8Unorm;
    vk::Extent3D extent{1, 1, 1};
    vk::ImageUsageFlags usage;
    Sharing sharing = Sharing::none;  // exported: another API on the same GPU can be given its memory
};

// What the device has for one image of such a type and format, now.
struct ImageRoom {
    std::int64_t edge = 0;   // pixels along the shortest of its longest edges
    std::int64_t bytes = 0;  // that are free, with some left for pictures and tables
};
ImageRoom room_for(const Device& device, const ImageShape& shape);

// Of the device's own memory; what other programs have taken is known where the driver tells a budget.
std::int64_t free_bytes(const Device& device);

// Whether the device has room for the image.
bool fits(const Device& device, const ImageShape& shape);

// Whether the driver makes and exports such images.
bool can_export(const Device& device, const ImageShape& shape);

class DeviceImage {
  public:
    // `what` names the image in errors: "volume of 512 x 500 x 500 voxels". Throws Error{out_of_memory} with sizes,
    // before anything is allocated, when the device cannot hold it.
    DeviceImage(const Device& device, const ImageShape& shape, const std::string& what);

    vk::Image handle() const { return *image_; }
    vk::ImageView view() const { return *view_; }
    const ImageShape& shape() const { return shape_; }

    std::int64_t bytes_per_pixel() const;

    // Of an exported image: the bytes of its memory, and a handle of it.
    std::int64_t memory_bytes() const { return memory_bytes_; }
    Handle exported() const;

    // Makes the image usable (its content becomes undefined): recorded once, before anything else.
    void record_first_use(const vk::raii::CommandBuffer& commands) const;

    // Fills it with one colour, or with zeros.
    void record_clear(const vk::raii::CommandBuffer& commands, const std::array<float, 4>& colour = {}) const;

    // An exported image belongs to either this queue or the other API: its content passes from one to the other.
    void record_acquire(const vk::raii::CommandBuffer& commands) const;
    void record_release(const vk::raii::CommandBuffer& commands) const;

    // Fills layers [first, first + count) of the third axis from a buffer, packed.
    void record_copy_from(const vk::raii::CommandBuffer& commands, vk::Buffer buffer, vk::DeviceSize offset,
                          std::uint32_t first = 0, std::uint32_t count = 1) const;
    // Fills a box of it from a buffer, packed.
    void record_box_from(const vk::raii::CommandBuffer& commands, vk::Buffer buffer, vk::DeviceSize offset,
                         vk::Offset3D first, vk::Extent3D extent) const;
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
