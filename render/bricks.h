// The smallest and the largest value in and around each brick of a volume, so that rays skip what cannot be seen, and
// what the transfer function makes of them. Both are made on the device: one way for voxels of every origin.
#pragma once

#include <array>
#include <map>
#include <span>
#include <vector>

#include "render/vk/image.h"
#include "render/vk/pipeline.h"
#include "shaders/shared/bricks.h"

namespace echolux {

// Of one volume texture: allocated once, built again whenever the texture has new voxels.
class Bricks {
  public:
    // Throws Error{out_of_memory}.
    Bricks(const gpu::Device& device, const gpu::DeviceImage& volume);

    // Of a volume that no texture holds: BrickBuilder::record_from fills them.
    Bricks(const gpu::Device& device, vk::Extent3D voxels, int edge) : Bricks(device, voxels, edge, false) {}

    // Voxels along each edge of a brick.
    int edge() const { return edge_; }

    // Half voxels around the middle of a brick for which it vouches, interpolation included: a run of samples that is
    // no longer needs but the brick at its middle.
    int reach() const { return 2 * edge_ - 1; }

    const gpu::DeviceImage& ranges() const { return dilated_; }   // R: smallest, G: largest texture value
    const gpu::DeviceImage& classes() const { return classes_; }  // brick_empty .. brick_dense

    void record_first_use(const vk::raii::CommandBuffer& commands) const;

  private:
    friend class BrickBuilder;

    Bricks(const gpu::Device& device, vk::Extent3D voxels, int edge, bool reduces);

    int edge_;
    bool reduces_;
    gpu::DeviceImage own_;      // of each brick alone
    gpu::DeviceImage dilated_;  // with its neighbours
    gpu::DeviceImage classes_;
    vk::raii::Sampler min_;
    vk::raii::Sampler max_;
    gpu::Bindings from_voxels_;
    gpu::Bindings from_neighbours_;
};

// What is found out of bricks. The largest values alone take half the time, and of most pictures they are all that is
// needed: bricks are then taken to hold values as small as can be.
enum class BrickEnds { largest, both };

// The pipelines that fill bricks.
class BrickBuilder {
  public:
    explicit BrickBuilder(const gpu::Device& device);

    // From the first `slices` slices (B-scans) of the volume; of bricks beyond them nothing is known.
    void record(const vk::raii::CommandBuffer& commands, const Bricks& bricks, std::int64_t slices, BrickEnds ends);

    // From a buffer with the smallest and the largest value of each brick's own voxels, as floats, depth fastest.
    void record_from(const vk::raii::CommandBuffer& commands, const Bricks& bricks, vk::Buffer ranges) const;

  private:
    const vk::raii::Pipeline& range_pipeline(const Bricks& bricks, BrickEnds ends);

    const gpu::Device& device_;

    gpu::Bindings range_bindings_;  // the layouts of every set of bricks
    gpu::Bindings dilate_bindings_;
    std::map<std::array<std::int32_t, 3>, vk::raii::Pipeline> range_;  // edge, with a reducing sampler, both ends
    vk::raii::Pipeline dilate_;
};

// Extinctions of the transfer table to what a range of its entries holds: see limit_shift. `thin`: the largest
// extinction for which longer steps will do.
std::vector<std::uint32_t> class_limits(std::span<const float> extinctions, float thin);

// Classifies bricks for one picture under way.
class BrickClassifier {
  public:
    explicit BrickClassifier(const gpu::Device& device);

    // `limits`: a 1-D texture of class_limits(). Kept until the next call, whose picture must wait for this one's.
    void bind(const Bricks& bricks, vk::ImageView limits);

    // Texture value * scale + offset = entry of the table.
    void record(const vk::raii::CommandBuffer& commands, float scale, float offset) const;

  private:
    gpu::Bindings bindings_;
    vk::raii::Pipeline pipeline_;
    vk::Extent3D extent_;
};

}  // namespace echolux
