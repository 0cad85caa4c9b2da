#include "compute/cuda/entry.h"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <string>
#include <vector>

#include "compute/cuda/memory.h"
#include "compute/cuda/runner.h"
#include "compute/error.h"
#include "compute/indexing.h"

namespace echolux::cuda {
namespace {

std::string version(int number) {
    return fmt::format("{}.{}", number / 1000, number % 1000 / 10);
}

// Returns why no GPU of this machine is usable, or an empty string if each must be checked. Clears the runtime's error
// state.
std::string driver_refusal(int& count) {
    int driver = 0, runtime = 0;
    cudaDriverGetVersion(&driver);
    cudaRuntimeGetVersion(&runtime);
    const cudaError_t result = cudaGetDeviceCount(&count);
    if (result != cudaSuccess) cudaGetLastError();
    if (driver == 0) return "no CUDA device: the NVIDIA driver is not installed";
    if (result == cudaErrorInsufficientDriver) {
        return fmt::format("the NVIDIA driver is too old: it supports CUDA {}, Echolux was built with {}",
                           version(driver), version(runtime));
    }
    if (result == cudaErrorNoDevice || (result == cudaSuccess && count == 0)) return "no CUDA device";
    if (result != cudaSuccess) return fmt::format("CUDA cannot start: {}", cudaGetErrorString(result));
    return {};
}

// Returns why this GPU is unusable, or an empty string.
std::string refusal_of(int device, const cudaDeviceProp& facts) {
    const CurrentDevice current(device);
    const cudaError_t result = run_trivial_kernel();
    if (result == cudaSuccess) return {};
    cudaGetLastError();
    if (result == cudaErrorNoKernelImageForDevice || result == cudaErrorInvalidDeviceFunction) {
        return fmt::format("{} has compute capability {}.{}, which this build does not support", facts.name,
                           facts.major, facts.minor);
    }
    return fmt::format("{} cannot be used: {}", facts.name, cudaGetErrorString(result));
}

DeviceId id_of(const cudaDeviceProp& facts) {
    DeviceId id;
    std::transform(std::begin(facts.uuid.bytes), std::end(facts.uuid.bytes), id.begin(),
                   [](char byte) { return static_cast<std::uint8_t>(byte); });
    return id;
}

// Usable GPUs with their CUDA device numbers.
std::vector<NumberedGpu>& found_gpus() {
    static std::vector<NumberedGpu> gpus;
    return gpus;
}

// Adds a GPU to the usable ones, or returns why it is excluded. A failing GPU does not affect the others.
std::string look_at(int device) {
    try {
        cudaDeviceProp facts{};
        checked(cudaGetDeviceProperties(&facts, device), "query a GPU's properties");
        std::string refusal = refusal_of(device, facts);
        if (refusal.empty()) {
            found_gpus().push_back(
                {device,
                 {id_of(facts), facts.name, static_cast<std::int64_t>(facts.totalGlobalMem),
                  fmt::format("{:04x}:{:02x}:{:02x}.0", facts.pciDomainID, facts.pciBusID, facts.pciDeviceID)}});
        }
        return refusal;
    } catch (const Error& problem) {
        return fmt::format("GPU {} cannot be used: {}", device, problem.problem());
    }
}

GpuSurvey looked_at() {
    GpuSurvey survey;
    int count = 0;
    survey.refusal = driver_refusal(count);
    if (!survey.refusal.empty()) return survey;
    for (int device = 0; device < count; ++device) {
        const std::string refusal = look_at(device);
        if (!refusal.empty()) survey.refusal += (survey.refusal.empty() ? "" : "; ") + refusal;
    }
    for (const NumberedGpu& one : found_gpus()) survey.usable.push_back(one.gpu);
    return survey;
}

// Later surveys return the first result, because runners refer to the GPUs found.
const GpuSurvey& survey_once() noexcept {
    static const GpuSurvey survey = [] {
        try {
            return looked_at();
        } catch (const std::exception& problem) {
            found_gpus().clear();
            return GpuSurvey{{}, problem.what()};
        }
    }();
    return survey;
}

}  // namespace

GpuSurvey survey() noexcept {
    return survey_once();
}

const NumberedGpu& usable_gpu(const DeviceId& id) {
    const std::string& refusal = survey_once().refusal;
    const std::vector<NumberedGpu>& gpus = found_gpus();
    if (gpus.empty()) throw Error(ErrorCode::device, refusal, "cuda", "choose `backend` auto or cpu");
    const auto wanted = std::find_if(gpus.begin(), gpus.end(),
                                     [&](const NumberedGpu& one) { return id == DeviceId{} || one.gpu.id == id; });
    if (wanted == gpus.end()) {
        throw Error(ErrorCode::device, "the requested GPU cannot be used", "cuda",
                    "see nvidia-smi -L, or choose `backend` auto");
    }
    return *wanted;
}

std::unique_ptr<Reconstructor> plan_on_gpu(const ReconstructionSpec& spec, const BackendChoice& choice) {
    const NumberedGpu& one = usable_gpu(choice.gpu);
    const CurrentDevice current(one.index);
    return std::make_unique<CudaRunner>(spec, choice, one);
}

bool has_access(const DeviceId& from, const DeviceId& to) {
    int can = 0;
    checked(cudaDeviceCanAccessPeer(&can, usable_gpu(from).index, usable_gpu(to).index),
            "query how GPUs are connected");
    return can != 0;
}

std::byte* allocate_pinned(std::int64_t bytes) noexcept {
    void* data = nullptr;
    if (cudaHostAlloc(&data, index(bytes), cudaHostAllocPortable | cudaHostAllocMapped) == cudaSuccess) {
        return static_cast<std::byte*>(data);
    }
    cudaGetLastError();
    return nullptr;
}

void release_pinned(std::byte* data) noexcept {
    cudaFreeHost(data);
}

constinit const GpuBackend backend = {
    .survey = survey,
    .plan = plan_on_gpu,
    .has_access = has_access,
    .allocate_pinned = allocate_pinned,
    .release_pinned = release_pinned,
    .device_memory = device_memory,
    .device_stream = device_stream,
    .free_device_memory = free_device_memory,
    .copy_memory = copy_memory,
    .share = share_slots,
    .boundary_search = boundary_search,
    .registration = registration,
    .speckle_filter = speckle_filter,
    .filter_bytes = filter_bytes,
    .volume = volume_on_gpu,
    .depth_entropy = depth_entropy,
    .measure_ceilings = measure_ceilings,
    .measure_several_gpus = measure_several_gpus,
    .measure_frame_means = measure_frame_means,
};

}  // namespace echolux::cuda
