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

    Fft(Kind kind, std::int64_t n) : plan_(planned(kind, n)) {}

    float* real() { return plan_->real; }                      // the side that is real
    std::complex<float>* complex_in() { return plan_->in; }    // input of complex_forward and real_inverse
    std::complex<float>* complex_out() { return plan_->out; }  // output of complex_forward and real_forward
    void execute() { plan_->execute(); }

    // The library that does the work: "FFTW", "kissfft".
    static const char* library();

    // What a library has to give.
    struct Plan {
        virtual ~Plan() = default;
        virtual void execute() = 0;

        float* real = nullptr;
        std::complex<float>* in = nullptr;
        std::complex<float>* out = nullptr;
    };

  private:
    static std::unique_ptr<Plan> planned(Kind kind, std::int64_t n);

    std::unique_ptr<Plan> plan_;
};

}  // namespace echolux
