// One-dimensional transforms of one length, unnormalised, forward e^(-i). Each object owns its aligned buffers: fill
// input, execute, read output. Not for use by two threads at a time. FFTW, or kissfft where FFTW's licence does not
// fit.
#pragma once

#include <complex>
#include <cstdint>
#include <memory>

namespace echolux {

enum class FftKind {
    complex_forward,  // n complex -> n complex
    complex_inverse,  // the same, e^(+i)
    real_forward,     // n real -> n/2 + 1 complex
    real_inverse      // n/2 + 1 complex -> n real; destroys its input
};

// Of float or of double.
template <class Real>
class BasicFft {
  public:
    using Kind = FftKind;

    BasicFft(Kind kind, std::int64_t n) : plan_(planned(kind, n)) {}

    Real* real() { return plan_->real; }                      // the side that is real
    std::complex<Real>* complex_in() { return plan_->in; }    // input of all but real_forward
    std::complex<Real>* complex_out() { return plan_->out; }  // output of all but real_inverse
    void execute() { plan_->execute(); }

    // The library that does the work: "FFTW", "kissfft".
    static const char* library();

    // What a library has to give.
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
