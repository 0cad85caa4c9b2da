// The only connection between compute and compute/cuda: a table of functions. A build without CUDA has no table.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "compute/backend.h"
#include "compute/boundary_search.h"
#include "compute/ceilings.h"
#include "compute/depth_entropy.h"
#include "compute/sharing.h"
#include "compute/speckle.h"
#include "compute/tissue_on_gpu.h"

namespace echolux {

// Functions of the CUDA backend. A BackendChoice or DeviceId names the GPU; all zero: the first usable one. Functions
// that are not noexcept throw Error{device, out_of_memory}.
struct GpuBackend {
    // ---- Selection and reconstruction: compute/backend.h.

    // Surveys the driver and runs a trivial kernel on each GPU.
    GpuSurvey (*survey)() noexcept;
    // Plans on one GPU. Also throws Error{bad_setting}.
    std::unique_ptr<Reconstructor> (*plan)(const ReconstructionSpec&, const BackendChoice&);
    // Returns whether one usable GPU can copy directly to the other.
    bool (*has_access)(const DeviceId& from, const DeviceId& to);

    // ---- Memory: compute/voxel_target.h and compute/sharing.h.

    // Allocates pinned memory that all GPUs can read. Returns null if the driver refuses.
    std::byte* (*allocate_pinned)(std::int64_t bytes) noexcept;
    void (*release_pinned)(std::byte*) noexcept;
    BlockMemory (*device_memory)(std::int64_t bytes, const DeviceId&);
    std::shared_ptr<void> (*device_stream)(const DeviceId&);
    std::int64_t (*free_device_memory)(const DeviceId&);
    void (*copy_memory)(std::byte* to, const std::byte* from, std::int64_t bytes);
    std::unique_ptr<SlotWriter> (*share)(const std::vector<ExportedSlot>&, const ExportedTimeline& written,
                                         const ExportedTimeline& read);

    // ---- Postprocessing: compute/boundary_search.h, compute/tissue_on_gpu.h, compute/speckle.h and
    // compute/depth_entropy.h.

    // Starts a search on linear `intensity`, [b_scan][a_scan][depth], in host memory or in the memory of that GPU.
    std::unique_ptr<BoundarySearch> (*boundary_search)(const float* intensity, const SurfaceTables&,
                                                       const BackendChoice&);
    std::shared_ptr<RegistrationOnGpu> (*registration)(const BackendChoice&);
    // `size`: rows, A-scans, B-scans.
    std::unique_ptr<SpeckleFilterOnGpu> (*speckle_filter)(const std::array<std::int64_t, 3>& size, const SpeckleTables&,
                                                          const BackendChoice&);
    // Returns the max GPU memory that a filter needs in addition to its input and output.
    std::int64_t (*filter_bytes)(const std::array<std::int64_t, 3>& size, const SpeckleTables&);
    std::unique_ptr<VolumeOnGpu> (*volume)(const VolumeOnGpuOptions&, const BackendChoice&);
    std::unique_ptr<DepthEntropy> (*depth_entropy)(const SpectraOnGrid&, const BackendChoice&);

    // ---- Limits of the machine: compute/ceilings.h.

    // Measures link.to_device and link.to_host (copies of pinned memory), link.read (pinned memory read by a kernel),
    // memory.copy (bytes read and written), texture.write (a 3-D array through a surface), and fft.N (cuFFT, complex,
    // out of place) for each length.
    void (*measure_ceilings)(const DeviceId&, std::span<const std::int64_t> lengths, const CeilingEffort&,
                             const CeilingCallback& found);
    // Measures groups of the first 1, 2, 4 ... GPUs: links.to_devices/N (pinned host memory to each of them
    // concurrently) and, from two on, peers/N (from all others into a 3-D array of bytes on the first, concurrently; a
    // GPU listed twice copies within its memory). Rates are total bytes.
    void (*measure_several_gpus)(std::span<const DeviceId>, const CeilingEffort&, const CeilingCallback& found);
    // Measures mean.serial, mean.transposed and mean.product (see FrameMeans). Throws Error{device} also if the results
    // are not bit-identical, and Error{bad_setting} if there are too many B-scans.
    void (*measure_frame_means)(const DeviceId&, const FrameMeans&, const CeilingEffort&, const CeilingCallback& found);
};

// The only message of a build without CUDA.
inline constexpr const char* no_gpu_backend = "this build has no CUDA backend";

// Returns the table, or null in a build without CUDA.
const GpuBackend* gpu_backend();

// Returns the table. Throws Error{device} in a build without CUDA.
const GpuBackend& required_gpu();

}  // namespace echolux
