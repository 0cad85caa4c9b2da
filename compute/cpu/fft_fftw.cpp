// Transforms by FFTW.
#ifdef ECHOLUX_FFTW
#include <fftw3.h>

#include <mutex>

#include "compute/cpu/fft.h"
#include "compute/error.h"

namespace echolux {
namespace {

std::mutex planner_mutex;  // FFTW's planner is not thread safe, its execution is

template <class T>
struct FftwBuffer {
    explicit FftwBuffer(std::int64_t count)
        : memory(static_cast<T*>(fftwf_malloc(sizeof(T) * static_cast<std::size_t>(count)))) {
        if (memory == nullptr) throw Error(ErrorCode::out_of_memory, "no memory for a transform");
        std::fill_n(memory, count, T{});
    }
    ~FftwBuffer() { fftwf_free(memory); }
    FftwBuffer(const FftwBuffer&) = delete;
    FftwBuffer& operator=(const FftwBuffer&) = delete;
    T* memory;
};

fftwf_complex* as_fftw(std::complex<float>* pointer) {
    return reinterpret_cast<fftwf_complex*>(pointer);
}

}  // namespace

struct Fft::Plan {
    Plan(Kind kind, std::int64_t length) : real(length), in(length), out(length) {
        const auto n = static_cast<int>(length);
        const std::lock_guard lock(planner_mutex);
        switch (kind) {  // ESTIMATE: the same plan, and so the same bits, every time
            case Kind::complex_forward:
                plan = fftwf_plan_dft_1d(n, as_fftw(in.memory), as_fftw(out.memory), FFTW_FORWARD, FFTW_ESTIMATE);
                break;
            case Kind::real_forward:
                plan = fftwf_plan_dft_r2c_1d(n, real.memory, as_fftw(out.memory), FFTW_ESTIMATE);
                break;
            case Kind::real_inverse:
                plan = fftwf_plan_dft_c2r_1d(n, as_fftw(in.memory), real.memory, FFTW_ESTIMATE);
                break;
        }
        if (plan == nullptr) throw Error(ErrorCode::out_of_memory, "FFTW cannot plan a transform");
    }
    ~Plan() {
        const std::lock_guard lock(planner_mutex);
        fftwf_destroy_plan(plan);
    }
    Plan(const Plan&) = delete;
    Plan& operator=(const Plan&) = delete;

    FftwBuffer<float> real;
    FftwBuffer<std::complex<float>> in;
    FftwBuffer<std::complex<float>> out;
    fftwf_plan plan = nullptr;
};

float* Fft::real() {
    return plan_->real.memory;
}
std::complex<float>* Fft::complex_in() {
    return plan_->in.memory;
}
std::complex<float>* Fft::complex_out() {
    return plan_->out.memory;
}
void Fft::execute() {
    fftwf_execute(plan_->plan);
}
const char* Fft::library() {
    return "FFTW";
}

Fft::Fft(Kind kind, std::int64_t n) : plan_(std::make_unique<Plan>(kind, n)) {}
Fft::~Fft() = default;
Fft::Fft(Fft&&) noexcept = default;
Fft& Fft::operator=(Fft&&) noexcept = default;

}  // namespace echolux
#endif
