// One-dimensional transforms of one length, unnormalised, forward e^(-i). Each object owns its aligned buffers: fill
// input, execute, read output. Not for use by two threads at a time. FFTW, or kissfft where FFTW's licence does not
// fit.
#pragma once

#include <complex>
#include <cstdint>
#include <memory>

namespace echolux {

class Fft {
  public:
    enum class Kind {
        complex_forward,  // n complex -> n complex
        real_forward,     // n real -> n/2 + 1 complex
        real_inverse      // n/2 + 1 complex -> n real; destroys its input
    };

    Fft(Kind kind, std::int64_t n);
    ~Fft();
    Fft(Fft&&) noexcept;
    Fft& operator=(Fft&&) noexcept;

    // The side that is real.
    float* real();
    // The complex input of complex_forward and real_inverse.
    std::complex<float>* complex_in();
    // The complex output of complex_forward and real_forward.
    std::complex<float>* complex_out();

    void execute();

    // The library that does the work: "FFTW", "kissfft".
    static const char* library();

  private:
    struct Plan;
    std::unique_ptr<Plan> plan_;
};

}  // namespace echolux
