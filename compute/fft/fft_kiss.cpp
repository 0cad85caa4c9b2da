// Transforms by kissfft, whose licence allows distribution together with NVIDIA's libraries.
#ifndef ECHOLUX_FFTW
#include <kissfft/kiss_fft.h>
#include <kissfft/kiss_fftr.h>

#include <algorithm>
#include <vector>

#include "compute/error.h"
#include "compute/fft/fft.h"

namespace echolux {
namespace {

kiss_fft_cpx* as_kiss(std::complex<float>* values) {
    return reinterpret_cast<kiss_fft_cpx*>(values);
}

// kissfft's real transforms want an even length; odd ones go through the complex transform.
class KissPlan : public Fft::Plan {
  public:
    KissPlan(FftKind kind, std::int64_t n)
        : kind_(kind), real_side_(static_cast<std::size_t>(n)), in_side_(real_side_.size()),
          out_side_(real_side_.size()) {
        real = real_side_.data();
        in = in_side_.data();
        out = out_side_.data();
        const auto count = static_cast<int>(n);
        const bool is_complex = kind == FftKind::complex_forward || kind == FftKind::complex_inverse;
        const int inverse = kind == FftKind::real_inverse || kind == FftKind::complex_inverse ? 1 : 0;
        if (!is_complex && n % 2 == 0) {
            real_plan_ = kiss_fftr_alloc(count, inverse, nullptr, nullptr);
        } else {
            complex_plan_ = kiss_fft_alloc(count, inverse, nullptr, nullptr);
        }
        if (real_plan_ == nullptr && complex_plan_ == nullptr) {
            throw Error(ErrorCode::out_of_memory, "kissfft cannot plan a transform");
        }
    }
    ~KissPlan() override {
        kiss_fft_free(real_plan_);
        kiss_fft_free(complex_plan_);
    }
    KissPlan(const KissPlan&) = delete;
    KissPlan& operator=(const KissPlan&) = delete;

    void execute() override {
        if (real_plan_ != nullptr && kind_ == FftKind::real_forward) {
            kiss_fftr(real_plan_, real, as_kiss(out));
        } else if (real_plan_ != nullptr) {
            kiss_fftri(real_plan_, as_kiss(in), real);
        } else {
            execute_complex();
        }
    }

  private:
    void execute_complex() {
        const std::size_t n = real_side_.size();
        if (kind_ == FftKind::real_forward) std::copy_n(real, n, in);
        if (kind_ == FftKind::real_inverse) {
            for (std::size_t i = n / 2 + 1; i < n; ++i) in[i] = std::conj(in[n - i]);
        }
        kiss_fft(complex_plan_, as_kiss(in), as_kiss(out));
        if (kind_ == FftKind::real_inverse) {
            for (std::size_t i = 0; i < n; ++i) real[i] = out[i].real();
        }
    }

    FftKind kind_;
    std::vector<float> real_side_;
    std::vector<std::complex<float>> in_side_;
    std::vector<std::complex<float>> out_side_;
    kiss_fftr_cfg real_plan_ = nullptr;
    kiss_fft_cfg complex_plan_ = nullptr;
};

}  // namespace

template <>
std::unique_ptr<Fft::Plan> Fft::planned(Kind kind, std::int64_t n) {
    return std::make_unique<KissPlan>(kind, n);
}

template <>
std::unique_ptr<BasicFft<double>::Plan> BasicFft<double>::planned(Kind, std::int64_t) {
    throw Error(ErrorCode::bad_setting, "this build's transforms are of single precision", "double_precision",
                "choose false, or build with FFTW");
}

template <class Real>
const char* BasicFft<Real>::library() {
    return "kissfft";
}

template class BasicFft<float>;
template class BasicFft<double>;

}  // namespace echolux
#endif
