// The fast path: one kernel from raw samples to voxels (fused_kernel.cuh), for recipes whose A-scans do not depend on
// each other, or to depth bins, or to both; for transforms that fit into shared memory: powers of two with a kernel for
// each, other products of small numbers with one for all (fused_mixed.h). Everything else takes separate passes.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <optional>

#include "compute/cuda/fused_mixed.h"
#include "compute/cuda/k_points.h"
#include "compute/cuda/line_method.h"
#include "compute/cuda/memory.h"
#include "compute/cuda/target.h"
#include "compute/plan/params.h"
#include "compute/plan/plan_tables.h"

namespace echolux::cuda {

struct FusedWork;

// Lines of whole acquired B-scans.
struct FusedLinesIn : RawLines {
    KPoints points;  // of the first B-scan, in the form of the call
};

class FusedKernel {
  public:
    // Whether it can turn lines into bins: transforms of 64 to 8192 points, products of 2 ... 13, that the current
    // device has shared memory for.
    static bool fits(const ReconstructionSpec& spec, const PlainTables& tables);

    // Of a spec that fits, whether into voxels too: nothing that needs neighbours or whole B-scans; and whether into
    // voxels and bins at once.
    static bool makes_voxels(const ReconstructionSpec& spec, const PlainTables& tables);
    static bool makes_both(const Recipe& recipe);

    FusedKernel(const ReconstructionSpec& spec, const PlainTables& tables, const VoxelTables& voxels);

    // The form that lines at `raw` have in voxels(), and in bins() and both().
    LineForm form_for_voxels(const std::byte* raw) const;
    LineForm form_for_bins(const std::byte* raw) const;

    // Whether voxels of lines that lie at multiples of four bytes are made in half precision.
    bool makes_voxels_in_halves() const;

    const KPointTables& points() const { return points_; }

    // Each line becomes one output line.
    void voxels(cudaStream_t stream, const FusedLinesIn& lines, const DeviceTarget& target) const;

    // Bins, on the device: [lines][bins_of_a_line()].
    void bins(cudaStream_t stream, const FusedLinesIn& lines, float2* bins) const;
    void both(cudaStream_t stream, const FusedLinesIn& lines, const DeviceTarget& target, float2* bins) const;
    void both(cudaStream_t stream, const FusedLinesIn& lines, const DeviceTarget& target, HalfBin* bins) const;

    // What HalfBins are multiplied by; 0: samples are of a format that has no end, and bins may not fit.
    float half_bin_scale() const;

    std::int64_t bins_of_a_line() const { return lengths_.transform / 2; }
    template <class Bin>
    BinsOf<Bin> kept(Bin* bins) const {
        return {bins + kept_depth(spec_.recipe, lengths_.bins).begin, bins_of_a_line()};
    }

  private:
    FusedWork lines_work(const FusedLinesIn& lines) const;
    FusedWork voxels_work(const FusedLinesIn& lines, const DeviceTarget& target) const;
    void launch_mixed(const FusedWork& work, FusedOutput output, cudaStream_t stream) const;

    ReconstructionSpec spec_;
    Lengths lengths_;
    VoxelTables voxels_;
    std::optional<MixedShape> mixed_;  // of lengths that are no powers of two
    std::optional<MixedShape> known_;  // of these, if it was known while compiling
    KPointTables points_;
    DeviceBuffer twiddles_;
    DeviceBuffer known_twiddles_;
    DeviceBuffer half_twiddles_;  // where voxels are made in half precision
    DeviceBuffer noise_floor_;
};

}  // namespace echolux::cuda
