// Volumes as 3-D textures, and everything uploaded next to them: flow, height maps, channels.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "compute/types.h"
#include "render/bricks.h"
#include "render/picture.h"
#include "render/scan_geometry.h"
#include "render/slots/pages.h"
#include "render/slots/voxel_source.h"
#include "render/transfer_function.h"
#include "render/view/view.h"
#include "render/vk/image.h"
#include "render/vk/queue.h"

namespace echolux {

// ---- A volume as a 3-D texture: x = depth (fastest), y = A-scans, z = B-scans, with its bricks and the scaling of its
// codes. Used for volumes of files and for the slots of a live ring, which are filled in different ways.
//
// Voxels keep their type if the device filters it precisely. Software Vulkan filters 8-bit textures with 8-bit weights,
// so they are stored as R16 there.

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

// ---- Uploads voxels from the host to textures in the texture's format.

// Returns true if the texture stores 8-bit codes in 16 bits.
bool is_widened(const VolumeTexture& texture);

// Returns the converter from the volume's codes to the texture's format.
StoredCodes stored_codes(const VolumeTexture& texture);

// Uploads all voxels and builds the bricks, then waits for the device. The staging buffer holds a few whole B-scans, so
// large volumes need little extra memory. Voxels that are not finite become the nearest end of the texture's range.
void upload(const gpu::Device& device, gpu::Queue& queue, BrickBuilder& builder, const VolumeTexture& texture,
            const VoxelSource& source);

// ---- A volume of flow as a texture, next to that of the structure. Flow is a velocity, a phasor (phase and
// confidence) or an angiogram.

// Throws Error{bad_setting} if the flow differs in size from the structure or its quantity is not a flow.
void check_flow(const VolumeGrid& flow, const VolumeGrid& structure);

// Returns the range of flow values to expect from the quantity and unit alone. Phasors are in radians.
ValueRange expected_flow(const VolumeGrid& grid);

// Returns the 99.5th percentile of the counted speeds. Empty if nothing was counted.
std::optional<double> usual_speed(const Histogram& histogram);

// Returns the range up to `speed`: [-speed, speed] for velocities, [0, speed] for flow without a sign.
ValueRange flow_range_to(const VolumeGrid& grid, double speed);

// Rounds up to 1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6 or 8 times a power of ten. Used for the end of the colour scale.
double round_speed(double speed);

// Uploads flow and waits for it. The texture's range reaches to the usual speed. Voxels that are not finite become zero
// flow.
VolumeTexture flow_texture(const gpu::Device& device, gpu::Queue& queue, BrickBuilder& builder, const VolumeGrid& grid,
                           const void* voxels);

// ---- Height maps as a texture over the lateral plane: x = A-scans, y = B-scans. The two channels are the depths of
// the top and bottom surface in um; 0 where a map is missing.

// Uploads the maps and waits for them. The format is RG32F.
gpu::DeviceImage height_texture(const gpu::Device& device, gpu::Queue& queue, const HeightMaps& maps);

// ---- Textures of a view's channels. A channel's volume is uploaded for the first picture that shows it and released
// once no view uses it.

class ChannelTextures {
  public:
    ChannelTextures(const gpu::Device& device, gpu::Queue& queue, BrickBuilder& builder)
        : device_(device), queue_(queue), builder_(builder) {}

    // Uploads new visible channels of a view and releases those that no view uses any longer. Waits for pictures in
    // flight before it releases any. Returns true if the set of textures changed. Throws Error{bad_setting} for voxels
    // that cannot be shown, Error{out_of_memory}.
    bool bring_in(const Channels& channels);

    // Returns the texture of a channel that bring_in() has uploaded.
    const VolumeTexture& of(const Channel& channel) const { return *textures_.at(channel.volume.get()).texture; }

  private:
    struct Kept {
        std::weak_ptr<const ChannelVoxels> voxels;
        std::unique_ptr<VolumeTexture> texture;
        bool are_labels;  // the voxels have been checked as labels
    };
    std::unique_ptr<VolumeTexture> uploaded(const Channel& channel) const;

    const gpu::Device& device_;
    gpu::Queue& queue_;
    BrickBuilder& builder_;
    std::map<const ChannelVoxels*, Kept> textures_;
};

// ---- Transfer functions of channels.

// Returns the channel's curve settings. Settings that channels do not have are those of the view.
Curve curve_of(const Channel& channel, const Curve& view);

// Returns the transfer function of a channel without labels. Throws Error{bad_setting} like transfer_function().
TransferFunction channel_function(const View& view, const Channel& channel, const VolumeTexture& texture);

// ---- Benchmark of texture sampling: the reference for the speed of the ray caster.

// Returns the rate of trilinear samples per second for 8-bit voxels (16-bit on software Vulkan, like volumes), one
// value per repetition. Empty if the device has no timestamps.
std::vector<double> texture_rates(const gpu::Device& device, gpu::Queue& queue, int repetitions);

}  // namespace echolux
