// A volume as a 3-D texture: x = depth (fastest), y = A-scans, z = B-scans, with its bricks and the scaling of its
// codes. Used for volumes of files and for the slots of a live ring, which are filled in different ways.
//
// Voxels keep their type if the device filters it precisely. Software Vulkan filters 8-bit textures with 8-bit weights,
// so they are stored as R16 there.
#pragma once

#include "compute/types.h"
#include "render/bricks.h"
#include "render/slots/page_layout.h"
#include "render/transfer_function.h"
#include "render/vk/image.h"

namespace echolux {

class VolumeTexture {
  public:
    // Allocates the texture; the content is undefined. `range` is the range of values for pictures unless view or curve
    // has one. Throws Error{bad_setting} for volumes that cannot be shown (no voxels, scale 0), Error{out_of_memory}
    // before allocating if the device cannot hold it, Error{device} if it cannot be exported as requested.
    VolumeTexture(const gpu::Device& device, const VolumeGrid& grid, const ValueRange& range,
                  gpu::Sharing sharing = gpu::Sharing::none);

    // Allocates the pool of a volume that is cut into pages. The bricks cover the whole volume.
    VolumeTexture(const gpu::Device& device, const VolumeGrid& grid, const ValueRange& range, const PageLayout& layout);

    // Returns the shape of the texture for a whole volume. Throws Error{bad_setting} for volumes that cannot be shown.
    static gpu::ImageShape shape_for(const gpu::Device& device, const VolumeGrid& grid,
                                     gpu::Sharing sharing = gpu::Sharing::none);

    const VolumeGrid& grid() const { return grid_; }
    const ValueRange& range() const { return range_; }
    const ValueRange& range(RangeSource source) const { return source == RangeSource::fixed ? fixed_range_ : range_; }
    // For later volumes of a series, `fixed` is the range of the first one.
    void set_range(const ValueRange& range, const ValueRange& fixed) {
        range_ = range;
        fixed_range_ = fixed;
    }
    const gpu::DeviceImage& image() const { return image_; }
    const Bricks& bricks() const { return bricks_; }

    // value = texture value * scale() + offset()
    double scale() const { return scale_; }
    double offset() const { return grid_.offset; }

    // Recorded once, before any other use.
    void record_first_use(const vk::raii::CommandBuffer& commands) const;

    // Clears the texture. Needed if it is filled in parts: filtering also reads the first unfilled slice with a weight
    // of 0, and 0 times NaN is NaN.
    void record_clear(const vk::raii::CommandBuffer& commands) const { image_.record_clear(commands); }

    // Copies slices [first, end) from a buffer that holds the whole volume, packed in the texture's format.
    void record_slices_from(const vk::raii::CommandBuffer& commands, vk::Buffer buffer, std::int64_t first,
                            std::int64_t end) const;

  private:
    VolumeGrid grid_;
    ValueRange range_, fixed_range_;
    double scale_;
    gpu::DeviceImage image_;
    Bricks bricks_;
};

// Returns true if voxels are phasors: a phase and its confidence as a complex number. A phase of pi is v_max.
bool is_phasor(const VolumeGrid& grid);

// Throws Error{bad_setting} for complex voxels, which only flow may have.
void check_structure(const VolumeGrid& grid);

}  // namespace echolux
