// The CUDA backend's table for the rest of compute (compute/gpu_backend.h), and its functions, which have the types of
// the table's members. Not compiled without CUDA.
#pragma once

#include <type_traits>

#include "compute/gpu_backend.h"

namespace echolux::cuda {

extern const GpuBackend backend;

template <class Pointer>
using Function = std::remove_pointer_t<Pointer>;

Function<decltype(GpuBackend::survey)> survey;
Function<decltype(GpuBackend::plan)> plan_on_gpu;
Function<decltype(GpuBackend::has_access)> has_access;
Function<decltype(GpuBackend::allocate_pinned)> allocate_pinned;
Function<decltype(GpuBackend::release_pinned)> release_pinned;
Function<decltype(GpuBackend::device_memory)> device_memory;
Function<decltype(GpuBackend::device_stream)> device_stream;
Function<decltype(GpuBackend::free_device_memory)> free_device_memory;
Function<decltype(GpuBackend::copy_memory)> copy_memory;
Function<decltype(GpuBackend::share)> share_slots;
Function<decltype(GpuBackend::boundary_search)> boundary_search;
Function<decltype(GpuBackend::registration)> registration;
Function<decltype(GpuBackend::speckle_filter)> speckle_filter;
Function<decltype(GpuBackend::filter_bytes)> filter_bytes;
Function<decltype(GpuBackend::volume)> volume_on_gpu;
Function<decltype(GpuBackend::depth_entropy)> depth_entropy;
Function<decltype(GpuBackend::measure_ceilings)> measure_ceilings;
Function<decltype(GpuBackend::measure_several_gpus)> measure_several_gpus;
Function<decltype(GpuBackend::measure_frame_means)> measure_frame_means;

}  // namespace echolux::cuda
