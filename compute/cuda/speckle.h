// A speckle filter and its buffers on the current device, for callers whose power is already in GPU memory.
#pragma once

#include <cuda_runtime.h>

#include <array>
#include <cstdint>
#include <memory>
#include <string>

#include "compute/speckle.h"

namespace echolux::cuda {

// Interface of all filters. Used by one thread.
class DeviceFilter {
  public:
    virtual ~DeviceFilter() = default;

    // Returns whether the filter uses the tables' margin, which may be set per volume.
    virtual bool has_margin() const = 0;
    virtual void set_margin(float margin) = 0;

    // Enqueues the filter on [b_scan][a_scan][depth]. `out` must not overlap `power`. May wait for the stream.
    virtual void enqueue(const float* power, float* out, cudaStream_t stream) = 0;

    // See SpeckleFilterOnGpu.
    virtual std::string why_slow() const { return {}; }
};

// Creates a filter. `size`: rows, A-scans, B-scans. Throws Error{device, out_of_memory}.
std::unique_ptr<DeviceFilter> device_filter(const std::array<std::int64_t, 3>& size, const SpeckleTables& tables);

}  // namespace echolux::cuda
