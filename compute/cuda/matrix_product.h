// Multiplies a matrix with a batch of spectra on the tensor cores (cuBLASLt). Each object has a fixed shape and
// algorithm, selected at construction and never one that splits sums. The bits of a column therefore do not depend on
// its position or stream.
#pragma once

#include <cublasLt.h>
#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <type_traits>

namespace echolux::cuda {

// Type of the operands; sums are float. tf32: floats with the mantissa rounded to ten bits.
enum class Operand { half, tf32 };

// Dimensions of a product.
struct ProductShape {
    std::int64_t rows = 0;     // rows of the matrix: [rows][inner]
    std::int64_t columns = 0;  // spectra: [columns][inner]
    std::int64_t inner = 0;    // multiple of 8
};

// Returns `value` rounded up to a multiple of `step`.
inline std::int64_t rounded_up(std::int64_t value, std::int64_t step) {
    return (value + step - 1) / step * step;
}

// A product of fixed shape. enqueue() may be called on any stream.
class MatrixProduct {
  public:
    enum class Products { floats, halves };  // halves: the caller guarantees that none overflows

    // Selects an algorithm on the current device. Throws Error{device, out_of_memory}.
    MatrixProduct(Operand operand, const ProductShape& shape, Products products = Products::floats);

    // Returns the workspace that each stream must provide.
    std::int64_t workspace_bytes() const { return static_cast<std::int64_t>(choice_.workspaceSize); }

    // Enqueues products = factor * matrix * spectra, [columns][rows].
    void enqueue(cudaStream_t stream, const void* matrix, const void* spectra, float factor, void* products,
                 std::byte* workspace) const;

  private:
    template <class Handle>
    using Owned = std::unique_ptr<std::remove_pointer_t<Handle>, cublasStatus_t (*)(Handle)>;

    static Owned<cublasLtHandle_t> context();
    static Owned<cublasLtMatmulDesc_t> transposed_product(Operand operand);
    static Owned<cublasLtMatrixLayout_t> layout(cudaDataType_t type, std::int64_t contiguous, std::int64_t count);
    void choose();

    Owned<cublasLtHandle_t> context_;
    Owned<cublasLtMatmulDesc_t> product_;
    Owned<cublasLtMatrixLayout_t> matrix_, spectra_, products_;
    cublasLtMatmulHeuristicResult_t choice_{};
};

}  // namespace echolux::cuda
