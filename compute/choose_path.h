// Which GPU kernels run a spec: one decision per plan, a pure function of the spec and of the GPU's shared memory. The
// table in docs/performance.md shows its results.
//
// Only variants with the same bits are decided later: by the address of the lines (words or single samples), and for
// lengths that are compiled in.
#pragma once

#include <cstdint>
#include <optional>

#include "compute/on_chip.h"
#include "compute/plan/params.h"

namespace echolux {

// Kernels from raw lines to depth bins.
enum class GpuKernels {
    fused,                  // one kernel (compute/cuda/fused.h)
    two_passes,             // transforms of 8193 to 65536 points in two kernels (compute/cuda/two_passes.h)
    separate_passes,        // cuFFT between kernels (compute/cuda/k_linear.h)
    nufft_on_chip,          // one kernel (compute/cuda/nufft.h)
    nufft_in_passes,        // cuFFT between kernels
    matrix_product,         // exact transform on the tensor cores (compute/cuda/nudft.h)
    full_range_on_chip,     // all iterations in one kernel (compute/cuda/defr.h)
    full_range_in_passes,   // cuFFT between kernels
    compressive_on_chip,    // all iterations in one kernel (compute/cuda/sparse_search_on_chip.h)
    compressive_by_matrix,  // products on the tensor cores (compute/cuda/compressive.h)
    compressive_in_passes   // cuFFT between kernels
};

// The kernels of a plan and their variants.
struct GpuPath {
    GpuKernels kernels = GpuKernels::separate_passes;
    bool to_voxels = false;     // fused: the kernel writes voxels, and with flow also bins; otherwise bins only
    bool in_halves = false;     // half precision, for lines at multiples of four bytes
    bool grid_on_chip = false;  // up-sampled lines: one kernel from raw lines to the points of the k grid
    bool half_bins = false;     // fused: bins are stored in half precision, for Doppler
    std::optional<cuda::MixedShape> shape{};  // fused, nufft_on_chip: for lengths that are not powers of two

    // How the fused kernel reads lines at multiples of four bytes. Other lines are subtracted first.
    cuda::LineForm voxels_form = cuda::LineForm::subtracted;
    cuda::LineForm bins_form = cuda::LineForm::subtracted;
};

// Chooses the kernels of a valid spec. `shared_bytes`: shared memory of a thread block. `fused` false: only kernels
// around cuFFT and products of matrices.
GpuPath choose_path(const ReconstructionSpec& spec, std::int64_t shared_bytes, bool fused = true);

// Returns a short description for users: "fused", "nufft on chip, half precision".
const char* name_of(const GpuPath& path);

// Returns whether one kernel computes Doppler from lines in temporal order. Otherwise sums over windows are stored.
bool has_doppler_kernel(const ReconstructionSpec& spec);

}  // namespace echolux
