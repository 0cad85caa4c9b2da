// One-dimensional transforms of a fixed length for many lines at a time, unnormalized, forward e^(-i), in single or
// double precision: cuFFT with our own work area, on one stream. Lines are processed in batches of a fixed size, so
// that cuFFT runs the same code and returns the same bits for any number of lines. The caller may override the size.
#pragma once

#include <cufft.h>

#include <cstdint>

#include "compute/cuda/memory.h"

namespace echolux::cuda {

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

}  // namespace echolux::cuda
