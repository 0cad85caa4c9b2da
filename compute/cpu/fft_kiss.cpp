// Transforms by kissfft, whose licence allows distribution together with NVIDIA's libraries.
#ifndef ECHOLUX_FFTW
#include <kissfft/kiss_fft.h>
#include <kissfft/kiss_fftr.h>

#include <vector>

#include "compute/cpu/fft.h"
#include "compute/error.h"

namespace echolux {
namespace {

kiss_fft_cpx* as_kiss(std::vector<std::complex<float>>& values) {
    return reinterpret_cast<kiss_fft_cpx*>(values.data());
}

}  // namespace

// kissfft's real transforms want an even length; odd ones go through the complex transform.
struct Fft::Plan {
    Plan(Kind wanted, std::int64_t n)
        : kind(wanted), real(static_cast<std::size_t>(n)), in(real.size()), out(in.size()) {
        const auto count = static_cast<int>(n);
        const int inverse = kind == Kind::real_inverse ? 1 : 0;
        if (kind != Kind::complex_forward && n % 2 == 0) {
            real_plan = kiss_fftr_alloc(count, inverse, nullptr, nullptr);
        } else {
            complex_plan = kiss_fft_alloc(count, inverse, nullptr, nullptr);
        }
        if (real_plan == nullptr && complex_plan == nullptr) {
            throw Error(ErrorCode::out_of_memory, "kissfft cannot plan a transform");
        }
    }
    ~Plan() {
        kiss_fft_free(real_plan);
        kiss_fft_free(complex_plan);
    }
    Plan(const Plan&) = delete;
    Plan& operator=(const Plan&) = delete;

    void execute() {
        if (real_plan != nullptr && kind == Kind::real_forward) {
            kiss_fftr(real_plan, real.data(), as_kiss(out));
        } else if (real_plan != nullptr) {
            kiss_fftri(real_plan, as_kiss(in), real.data());
        } else {
            execute_complex();
        }
    }

    void execute_complex() {
        if (kind == Kind::real_forward) std::copy(real.begin(), real.end(), in.begin());
        if (kind == Kind::real_inverse) {
            for (std::size_t i = in.size() / 2 + 1; i < in.size(); ++i) in[i] = std::conj(in[in.size() - i]);
        }
        kiss_fft(complex_plan, as_kiss(in), as_kiss(out));
        if (kind == Kind::real_inverse) {
            for (std::size_t i = 0; i < real.size(); ++i) real[i] = out[i].real();
        }
    }

    Kind kind;
    std::vector<float> real;
    std::vector<std::complex<float>> in;
    std::vector<std::complex<float>> out;
    kiss_fftr_cfg real_plan = nullptr;
    kiss_fft_cfg complex_plan = nullptr;
};

float* Fft::real() {
    return plan_->real.data();
}
std::complex<float>* Fft::complex_in() {
    return plan_->in.data();
}
std::complex<float>* Fft::complex_out() {
    return plan_->out.data();
}
void Fft::execute() {
    plan_->execute();
}
const char* Fft::library() {
    return "kissfft";
}

Fft::Fft(Kind kind, std::int64_t n) : plan_(std::make_unique<Plan>(kind, n)) {}
Fft::~Fft() = default;
Fft::Fft(Fft&&) noexcept = default;
Fft& Fft::operator=(Fft&&) noexcept = default;

}  // namespace echolux
#endif
