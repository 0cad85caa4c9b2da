// Libraries of the CUDA toolkit, opened on demand: transforms by cuFFT, products of matrices by cuBLASLt.
#pragma once

#include <cublasLt.h>
#include <cuda_runtime.h>
#include <cufft.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>

#include "compute/cuda/memory.h"

namespace echolux::cuda {

// ---- A shared library of the CUDA toolkit, opened on demand. The toolkit may be missing at run time, and everything
// that does not need the library still works.

// An open library. Never closed.
class ToolkitLibrary {
  public:
    // `file` is the name for the loader ("libcufft.so.12"). Searched by name first, then in the toolkit's usual
    // folders. Throws Error{device} naming the Debian-style package.
    ToolkitLibrary(std::string file, std::string package);

    // A looked-up function, as a pointer of any type.
    struct Address {
        void* function;

        template <class Function>
        operator Function*() const {
            return reinterpret_cast<Function*>(function);
        }
    };

    // Looks up a function. Libraries stay open until the program ends, because their registrations with the driver
    // outlive any owner. Throws Error{device} if the library has no such function.
    Address operator[](const char* name) const;

  private:
    std::string file_;
    void* library_ = nullptr;
};

// Throws the error of a failed library function. `doing` as in checked(): "cannot ...".
[[noreturn]] void throw_toolkit_error(const char* library, const char* doing, bool out_of_memory, int status);

// ---- One-dimensional transforms of a fixed length for many lines at a time, unnormalized, forward e^(-i), in single
// or double precision: cuFFT with our own work area, on one stream. Lines are processed in batches of a fixed size, so
// that cuFFT runs the same code and returns the same bits for any number of lines. The caller may override the size.

// A plan on one stream. Not thread-safe.
class Fft {
  public:
    enum class Kind {
        complex_forward,  // n complex -> n complex, in place or not
        complex_inverse,  // n complex -> n complex, e^(+i)
        double_forward,   // the two complex kinds in double precision
        double_inverse,
        real_forward,  // n real -> n/2 + 1 complex
        real_inverse   // n/2 + 1 complex -> n real; destroys its input
    };

    // Distances between lines are in elements of the input and of the output. Uses batches of batch(n). Throws
    // Error{device, out_of_memory}.
    Fft(Kind kind, std::int64_t n, std::int64_t in_distance, std::int64_t out_distance, cudaStream_t stream);

    // Uses batches of `lines_of_a_batch` lines.
    Fft(Kind kind, std::int64_t n, std::int64_t in_distance, std::int64_t out_distance, cudaStream_t stream,
        std::int64_t lines_of_a_batch);
    ~Fft();
    Fft(const Fft&) = delete;
    Fft& operator=(const Fft&) = delete;

    // Returns the default number of lines per batch.
    static std::int64_t batch(std::int64_t n);

    // Returns `lines` rounded up to whole batches: the capacity that both buffers of execute() need.
    static std::int64_t whole_batches(std::int64_t n, std::int64_t lines);

    // Returns the lines per call: whole batches, limited by `max_lines` and by 64 MiB of complex lines, one batch or
    // more.
    static std::int64_t lines_at_once(std::int64_t n, std::int64_t max_lines);

    // Returns zeroed memory for the lines of whole batches. Throws Error{out_of_memory}.
    static DeviceBuffer line_memory(std::int64_t n, std::int64_t lines, std::int64_t line_bytes);

    // Enqueues the transforms of `lines` lines. Both buffers must hold whole batches.
    void execute(std::int64_t lines, void* in, void* out);

  private:
    void execute_batch(std::byte* in, std::byte* out);

    Kind kind_;
    std::int64_t batch_;
    std::int64_t in_bytes_;  // per batch
    std::int64_t out_bytes_;
    cufftHandle plan_ = 0;
    DeviceBuffer work_;
};

// ---- Multiplies a matrix with a batch of spectra on the tensor cores (cuBLASLt). Each object has a fixed shape and
// algorithm, selected at construction and never one that splits sums. The bits of a column therefore do not depend on
// its position or stream.

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
