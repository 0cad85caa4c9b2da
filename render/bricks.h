// The smallest and the largest value in and around each brick of a volume, so that rays skip what cannot be seen, and
// what the transfer function makes of them. Both are made on the device: one way for voxels of every origin.
#pragma once

#include <array>
#include <map>
#include <span>
#include <vector>

#include "compute/types.h"
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
    Bricks(const gpu::Device& device, vk::Extent3D voxels, int edge);

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
    friend class BrickPeaks;

    Bricks(const gpu::Device& device, vk::Extent3D voxels, int edge, bool reduces, vk::Format ranges);

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

// What there is of a volume that is filled slice by slice (B-scans): those before `first` have been taken note of,
// those from `end` on are not there yet. Where `first` is 0, nothing is kept of what was built before.
struct NewSlices {
    std::int64_t first = 0;
    std::int64_t end = 0;
};

// The peaks of a volume (Peaks, of as many voxels as a brick is deep) in a buffer, as bricks are made of them.
class BrickPeaks {
  public:
    // Of voxels of `grid`. The buffer lives longer.
    BrickPeaks(const gpu::Device& device, const Bricks& bricks, const VolumeGrid& grid, vk::Buffer peaks);

    // What the buffer holds: peaks without a gap, whole words.
    static std::size_t bytes(const VolumeGrid& grid, int edge);

    // Whether the device can read so many, and voxels are of a type that has peaks.
    static bool fit(const gpu::Device& device, const VolumeGrid& grid, int edge);

  private:
    friend class BrickBuilder;

    gpu::Bindings bindings_;
    std::int32_t kind_, peaks_, a_scans_, by_words_;
};

// The pipelines that fill bricks.
class BrickBuilder {
  public:
    explicit BrickBuilder(const gpu::Device& device);

    // From the voxels, which are read again. Largest values alone: of new slices, with nothing in bricks beyond them.
    // Both ends: always of all slices up to the end; of bricks beyond them nothing is known.
    void record(const vk::raii::CommandBuffer& commands, const Bricks& bricks, const NewSlices& slices, BrickEnds ends);

    // Largest values, from peaks: as from the voxels, bit for bit.
    void record_peaks(const vk::raii::CommandBuffer& commands, const Bricks& bricks, const BrickPeaks& peaks,
                      const NewSlices& slices);

    // From a buffer with the smallest and the largest value of each brick's own voxels, as floats, depth fastest.
    void record_from(const vk::raii::CommandBuffer& commands, const Bricks& bricks, vk::Buffer ranges) const;

  private:
    // Some slabs of bricks, one B-scan of them each.
    struct Slabs {
        std::int32_t first, end;
    };
    static Slabs slabs_of(const Bricks& bricks, const NewSlices& slices);

    const vk::raii::Pipeline& range_pipeline(const Bricks& bricks, BrickEnds ends);
    const vk::raii::Pipeline& peaks_pipeline(const Bricks& bricks, const BrickPeaks& peaks);
    void record_dilation(const vk::raii::CommandBuffer& commands, const Bricks& bricks, const Slabs& changed) const;

    const gpu::Device& device_;

    gpu::Bindings range_bindings_;  // the layouts of every set of bricks
    gpu::Bindings peaks_bindings_;
    gpu::Bindings dilate_bindings_;
    std::map<std::array<std::int32_t, 3>, vk::raii::Pipeline> range_;     // edge, with a reducing sampler, both ends
    std::map<std::array<std::int32_t, 3>, vk::raii::Pipeline> of_peaks_;  // edge, kind, by words
    vk::raii::Pipeline dilate_;
};

// Extinctions of the transfer table to what a range of its entries holds: see limit_shift. `thin`: the largest
// extinction for which longer steps will do.
std::vector<std::uint32_t> class_limits(std::span<const float> extinctions, float thin);

class BrickClassifier {
  public:
    explicit BrickClassifier(const gpu::Device& device);

    // Of one picture under way.
    class Work {
      public:
        explicit Work(const gpu::Device& device);

        // `limits`: a 1-D texture of class_limits(). Kept until the next call, whose picture must wait for this one's.
        void bind(const Bricks& bricks, vk::ImageView limits);

      private:
        friend class BrickClassifier;
        gpu::Bindings bindings_;
        vk::Extent3D extent_;
    };

    // Texture value * scale + offset = entry of the table.
    void record(const vk::raii::CommandBuffer& commands, const Work& work, float scale, float offset) const;

  private:
    Work like_all_;  // the pipeline is made for bindings of this kind
    vk::raii::Pipeline pipeline_;
};

}  // namespace echolux
