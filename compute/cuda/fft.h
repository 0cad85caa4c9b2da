// One-dimensional transforms of one length for many lines at a time, unnormalised, forward e^(-i), in single or double
// precision: cuFFT with a work area of our own, on one stream. Lines go in batches of one size, that of the length
// unless the caller has another one, so that cuFFT runs the same code, and gives the same bits, for any number of
// lines.
#pragma once

#include <cufft.h>

#include <cstdint>

#include "compute/cuda/memory.h"

namespace echolux::cuda {

class Fft {
  public:
    enum class Kind {
        complex_forward,  // n complex -> n complex, in place or not
        complex_inverse,  // backwards
        double_forward,   // the same two in double
        double_inverse,
        real_forward,  // n real -> n/2 + 1 complex
        real_inverse   // n/2 + 1 complex -> n real; destroys its input
    };

    // Distances from line to line, in elements of the input and of the output; batches of batch(n). Throws
    // Error{device, out_of_memory}.
    Fft(Kind kind, std::int64_t n, std::int64_t in_distance, std::int64_t out_distance, cudaStream_t stream);

    // The same in batches of as many lines as are wanted.
    Fft(Kind kind, std::int64_t n, std::int64_t in_distance, std::int64_t out_distance, cudaStream_t stream,
        std::int64_t lines_of_a_batch);
    ~Fft();
    Fft(const Fft&) = delete;
    Fft& operator=(const Fft&) = delete;

    // Lines of one batch.
    static std::int64_t batch(std::int64_t n);

    // `lines` rounded up to whole batches: what both buffers of execute() must hold.
    static std::int64_t whole_batches(std::int64_t n, std::int64_t lines);

    // Lines of one call: whole batches, as many as `max_lines` and 64 MiB of complex lines ask for, at least one.
    static std::int64_t lines_at_once(std::int64_t n, std::int64_t max_lines);

    // Zeroed memory for the lines of whole batches. Throws Error{out_of_memory}.
    static DeviceBuffer line_memory(std::int64_t n, std::int64_t lines, std::int64_t line_bytes);

    void execute(std::int64_t lines, void* in, void* out);

  private:
    void execute_batch(std::byte* in, std::byte* out);

    Kind kind_;
    std::int64_t batch_;
    std::int64_t in_bytes_;  // of a batch
    std::int64_t out_bytes_;
    cufftHandle plan_ = 0;
    DeviceBuffer work_;
};

}  // namespace echolux::cuda
