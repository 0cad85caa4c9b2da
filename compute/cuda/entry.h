// Interface of the CUDA backend for the rest of compute. Not compiled without CUDA.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "compute/backend.h"
#include "compute/depth_entropy.h"
#include "compute/speckle.h"
#include "compute/tissue_on_gpu.h"

namespace echolux::cuda {

// Surveys the driver and runs a trivial kernel on each GPU. Never throws.
GpuSurvey survey() noexcept;

// Plans on the GPU named by `choice`, or the first usable one. Throws Error{bad_setting, device, out_of_memory}.
std::unique_ptr<Reconstructor> plan_on_gpu(const ReconstructionSpec& spec, const BackendChoice& choice);

// Returns whether one usable GPU can copy directly to the other.
bool has_access(const DeviceId& from, const DeviceId& to);

// Allocates pinned memory that all GPUs can read. Returns null if the driver refuses.
std::byte* allocate_pinned(std::int64_t bytes) noexcept;
void release_pinned(std::byte* data) noexcept;

// Postprocessing: boundaries between layers, registration and volumes on their way to a display
// (compute/tissue_on_gpu.h), depth entropy and speckle filters. Each function uses the GPU named by `choice`, or the
// first usable one. Throws Error{device, out_of_memory}.
std::unique_ptr<BoundarySearch> boundary_search(const std::vector<float>& intensity, const LayerTables& tables,
                                                const BackendChoice& choice);

std::unique_ptr<SurfaceSearchOnGpu> surface_search(const float* intensity, const SurfaceTables& tables,
                                                   const BackendChoice& choice);

std::unique_ptr<DepthEntropy> depth_entropy(const SpectraOnGrid& spectra, const BackendChoice& choice);

std::shared_ptr<RegistrationOnGpu> registration(const BackendChoice& choice);

std::unique_ptr<SpeckleFilterOnGpu> speckle_filter(const std::array<std::int64_t, 3>& size, const SpeckleTables& tables,
                                                   const BackendChoice& choice);

// Returns the max GPU memory that a filter needs in addition to its input and output.
std::int64_t filter_bytes(const std::array<std::int64_t, 3>& size, const SpeckleTables& tables);

std::unique_ptr<VolumeOnGpu> volume_on_gpu(const VolumeOnGpuOptions& wanted, const BackendChoice& choice);

}  // namespace echolux::cuda
