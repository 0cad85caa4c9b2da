// One-dimensional transforms of a fixed length, unnormalized, forward e^(-i). Each object owns its aligned buffers:
// fill the input, execute, read the output. Not thread-safe. Uses FFTW, or kissfft if FFTW's licence is not acceptable.
#pragma once

#include <complex>
#include <cstdint>
#include <memory>

namespace echolux {

enum class FftKind {
    complex_forward,  // n complex -> n complex
    complex_inverse,  // n complex -> n complex, e^(+i)
    real_forward,     // n real -> n/2 + 1 complex
    real_inverse      // n/2 + 1 complex -> n real; destroys its input
};

// Real is float or double.
template <class Real>
class BasicFft {
  public:
    using Kind = FftKind;

    BasicFft(Kind kind, std::int64_t n) : plan_(planned(kind, n)) {}

    Real* real() { return plan_->real; }                      // n values; input or output, by kind
    std::complex<Real>* complex_in() { return plan_->in; }    // input of all but real_forward
    std::complex<Real>* complex_out() { return plan_->out; }  // output of all but real_inverse
    void execute() { plan_->execute(); }

    // Returns the name of the underlying library: "FFTW" or "kissfft".
    static const char* library();

    // Interface implemented for each library.
    struct Plan {
        virtual ~Plan() = default;
        virtual void execute() = 0;

        Real* real = nullptr;
        std::complex<Real>* in = nullptr;
        std::complex<Real>* out = nullptr;
    };

  private:
    static std::unique_ptr<Plan> planned(Kind kind, std::int64_t n);

    std::unique_ptr<Plan> plan_;
};

using Fft = BasicFft<float>;

}  // namespace echolux
