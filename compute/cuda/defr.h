// Dispersion-encoded full range on the GPU (docs/transforms.md 8): resamples and windows spectra, then searches the
// true images. If a thread block can transform an A-scan by itself, all iterations stay on chip (one kernel). Other
// lengths and double precision pass through memory between cuFFT transforms (several kernels).
#pragma once

#include <cstdint>
#include <memory>

#include "compute/choose_path.h"
#include "compute/cuda/k_linear.h"
#include "compute/cuda/line_method.h"
#include "compute/cuda/memory.h"
#include "compute/methods/defr.h"

namespace echolux::cuda {

// Tables on the device, shared by all workers.
struct DefrDeviceTables {
    // Builds the tables of a valid spec. `plain` must outlive them. Throws Error{device, out_of_memory}.
    DefrDeviceTables(const ReconstructionSpec& spec, const PlainTables& plain, DepthRange bins, const GpuPath& path);

    bool in_halves() const { return half_twiddles.bytes() > 0; }

    KLinearTables windowed;
    std::int64_t points;
    double threshold;
    DefrRecipe recipe;
    DepthRange kept;
    bool on_chip;
    DeviceBuffer rotation;  // exp(i theta), complex [points], of doubles in double precision
    DeviceBuffer twiddles;  // for the on-chip transform
    DeviceBuffer half_rotation;
    DeviceBuffer half_twiddles;
    float half_scale = 1;  // scale of spectra in half precision

    // Scale of half-precision peaks before the inverse transform, whose result grows to n times a sample.
    static constexpr float half_peaks = 1.0f / 16;

  private:
    DefrDeviceTables(const ReconstructionSpec& spec, const PlainTables& plain, const DefrTables& tables,
                     DepthRange bins, const GpuPath& path);
};

// Searches many A-scans at a time, on one stream.
class FullRangeSearch {
  public:
    virtual ~FullRangeSearch() = default;

    // Enqueues a search. `spectra`: [lines][points]. `bins`: complex [lines][kept], unnormalized, with zero delay in
    // the middle of all bins.
    virtual void enqueue(const float* spectra, std::int64_t lines, float2* bins) = 0;
};

// The tables must outlive the search. Throw Error{device, out_of_memory}.
std::unique_ptr<FullRangeSearch> search_on_chip(const DefrDeviceTables& tables, cudaStream_t stream);
std::unique_ptr<FullRangeSearch> search_in_passes(const DefrDeviceTables& tables, std::int64_t max_lines,
                                                  cudaStream_t stream);

// Reconstructs batches of lines on one stream.
class DefrLines : public LineMethod {
  public:
    // The tables must outlive this object. Calls process up to about `max_lines` lines. Throws Error{device,
    // out_of_memory}.
    DefrLines(const DefrDeviceTables& tables, const LineFormat& format, std::int64_t max_lines, cudaStream_t stream);

    std::int64_t lines_at_once() const override { return windowed_.lines_at_once(); }
    DeviceBins enqueue(const RawLines& lines) override;

  private:
    KLinearLines windowed_;
    std::unique_ptr<FullRangeSearch> search_;
    std::int64_t depth_;  // kept bins per line
    DeviceBuffer bins_;   // complex [lines][kept]
};

}  // namespace echolux::cuda
