// Dispersion-encoded full range on the GPU (docs/transforms.md 8): spectra on the k grid behind the window, then the
// search for the true images. Where a block of threads can transform an A-scan by itself all iterations stay on the
// chip (full_range_on_chip.cu); other lengths, and double precision, go through memory between the transforms of cuFFT
// (full_range_passes.cu).
#pragma once

#include <cstdint>
#include <memory>

#include "compute/cuda/k_linear.h"
#include "compute/cuda/line_method.h"
#include "compute/cuda/memory.h"
#include "compute/methods/defr.h"

namespace echolux::cuda {

// The plan's tables on the device, shared by all workers.
struct DefrDeviceTables {
    // Of a valid spec; `plain` lives longer. `fused`: on the chip where that can be. Throws Error{device,
    // out_of_memory}.
    DefrDeviceTables(const ReconstructionSpec& spec, const PlainTables& plain, DepthRange bins, bool fused);

    bool in_halves() const { return half_twiddles.bytes() > 0; }

    KLinearTables windowed;
    std::int64_t points;
    double threshold;
    DefrRecipe recipe;
    DepthRange kept;
    bool on_chip;
    DeviceBuffer rotation;  // exp(i theta), complex [points], of doubles in double precision
    DeviceBuffer twiddles;  // of the transform on the chip
    DeviceBuffer half_rotation;
    DeviceBuffer half_twiddles;
    float half_scale = 1;  // of spectra in halves

    // What peaks in halves are multiplied by on their way back: n times a sample would be too large.
    static constexpr float half_peaks = 1.0f / 16;

  private:
    DefrDeviceTables(const ReconstructionSpec& spec, const PlainTables& plain, const DefrTables& tables,
                     DepthRange bins, bool fused);
};

// The search in many A-scans at a time, on one stream.
class FullRangeSearch {
  public:
    virtual ~FullRangeSearch() = default;

    // spectra: [lines][points]; bins: complex [lines][kept], zero delay in the middle of all bins, unnormalised.
    virtual void enqueue(const float* spectra, std::int64_t lines, float2* bins) = 0;
};

// The tables live longer. Throw Error{device, out_of_memory}.
std::unique_ptr<FullRangeSearch> search_on_chip(const DefrDeviceTables& tables, cudaStream_t stream);
std::unique_ptr<FullRangeSearch> search_in_passes(const DefrDeviceTables& tables, std::int64_t max_lines,
                                                  cudaStream_t stream);

// Whether a search of so many points has a place on the chip of the current device.
bool search_fits_on_chip(std::int64_t points);

class DefrLines : public LineMethod {
  public:
    // The tables live longer. At most about `max_lines` lines in one call. Throws Error{device, out_of_memory}.
    DefrLines(const DefrDeviceTables& tables, const LineFormat& format, std::int64_t max_lines, cudaStream_t stream);

    std::int64_t lines_at_once() const override { return windowed_.lines_at_once(); }
    DeviceBins enqueue(const RawLines& lines) override;

  private:
    KLinearLines windowed_;
    std::unique_ptr<FullRangeSearch> search_;
    std::int64_t depth_;  // bins of a line that are kept
    DeviceBuffer bins_;   // complex [lines][kept]
};

}  // namespace echolux::cuda
