// Transforms by kissfft, whose licence permits distribution together with NVIDIA's libraries.
#ifndef ECHOLUX_FFTW
#include <kissfft/kiss_fft.h>
#include <kissfft/kiss_fftr.h>

#include <kissfft/kissfft.hh>

#include <algorithm>
#include <vector>

#include "compute/error.h"
#include "compute/fft/fft.h"
#include "compute/indexing.h"

namespace echolux {
namespace {

kiss_fft_cpx* as_kiss(std::complex<float>* values) {
    return reinterpret_cast<kiss_fft_cpx*>(values);
}

bool is_inverse(FftKind kind) {
    return kind == FftKind::real_inverse || kind == FftKind::complex_inverse;
}

// Runs any kind of transform of length n through a complex one from the plan's `in` to its `out`.
template <class Plan>
void through_complex(FftKind kind, Plan& plan, std::size_t n, auto&& transform) {
    if (kind == FftKind::real_forward) std::copy_n(plan.real, n, plan.in);
    if (kind == FftKind::real_inverse) {
        for (std::size_t i = n / 2 + 1; i < n; ++i) plan.in[i] = std::conj(plan.in[n - i]);
    }
    transform();
    if (kind == FftKind::real_inverse) {
        for (std::size_t i = 0; i < n; ++i) plan.real[i] = plan.out[i].real();
    }
}

// kissfft's real transforms require an even length. Odd lengths use the complex transform.
class KissPlan : public Fft::Plan {
  public:
    KissPlan(FftKind kind, std::int64_t n)
        : kind_(kind), real_side_(index(n)), in_side_(real_side_.size()), out_side_(real_side_.size()) {
        real = real_side_.data();
        in = in_side_.data();
        out = out_side_.data();
        const auto count = static_cast<int>(n);
        const bool is_complex = kind == FftKind::complex_forward || kind == FftKind::complex_inverse;
        const int inverse = is_inverse(kind) ? 1 : 0;
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
            through_complex(kind_, *this, real_side_.size(),
                            [this] { kiss_fft(complex_plan_, as_kiss(in), as_kiss(out)); });
        }
    }

  private:
    FftKind kind_;
    std::vector<float> real_side_;
    std::vector<std::complex<float>> in_side_;
    std::vector<std::complex<float>> out_side_;
    kiss_fftr_cfg real_plan_ = nullptr;
    kiss_fft_cfg complex_plan_ = nullptr;
};

// kissfft's C functions are compiled for a single precision (float). Its C++ template supports any.
class KissPlanOfDouble : public BasicFft<double>::Plan {
  public:
    KissPlanOfDouble(FftKind kind, std::size_t n)
        : kind_(kind), transform_(n, is_inverse(kind)), real_side_(n), in_side_(n), out_side_(n) {
        real = real_side_.data();
        in = in_side_.data();
        out = out_side_.data();
    }

    void execute() override {
        through_complex(kind_, *this, real_side_.size(), [this] { transform_.transform(in, out); });
    }

  private:
    FftKind kind_;
    kissfft<double> transform_;
    std::vector<double> real_side_;
    std::vector<std::complex<double>> in_side_;
    std::vector<std::complex<double>> out_side_;
};

}  // namespace

template <>
std::unique_ptr<Fft::Plan> Fft::planned(Kind kind, std::int64_t n) {
    return std::make_unique<KissPlan>(kind, n);
}

template <>
std::unique_ptr<BasicFft<double>::Plan> BasicFft<double>::planned(Kind kind, std::int64_t n) {
    return std::make_unique<KissPlanOfDouble>(kind, index(n));
}

template <class Real>
const char* BasicFft<Real>::library() {
    return "kissfft";
}

template class BasicFft<float>;
template class BasicFft<double>;

}  // namespace echolux
#endif
