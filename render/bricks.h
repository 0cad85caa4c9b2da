// Bricks: min and max value in and around each cube of a volume, for skipping invisible regions, and their
// classification by the transfer function. Both are computed on the device, regardless of the origin of the voxels.
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

// Bricks of a volume texture. Allocated once, rebuilt whenever the texture has new voxels.
class Bricks {
  public:
    // Throws Error{out_of_memory}.
    Bricks(const gpu::Device& device, const gpu::DeviceImage& volume);

    // For volumes without a single texture: BrickBuilder::record_from() fills them.
    Bricks(const gpu::Device& device, vk::Extent3D voxels, int edge);

    // In voxels.
    int edge() const { return edge_; }

    // Returns the number of half voxels around the centre of a brick that it covers, including interpolation. A run of
    // samples up to this length needs only the brick at its centre.
    int reach() const { return 2 * edge_ - 1; }

    const gpu::DeviceImage& ranges() const { return dilated_; }   // R: min, G: max texture value
    const gpu::DeviceImage& classes() const { return classes_; }  // brick_empty to brick_dense

    // Returns true if the samplers of bind_extremes() return the min and max of eight voxels. Not for floats: a sampler
    // may ignore NaN.
    bool reduces_codes() const { return reduces_codes_; }
    void bind_extremes(gpu::Bindings& raycast, vk::ImageView volume) const;

    void record_first_use(const vk::raii::CommandBuffer& commands) const;

  private:
    friend class BrickBuilder;
    friend class BrickPeaks;

    Bricks(const gpu::Device& device, vk::Extent3D voxels, int edge, bool reduces, vk::Format ranges);

    int edge_;
    bool reduces_;
    bool reduces_codes_ = false;
    gpu::DeviceImage own_;      // ranges of single bricks
    gpu::DeviceImage dilated_;  // including neighbours
    gpu::DeviceImage classes_;
    vk::raii::Sampler min_;
    vk::raii::Sampler max_;
    gpu::Bindings from_voxels_;
    gpu::Bindings from_neighbours_;
};

// Content of the ranges. Computing only the max takes half the time and is sufficient for most pictures. The min is
// then assumed to be arbitrarily small.
enum class BrickEnds { largest, both };

// Progress of a volume that is filled slice by slice (B-scans). Slices before `first` are included in the bricks
// already, slices from `end` on are not filled yet. `first` of 0 discards earlier results.
struct NewSlices {
    std::int64_t first = 0;
    std::int64_t end = 0;
};

// Peaks of a volume in a buffer (see Peaks in compute/voxel_target.h), each covering as many voxels along depth as a
// brick.
class BrickPeaks {
  public:
    // `grid` is that of the voxels. The buffer must outlive this object.
    BrickPeaks(const gpu::Device& device, const Bricks& bricks, const VolumeGrid& grid, vk::Buffer peaks);

    // Size of the buffer: tightly packed peaks, rounded up to whole words.
    static std::size_t bytes(const VolumeGrid& grid, int edge);

    // Returns true if the voxel type has peaks and the device supports storage buffers of the required size.
    static bool fit(const gpu::Device& device, const VolumeGrid& grid, int edge);

  private:
    friend class BrickBuilder;

    gpu::Bindings bindings_;
    std::int32_t kind_, peaks_, a_scans_, by_words_;
};

// Pipelines that compute bricks.
class BrickBuilder {
  public:
    explicit BrickBuilder(const gpu::Device& device);

    // Computes the bricks from the voxels. BrickEnds::largest: reads the new slices only; later bricks are empty.
    // BrickEnds::both: reads all slices up to the end; later bricks are undefined.
    void record(const vk::raii::CommandBuffer& commands, const Bricks& bricks, const NewSlices& slices, BrickEnds ends);

    // Computes the max values from peaks. Identical to those from voxels.
    void record_peaks(const vk::raii::CommandBuffer& commands, const Bricks& bricks, const BrickPeaks& peaks,
                      const NewSlices& slices);

    // Computes the bricks from a buffer with the min and max of each brick's own voxels as floats, depth fastest.
    void record_from(const vk::raii::CommandBuffer& commands, const Bricks& bricks, vk::Buffer ranges) const;

  private:
    // A range of slabs of bricks along B-scans.
    struct Slabs {
        std::int32_t first, end;
    };
    static Slabs slabs_of(const Bricks& bricks, const NewSlices& slices);

    const vk::raii::Pipeline& range_pipeline(const Bricks& bricks, BrickEnds ends);
    const vk::raii::Pipeline& peaks_pipeline(const Bricks& bricks, const BrickPeaks& peaks);
    void record_dilation(const vk::raii::CommandBuffer& commands, const Bricks& bricks, const Slabs& changed) const;

    const gpu::Device& device_;

    gpu::Bindings range_bindings_;  // define the layouts of all bricks
    gpu::Bindings peaks_bindings_;
    gpu::Bindings dilate_bindings_;
    std::map<std::array<std::int32_t, 3>, vk::raii::Pipeline> range_;     // key: edge, reducing sampler, both ends
    std::map<std::array<std::int32_t, 3>, vk::raii::Pipeline> of_peaks_;  // key: edge, kind, by words
    vk::raii::Pipeline dilate_;
};

// Returns the class limits of a transfer table, see limit_shift in shaders/shared/bricks.h. `thin` is the largest
// extinction that permits longer steps.
std::vector<std::uint32_t> class_limits(std::span<const float> extinctions, float thin);

// Classifies the bricks of a volume by a transfer function.
class BrickClassifier {
  public:
    explicit BrickClassifier(const gpu::Device& device);

    // State of one picture in flight.
    class Work {
      public:
        explicit Work(const gpu::Device& device);

        // `limits` is a 1-D texture of class_limits(). The bindings stay valid until the next call, which must wait for
        // this picture.
        void bind(const Bricks& bricks, vk::ImageView limits);

      private:
        friend class BrickClassifier;
        gpu::Bindings bindings_;
        vk::Extent3D extent_;
    };

    // Entry of the table = texture value * scale + offset.
    void record(const vk::raii::CommandBuffer& commands, const Work& work, float scale, float offset) const;

  private:
    Work like_all_;  // provides the layout for the pipeline
    vk::raii::Pipeline pipeline_;
};

}  // namespace echolux
