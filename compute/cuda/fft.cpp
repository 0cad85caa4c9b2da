#include "compute/cuda/fft.h"

#include <algorithm>

#include "compute/cuda/toolkit_library.h"

namespace echolux::cuda {
namespace {

// The functions of cuFFT used here.
struct Cufft {
    decltype(&cufftCreate) create;
    decltype(&cufftDestroy) destroy;
    decltype(&cufftSetAutoAllocation) set_auto_allocation;
    decltype(&cufftMakePlanMany64) make_plan;
    decltype(&cufftSetWorkArea) set_work_area;
    decltype(&cufftSetStream) set_stream;
    decltype(&cufftExecC2C) complex_to_complex;
    decltype(&cufftExecZ2Z) double_to_double;
    decltype(&cufftExecR2C) real_to_complex;
    decltype(&cufftExecC2R) complex_to_real;

    Cufft() {
        const ToolkitLibrary library("libcufft.so.12", "libcufft-13-0");
        library.find(create, "cufftCreate");
        library.find(destroy, "cufftDestroy");
        library.find(set_auto_allocation, "cufftSetAutoAllocation");
        library.find(make_plan, "cufftMakePlanMany64");
        library.find(set_work_area, "cufftSetWorkArea");
        library.find(set_stream, "cufftSetStream");
        library.find(complex_to_complex, "cufftExecC2C");
        library.find(double_to_double, "cufftExecZ2Z");
        library.find(real_to_complex, "cufftExecR2C");
        library.find(complex_to_real, "cufftExecC2R");
    }
};

const Cufft& cufft() {
    static const Cufft functions;
    return functions;
}

void checked(cufftResult result, const char* doing) {
    if (result == CUFFT_SUCCESS) return;
    throw_toolkit_error("cuFFT", doing, result == CUFFT_ALLOC_FAILED, static_cast<int>(result));
}

bool in_double(Fft::Kind kind) {
    return kind == Fft::Kind::double_forward || kind == Fft::Kind::double_inverse;
}

int direction_of(Fft::Kind kind) {
    const bool inverse = kind == Fft::Kind::complex_inverse || kind == Fft::Kind::double_inverse;
    return inverse ? CUFFT_INVERSE : CUFFT_FORWARD;
}

std::int64_t element_bytes(Fft::Kind kind, Fft::Kind real_side) {
    if (kind == real_side) return sizeof(cufftReal);
    return in_double(kind) ? sizeof(cufftDoubleComplex) : sizeof(cufftComplex);
}

cufftType type_of(Fft::Kind kind) {
    switch (kind) {
        case Fft::Kind::real_forward: return CUFFT_R2C;
        case Fft::Kind::real_inverse: return CUFFT_C2R;
        default: return in_double(kind) ? CUFFT_Z2Z : CUFFT_C2C;
    }
}

}  // namespace

std::int64_t Fft::batch(std::int64_t n) {
    constexpr std::int64_t points = std::int64_t{1} << 21;  // enough for any GPU, 16 MiB
    const std::int64_t lines = std::clamp<std::int64_t>(points / n, 1, 4096);
    // Even, so that every batch of real lines has the alignment that cuFFT requires
    return lines == 1 ? 1 : lines / 2 * 2;
}

std::int64_t Fft::whole_batches(std::int64_t n, std::int64_t lines) {
    return (lines + batch(n) - 1) / batch(n) * batch(n);
}

std::int64_t Fft::lines_at_once(std::int64_t n, std::int64_t max_lines) {
    constexpr std::int64_t bytes = std::int64_t{64} << 20;
    const std::int64_t affordable = bytes / (std::int64_t{sizeof(cufftComplex)} * n);
    return std::clamp(affordable / batch(n) * batch(n), batch(n), whole_batches(n, max_lines));
}

DeviceBuffer Fft::line_memory(std::int64_t n, std::int64_t lines, std::int64_t line_bytes) {
    return zeroed(whole_batches(n, lines) * line_bytes);
}

Fft::Fft(Kind kind, std::int64_t n, std::int64_t in_distance, std::int64_t out_distance, cudaStream_t stream)
    : Fft(kind, n, in_distance, out_distance, stream, batch(n)) {}

Fft::Fft(Kind kind, std::int64_t n, std::int64_t in_distance, std::int64_t out_distance, cudaStream_t stream,
         std::int64_t lines_of_a_batch)
    : kind_(kind), batch_(lines_of_a_batch), in_bytes_(batch_ * in_distance * element_bytes(kind, Kind::real_forward)),
      out_bytes_(batch_ * out_distance * element_bytes(kind, Kind::real_inverse)) {
    checked(cufft().create(&plan_), "make a plan");
    try {
        long long length = n;
        long long in_length = kind == Kind::real_inverse ? n / 2 + 1 : n;
        long long out_length = kind == Kind::real_forward ? n / 2 + 1 : n;
        std::size_t work_bytes = 0;
        checked(cufft().set_auto_allocation(plan_, 0), "leave its work area to us");
        checked(cufft().make_plan(plan_, 1, &length, &in_length, 1, in_distance, &out_length, 1, out_distance,
                                  type_of(kind), batch_, &work_bytes),
                "plan a transform");
        work_ = DeviceBuffer(std::max<std::int64_t>(static_cast<std::int64_t>(work_bytes), 1));
        checked(cufft().set_work_area(plan_, work_.data()), "use a work area");
        checked(cufft().set_stream(plan_, stream), "use a stream");
    } catch (...) {
        cufft().destroy(plan_);
        throw;
    }
}

Fft::~Fft() {
    cufft().destroy(plan_);
}

void Fft::execute(std::int64_t lines, void* in, void* out) {
    auto* from = static_cast<std::byte*>(in);
    auto* to = static_cast<std::byte*>(out);
    for (std::int64_t first = 0; first < lines; first += batch_, from += in_bytes_, to += out_bytes_) {
        execute_batch(from, to);
    }
}

void Fft::execute_batch(std::byte* in, std::byte* out) {
    switch (kind_) {
        case Kind::complex_forward:
        case Kind::complex_inverse:
            return checked(cufft().complex_to_complex(plan_, reinterpret_cast<cufftComplex*>(in),
                                                      reinterpret_cast<cufftComplex*>(out), direction_of(kind_)),
                           "transform");
        case Kind::double_forward:
        case Kind::double_inverse:
            return checked(cufft().double_to_double(plan_, reinterpret_cast<cufftDoubleComplex*>(in),
                                                    reinterpret_cast<cufftDoubleComplex*>(out), direction_of(kind_)),
                           "transform in double");
        case Kind::real_forward:
            return checked(
                cufft().real_to_complex(plan_, reinterpret_cast<cufftReal*>(in), reinterpret_cast<cufftComplex*>(out)),
                "transform");
        case Kind::real_inverse:
            return checked(
                cufft().complex_to_real(plan_, reinterpret_cast<cufftComplex*>(in), reinterpret_cast<cufftReal*>(out)),
                "transform");
    }
}

}  // namespace echolux::cuda
