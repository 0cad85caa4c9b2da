// The fast path: a single kernel from raw samples to voxels (fused_kernel.cuh) for recipes with independent A-scans, or
// to depth bins, or to both. Supports transforms of 64 to 8192 points that fit into shared memory: powers of two with
// one kernel each, other products of 2 ... 13 with a common kernel (fused_mixed.cu).
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <optional>

#include "compute/choose_path.h"
#include "compute/cuda/k_points.h"
#include "compute/cuda/line_method.h"
#include "compute/cuda/memory.h"
#include "compute/cuda/target.h"
#include "compute/cuda/transform.h"
#include "compute/plan/params.h"
#include "compute/plan/tables.h"

namespace echolux::cuda {

struct FusedWork;

enum class FusedOutput { byte_voxels, any_voxels, bins, byte_voxels_and_bins, byte_voxels_and_half_bins };

// Enqueues the kernel for any supported length.
void launch_fused_mixed(const FusedWork& work, const MixedShape& shape, FusedOutput output, cudaStream_t stream);

// Variants for lengths known at compile time. For byte voxels, with or without bins, and cubic taps.
std::optional<MixedShape> known_shape(std::int64_t transform, std::int64_t samples);
void launch_fused_known(const FusedWork& work, const MixedShape& shape, FusedOutput output, cudaStream_t stream);

// Lines of whole acquired B-scans.
struct FusedLinesIn : RawLines {
    KPoints points;  // points of the first B-scan, in the form of the call
};

// Tables and launches of the fused kernel, shared by all workers.
class FusedKernel {
  public:
    // `path` must be fused. Uploads to the current device. Throws Error{device, out_of_memory}.
    FusedKernel(const ReconstructionSpec& spec, const PlainTables& tables, const VoxelTables& voxels,
                const GpuPath& path);

    // Return the form of lines at `raw` for voxels(), and for bins() and both().
    LineForm form_for_voxels(const std::byte* raw) const {
        return has_words(raw) ? path_.voxels_form : LineForm::subtracted;
    }
    LineForm form_for_bins(const std::byte* raw) const {
        return has_words(raw) ? path_.bins_form : LineForm::subtracted;
    }

    const KPointTables& points() const { return points_; }

    // Enqueues the conversion to voxels. Each line becomes one output line.
    void voxels(cudaStream_t stream, const FusedLinesIn& lines, const DeviceTarget& target) const;

    // Enqueue the conversion to bins [lines][bins_of_a_line()] on the device.
    void bins(cudaStream_t stream, const FusedLinesIn& lines, float2* bins) const;
    void both(cudaStream_t stream, const FusedLinesIn& lines, const DeviceTarget& target, float2* bins) const;
    void both(cudaStream_t stream, const FusedLinesIn& lines, const DeviceTarget& target, HalfBin* bins) const;

    // Returns the scale of HalfBins.
    float half_bin_scale() const { return points_.half_bin_scale(); }

    // Stored bins per line, before cropping.
    std::int64_t bins_of_a_line() const { return lengths_.transform / 2; }
    template <class Bin>
    BinsOf<Bin> kept(Bin* bins) const {
        return {bins + kept_depth(spec_.recipe, lengths_.bins).begin, bins_of_a_line()};
    }

  private:
    bool has_words(const std::byte* raw) const {
        return line_words(LineFormat(spec_.format, spec_.geometry), raw) != LineWords::none;
    }
    FusedWork lines_work(const FusedLinesIn& lines) const;
    FusedWork voxels_work(const FusedLinesIn& lines, const DeviceTarget& target) const;
    void launch_mixed(const FusedWork& work, FusedOutput output, cudaStream_t stream) const;

    ReconstructionSpec spec_;
    Lengths lengths_;
    VoxelTables voxels_;
    GpuPath path_;
    std::optional<MixedShape> known_;  // compile-time variant of the path's shape, if available
    KPointTables points_;
    DeviceBuffer twiddles_;
    DeviceBuffer known_twiddles_;
    DeviceBuffer half_twiddles_;  // if voxels are computed in half precision
    DeviceBuffer noise_floor_;
};

}  // namespace echolux::cuda
