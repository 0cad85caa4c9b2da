// One volume as a 3-D texture: x = depth (fastest), y = A-scans, z = B-scans, with its bricks and what its codes mean.
// Voxels keep their type where the device filters it well: software Vulkan filters 8-bit textures with 8-bit weights,
// hence R16 there. Volumes of files and slots of a live ring are such textures, filled in different ways.
#pragma once

#include "compute/types.h"
#include "render/bricks.h"
#include "render/slots/page_layout.h"
#include "render/transfer_function.h"
#include "render/vk/image.h"

namespace echolux {

class VolumeTexture {
  public:
    // Allocates; the content is undefined. `range` of values is what pictures span where neither view nor curve knows.
    // Throws Error{bad_setting} for what cannot be shown (no voxels, scale 0), Error{out_of_memory}
    // before allocating when the device cannot hold it, Error{device} when it cannot be exported as wanted.
    VolumeTexture(const gpu::Device& device, const VolumeGrid& grid, const ValueRange& range,
                  gpu::Sharing sharing = gpu::Sharing::none);

    // Of a volume that is cut into pages the pool of these, whose bricks are still the volume's.
    VolumeTexture(const gpu::Device& device, const VolumeGrid& grid, const ValueRange& range, const PageLayout& layout);

    // What the texture of a whole volume looks like. Throws Error{bad_setting} for what cannot be shown.
    static gpu::ImageShape shape_for(const gpu::Device& device, const VolumeGrid& grid,
                                     gpu::Sharing sharing = gpu::Sharing::none);

    const VolumeGrid& grid() const { return grid_; }
    const ValueRange& range() const { return range_; }
    const ValueRange& range(RangeSource source) const { return source == RangeSource::fixed ? fixed_range_ : range_; }
    // `fixed` is the range of the first volume of a series, where this is a later one.
    void set_range(const ValueRange& range, const ValueRange& fixed) {
        range_ = range;
        fixed_range_ = fixed;
    }
    const gpu::DeviceImage& image() const { return image_; }
    const Bricks& bricks() const { return bricks_; }

    // value = texture value * scale() + offset()
    double scale() const { return scale_; }
    double offset() const { return grid_.offset; }

    // Recorded once, before anything else.
    void record_first_use(const vk::raii::CommandBuffer& commands) const;

    // Besides, where it is filled bit by bit: filtering reads the first slice that is not filled too, with a weight of
    // 0, which of what is no number makes no number.
    void record_clear(const vk::raii::CommandBuffer& commands) const { image_.record_clear(commands); }

    // Fills slices [first, end) from a buffer that holds the whole volume, packed as the texture stores it.
    void record_slices_from(const vk::raii::CommandBuffer& commands, vk::Buffer buffer, std::int64_t first,
                            std::int64_t end) const;

  private:
    VolumeGrid grid_;
    ValueRange range_, fixed_range_;
    double scale_;
    gpu::DeviceImage image_;
    Bricks bricks_;
};

// Whether voxels are pairs of numbers, a phase and how sure it is, of which the phase of pi is v_max.
bool is_phasor(const VolumeGrid& grid);

// Throws Error{bad_setting} for complex voxels: only flow has them.
void check_structure(const VolumeGrid& grid);

}  // namespace echolux
