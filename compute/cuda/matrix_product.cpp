#include "compute/cuda/matrix_product.h"

#include "compute/cuda/toolkit_library.h"

namespace echolux::cuda {
namespace {

// The functions of cuBLASLt used here.
struct CublasLt {
    decltype(&cublasLtCreate) create;
    decltype(&cublasLtDestroy) destroy;
    decltype(&cublasLtMatmulDescCreate) create_product;
    decltype(&cublasLtMatmulDescDestroy) destroy_product;
    decltype(&cublasLtMatmulDescSetAttribute) set_product;
    decltype(&cublasLtMatrixLayoutCreate) create_layout;
    decltype(&cublasLtMatrixLayoutDestroy) destroy_layout;
    decltype(&cublasLtMatmulPreferenceCreate) create_preference;
    decltype(&cublasLtMatmulPreferenceDestroy) destroy_preference;
    decltype(&cublasLtMatmulPreferenceSetAttribute) set_preference;
    decltype(&cublasLtMatmulAlgoGetHeuristic) algorithms;
    decltype(&cublasLtMatmul) multiply;

    CublasLt() {
        const ToolkitLibrary library("libcublasLt.so.13", "libcublas-13-0");
        library.find(create, "cublasLtCreate");
        library.find(destroy, "cublasLtDestroy");
        library.find(create_product, "cublasLtMatmulDescCreate");
        library.find(destroy_product, "cublasLtMatmulDescDestroy");
        library.find(set_product, "cublasLtMatmulDescSetAttribute");
        library.find(create_layout, "cublasLtMatrixLayoutCreate");
        library.find(destroy_layout, "cublasLtMatrixLayoutDestroy");
        library.find(create_preference, "cublasLtMatmulPreferenceCreate");
        library.find(destroy_preference, "cublasLtMatmulPreferenceDestroy");
        library.find(set_preference, "cublasLtMatmulPreferenceSetAttribute");
        library.find(algorithms, "cublasLtMatmulAlgoGetHeuristic");
        library.find(multiply, "cublasLtMatmul");
    }
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
