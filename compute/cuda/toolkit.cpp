#include "compute/cuda/toolkit.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <utility>
#include <vector>

#include "compute/error.h"

namespace echolux::cuda {
namespace {

std::vector<std::string> folders() {
    std::vector<std::string> found{""};
    for (const char* variable : {"CUDA_HOME", "CUDA_PATH"}) {
        const char* home = std::getenv(variable);
        if (home == nullptr || *home == '\0') continue;
        found.push_back(std::string(home) + "/lib64/");
        found.push_back(std::string(home) + "/targets/x86_64-linux/lib/");
    }
    for (const char* usual :
         {"/usr/local/cuda/lib64/", "/usr/local/cuda/targets/x86_64-linux/lib/", ECHOLUX_CUDA_LIBRARIES "/"}) {
        found.emplace_back(usual);
    }
    return found;
}

}  // namespace

ToolkitLibrary::ToolkitLibrary(std::string file, std::string package) : file_(std::move(file)) {
    for (const std::string& folder : folders()) {
        library_ = dlopen((folder + file_).c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
        if (library_ != nullptr) return;
    }
    throw Error(ErrorCode::device, fmt::format("{} was not found on this machine", file_), "cuda",
                fmt::format("install {}, or set CUDA_HOME to the folder of a CUDA 13 toolkit", package));
}

ToolkitLibrary::Address ToolkitLibrary::operator[](const char* name) const {
    void* found = dlsym(library_, name);
    if (found == nullptr) {
        throw Error(ErrorCode::device, fmt::format("{} has no function {}", file_, name), "cuda",
                    "install the CUDA toolkit that Echolux was built with");
    }
    return {found};
}

void throw_toolkit_error(const char* library, const char* doing, bool out_of_memory, int status) {
    throw Error(out_of_memory ? ErrorCode::out_of_memory : ErrorCode::device,
                fmt::format("{} cannot {} (error {})", library, doing, status), "cuda",
                out_of_memory ? "reconstruct fewer B-scans at a time" : "try again, or choose `backend` cpu");
}

namespace {

// The functions of cuFFT used here.
struct Cufft {
    const ToolkitLibrary library{"libcufft.so.12", "libcufft-13-0"};
    const decltype(&cufftCreate) create = library["cufftCreate"];
    const decltype(&cufftDestroy) destroy = library["cufftDestroy"];
    const decltype(&cufftSetAutoAllocation) set_auto_allocation = library["cufftSetAutoAllocation"];
    const decltype(&cufftMakePlanMany64) make_plan = library["cufftMakePlanMany64"];
    const decltype(&cufftSetWorkArea) set_work_area = library["cufftSetWorkArea"];
    const decltype(&cufftSetStream) set_stream = library["cufftSetStream"];
    const decltype(&cufftExecC2C) complex_to_complex = library["cufftExecC2C"];
    const decltype(&cufftExecZ2Z) double_to_double = library["cufftExecZ2Z"];
    const decltype(&cufftExecR2C) real_to_complex = library["cufftExecR2C"];
    const decltype(&cufftExecC2R) complex_to_real = library["cufftExecC2R"];
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
    checked(cufft().create(&plan_), "create a plan");
    try {
        long long length = n;
        long long in_length = kind == Kind::real_inverse ? n / 2 + 1 : n;
        long long out_length = kind == Kind::real_forward ? n / 2 + 1 : n;
        std::size_t work_bytes = 0;
        checked(cufft().set_auto_allocation(plan_, 0), "disable its work area");
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

namespace {

// The functions of cuBLASLt used here.
struct CublasLt {
    const ToolkitLibrary library{"libcublasLt.so.13", "libcublas-13-0"};
    const decltype(&cublasLtCreate) create = library["cublasLtCreate"];
    const decltype(&cublasLtDestroy) destroy = library["cublasLtDestroy"];
    const decltype(&cublasLtMatmulDescCreate) create_product = library["cublasLtMatmulDescCreate"];
    const decltype(&cublasLtMatmulDescDestroy) destroy_product = library["cublasLtMatmulDescDestroy"];
    const decltype(&cublasLtMatmulDescSetAttribute) set_product = library["cublasLtMatmulDescSetAttribute"];
    const decltype(&cublasLtMatrixLayoutCreate) create_layout = library["cublasLtMatrixLayoutCreate"];
    const decltype(&cublasLtMatrixLayoutDestroy) destroy_layout = library["cublasLtMatrixLayoutDestroy"];
    const decltype(&cublasLtMatmulPreferenceCreate) create_preference = library["cublasLtMatmulPreferenceCreate"];
    const decltype(&cublasLtMatmulPreferenceDestroy) destroy_preference = library["cublasLtMatmulPreferenceDestroy"];
    const decltype(&cublasLtMatmulPreferenceSetAttribute) set_preference =
        library["cublasLtMatmulPreferenceSetAttribute"];
    const decltype(&cublasLtMatmulAlgoGetHeuristic) algorithms = library["cublasLtMatmulAlgoGetHeuristic"];
    const decltype(&cublasLtMatmul) multiply = library["cublasLtMatmul"];
};

const CublasLt& lt() {
    static const CublasLt functions;
    return functions;
}

void checked(cublasStatus_t status, const char* doing) {
    if (status == CUBLAS_STATUS_SUCCESS) return;
    throw_toolkit_error("cuBLAS", doing, status == CUBLAS_STATUS_ALLOC_FAILED, static_cast<int>(status));
}

cudaDataType_t type_of(Operand operand) {
    return operand == Operand::half ? CUDA_R_16F : CUDA_R_32F;
}

}  // namespace

MatrixProduct::MatrixProduct(Operand operand, const ProductShape& shape, Products products)
    : context_(context()), product_(transposed_product(operand)),
      matrix_(layout(type_of(operand), shape.inner, shape.rows)),
      spectra_(layout(type_of(operand), shape.inner, shape.columns)),
      products_(layout(products == Products::halves ? CUDA_R_16F : CUDA_R_32F, shape.rows, shape.columns)) {
    choose();
}

MatrixProduct::Owned<cublasLtHandle_t> MatrixProduct::context() {
    cublasLtHandle_t handle = nullptr;
    checked(lt().create(&handle), "start");
    return {handle, lt().destroy};
}

// cuBLAS is column-major: rows of `inner` contiguous elements are a transposed matrix.
MatrixProduct::Owned<cublasLtMatmulDesc_t> MatrixProduct::transposed_product(Operand operand) {
    const auto arithmetic = operand == Operand::half ? CUBLAS_COMPUTE_32F : CUBLAS_COMPUTE_32F_FAST_TF32;
    cublasLtMatmulDesc_t handle = nullptr;
    checked(lt().create_product(&handle, arithmetic, CUDA_R_32F), "describe a product");
    Owned<cublasLtMatmulDesc_t> product(handle, lt().destroy_product);
    const cublasOperation_t transposed = CUBLAS_OP_T;
    checked(lt().set_product(handle, CUBLASLT_MATMUL_DESC_TRANSA, &transposed, sizeof(transposed)),
            "describe a product");
    return product;
}

MatrixProduct::Owned<cublasLtMatrixLayout_t> MatrixProduct::layout(cudaDataType_t type, std::int64_t contiguous,
                                                                   std::int64_t count) {
    cublasLtMatrixLayout_t handle = nullptr;
    checked(lt().create_layout(&handle, type, static_cast<std::uint64_t>(contiguous), static_cast<std::uint64_t>(count),
                               contiguous),
            "describe a matrix");
    return {handle, lt().destroy_layout};
}

// Excludes algorithms that split sums (reduction schemes), because their results depend on the schedule.
void MatrixProduct::choose() {
    cublasLtMatmulPreference_t handle = nullptr;
    checked(lt().create_preference(&handle), "choose an algorithm");
    const Owned<cublasLtMatmulPreference_t> preference(handle, lt().destroy_preference);
    const std::uint64_t max_workspace = std::uint64_t{32} << 20;  // NVIDIA's recommendation for the largest GPUs
    checked(
        lt().set_preference(handle, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &max_workspace, sizeof(max_workspace)),
        "choose an algorithm");
    const std::uint32_t whole_sums = CUBLASLT_REDUCTION_SCHEME_NONE;
    checked(lt().set_preference(handle, CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK, &whole_sums, sizeof(whole_sums)),
            "choose an algorithm");
    int found = 0;
    checked(lt().algorithms(context_.get(), product_.get(), matrix_.get(), spectra_.get(), products_.get(),
                            products_.get(), handle, 1, &choice_, &found),
            "choose an algorithm");
    checked(found == 1 ? choice_.state : CUBLAS_STATUS_NOT_SUPPORTED, "multiply matrices of this shape");
}

void MatrixProduct::enqueue(cudaStream_t stream, const void* matrix, const void* spectra, float factor, void* products,
                            std::byte* workspace) const {
    const float none = 0;
    checked(lt().multiply(context_.get(), product_.get(), &factor, matrix, matrix_.get(), spectra, spectra_.get(),
                          &none, products, products_.get(), products, products_.get(), &choice_.algo, workspace,
                          choice_.workspaceSize, stream),
            "multiply matrices");
}

}  // namespace echolux::cuda
