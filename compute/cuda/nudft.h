// Exact transform on the tensor cores (docs/algorithms.md 4). Background-subtracted spectra are rounded to half
// precision (f32 samples to tf32, because their range is unknown) and multiplied by the matrix with float sums.
#pragma once

#include <cstddef>
#include <cstdint>

#include "compute/cuda/k_linear.h"
#include "compute/cuda/line_method.h"
#include "compute/cuda/memory.h"
#include "compute/cuda/toolkit.h"
#include "compute/methods/nonuniform.h"
#include "compute/plan/params.h"

namespace echolux::cuda {

// The matrix on the device and its product, shared by all workers.
class NudftTables {
  public:
    // Builds the tables of a valid spec on the current device. Throws Error{device, out_of_memory}.
    explicit NudftTables(const ReconstructionSpec& spec) : NudftTables(spec, NudftMatrix(spec)) {}

    Operand operand() const { return operand_; }
    const ProductShape& shape() const { return shape_; }

    // Returns the scale of spectra before rounding, a power of two.
    float spectrum_scale() const { return spectrum_scale_; }

    std::int64_t workspace_bytes() const { return product_.workspace_bytes(); }

    // Enqueues the product. `spectra`: [columns][inner] operands. `bins`: [columns][rows].
    void multiply(cudaStream_t stream, const std::byte* spectra, float* bins, std::byte* workspace) const;

  private:
    NudftTables(const ReconstructionSpec& spec, const NudftMatrix& matrix);

    Operand operand_;
    ProductShape shape_;
    float spectrum_scale_;
    float matrix_scale_;
    DeviceBuffer matrix_;
    MatrixProduct product_;
};

// Transforms batches of lines on one stream.
class NudftLines : public LineMethod {
  public:
    // Tables and stream must outlive this object. `rolling_width` is 0 without a rolling background. Throws
    // Error{out_of_memory}.
    NudftLines(const NudftTables& tables, const LineFormat& format, std::int64_t rolling_width, cudaStream_t stream);

    std::int64_t lines_at_once() const override { return tables_.shape().columns; }
    DeviceBins enqueue(const RawLines& lines) override;

  private:
    bool enqueue_by_eights(const RawLines& lines) const;
    void enqueue_any(const RawLines& lines) const;

    cudaStream_t stream_;
    const NudftTables& tables_;
    LineFormat format_;
    bool rolling_;
    Subtraction subtract_;
    DeviceBuffer floats_;   // [columns][inner], spectra not directly converted to operands
    DeviceBuffer spectra_;  // [columns][inner] operands, zero beyond the samples
    DeviceBuffer bins_;     // [columns][rows]
    DeviceBuffer workspace_;
};

}  // namespace echolux::cuda
