#include "compute/cuda/memory.h"

#include <cuda_runtime.h>
#include <fmt/format.h>

#include <chrono>

#include "compute/cuda/entry.h"
#include "compute/error.h"
#include "compute/indexing.h"

namespace echolux::cuda {

void checked(cudaError_t result, const char* doing) {
    if (result == cudaSuccess) return;
    cudaGetLastError();  // clears an error that is not sticky
    if (result == cudaErrorMemoryAllocation) {
        throw Error(ErrorCode::out_of_memory, fmt::format("not enough GPU memory to {}", doing), "cuda",
                    "reconstruct fewer B-scans at a time, or close what else uses the GPU");
    }
    throw Error(ErrorCode::device,
                fmt::format("cannot {}: {} ({})", doing, cudaGetErrorString(result), cudaGetErrorName(result)), "cuda",
                "try again, or choose `backend` cpu");
}

void checked_launch(const char* doing) {
    checked(cudaGetLastError(), doing);
}

CurrentDevice::CurrentDevice(int device) {
    checked(cudaGetDevice(&former_), "query the current device");
    checked(cudaSetDevice(device), "choose a device");
}

CurrentDevice::CurrentDevice(int device, std::nothrow_t) noexcept : former_(device) {
    if (cudaGetDevice(&former_) != cudaSuccess || cudaSetDevice(device) != cudaSuccess) cudaGetLastError();
}

// Clears errors so that the next launch does not report them.
CurrentDevice::~CurrentDevice() {
    if (cudaSetDevice(former_) != cudaSuccess) cudaGetLastError();
}

int max_shared_bytes() {
    int device = 0, bytes = 0;
    checked(cudaGetDevice(&device), "query the device");
    checked(cudaDeviceGetAttribute(&bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin, device), "request shared memory");
    return bytes;
}

void require_free(std::int64_t bytes, const char* what, const char* remedy) {
    std::size_t free = 0, total = 0;
    checked(cudaMemGetInfo(&free, &total), "query the free memory");
    if (bytes <= static_cast<std::int64_t>(free)) return;
    constexpr double gib = 1 << 30;
    throw Error(ErrorCode::out_of_memory,
                fmt::format("{} needs {:.1f} GiB of memory, the GPU has {:.1f} of its {:.1f} GiB free", what,
                            static_cast<double>(bytes) / gib, static_cast<double>(free) / gib,
                            static_cast<double>(total) / gib),
                "cuda", remedy);
}

void require_on_device(const void* data, const char* where) {
    int current = 0;
    cudaPointerAttributes facts{};
    checked(cudaGetDevice(&current), "query the current device");
    checked(cudaPointerGetAttributes(&facts, data), "query the memory type");
    if (facts.type != cudaMemoryTypeDevice) {
        throw Error(ErrorCode::bad_setting, "is declared as GPU memory but is not", where,
                    "declare the kind of memory that it is");
    }
    if (facts.device != current) {
        throw Error(ErrorCode::bad_setting, "is memory of another GPU than the one that reconstructs", where,
                    "choose that GPU, or copy the data");
    }
}

namespace {

// Throws the error of a failed allocation, with the requested and the free memory.
[[noreturn]] void refuse(cudaError_t result, std::int64_t bytes, const char* where) {
    cudaGetLastError();
    if (result != cudaErrorMemoryAllocation) checked(result, "allocate memory");
    std::size_t free = 0, total = 0;
    cudaMemGetInfo(&free, &total);
    constexpr double mib = 1 << 20;
    throw Error(ErrorCode::out_of_memory,
                fmt::format("cannot allocate {:.0f} MiB of {} memory ({:.0f} of the GPU's {:.0f} MiB are free)",
                            static_cast<double>(bytes) / mib, where, static_cast<double>(free) / mib,
                            static_cast<double>(total) / mib),
                "cuda", "reconstruct fewer B-scans at a time or with fewer streams, or choose `backend` cpu");
}

}  // namespace

template <>
std::byte* DeviceBuffer::allocated(std::int64_t bytes) {
    void* data = nullptr;
    if (bytes == 0) return nullptr;
    const cudaError_t result = cudaMalloc(&data, index(bytes));
    if (result != cudaSuccess) refuse(result, bytes, "device");
    return static_cast<std::byte*>(data);
}

template <>
void DeviceBuffer::release(std::byte* data) {
    cudaFree(data);
}

template <>
std::byte* PinnedBuffer::allocated(std::int64_t bytes) {
    void* data = nullptr;
    if (bytes == 0) return nullptr;
    const cudaError_t result = cudaHostAlloc(&data, index(bytes), cudaHostAllocPortable);
    if (result != cudaSuccess) refuse(result, bytes, "pinned host");
    return static_cast<std::byte*>(data);
}

template <>
void PinnedBuffer::release(std::byte* data) {
    cudaFreeHost(data);
}

void upload(const void* from, std::int64_t bytes, std::byte* to) {
    if (bytes == 0) return;
    checked(cudaMemcpy(to, from, index(bytes), cudaMemcpyHostToDevice), "copy a table to the GPU");
    checked(cudaStreamSynchronize(nullptr), "copy a table to the GPU");
}

DeviceBuffer zeroed(std::int64_t bytes) {
    DeviceBuffer buffer(bytes);
    if (bytes == 0) return buffer;
    checked(cudaMemset(buffer.data(), 0, index(bytes)), "clear a buffer");
    checked(cudaStreamSynchronize(nullptr), "clear a buffer");
    return buffer;
}

Stream::Stream(Urgency urgency) {
    int least = 0, greatest = 0;  // 0 is the default; larger numbers have lower priority
    checked(cudaDeviceGetStreamPriorityRange(&least, &greatest), "query stream priorities");
    checked(cudaStreamCreateWithPriority(&stream_, cudaStreamNonBlocking, urgency == Urgency::urgent ? greatest : 0),
            "create a stream");
}

Stream::~Stream() {
    cudaStreamSynchronize(stream_);
    cudaStreamDestroy(stream_);
}

Event::Event() {
    checked(cudaEventCreateWithFlags(&event_, cudaEventDisableTiming | cudaEventBlockingSync), "create an event");
}

Event::~Event() {
    cudaEventDestroy(event_);
}

bool Event::reached() const {
    const cudaError_t state = cudaEventQuery(event_);
    if (state == cudaErrorNotReady) cudaGetLastError();  // not an error, but the runtime records it as one
    return state != cudaErrorNotReady;
}

// Waking a sleeping thread takes about 30 us, half the time of a B-scan, so poll for a while first.
void Event::wait(const char* doing) const {
    constexpr std::chrono::microseconds spin_time{100};
    const auto start = std::chrono::steady_clock::now();
    do {
        const cudaError_t state = cudaEventQuery(event_);
        if (state != cudaErrorNotReady) return checked(state, doing);
        cudaGetLastError();
    } while (std::chrono::steady_clock::now() - start < spin_time);
    checked(cudaEventSynchronize(event_), doing);
}

// ---- GPU memory of compute/voxel_target.h.

BlockMemory device_memory(std::int64_t bytes, const DeviceId& gpu) {
    const CurrentDevice current(usable_gpu(gpu).index);
    auto buffer = std::make_shared<DeviceBuffer>(zeroed(bytes));
    return {buffer->data(), bytes, MemoryKind::device, buffer};
}

std::shared_ptr<void> device_stream(const DeviceId& gpu) {
    const CurrentDevice current(usable_gpu(gpu).index);
    const auto stream = std::make_shared<Stream>();
    return {stream, static_cast<cudaStream_t>(*stream)};
}

std::int64_t free_device_memory(const DeviceId& gpu) {
    const CurrentDevice current(usable_gpu(gpu).index);
    std::size_t free = 0, total = 0;
    checked(cudaMemGetInfo(&free, &total), "query the free memory");
    return static_cast<std::int64_t>(free);
}

void copy_memory(std::byte* to, const std::byte* from, std::int64_t bytes) {
    checked(cudaMemcpy(to, from, index(bytes), cudaMemcpyDefault), "copy memory");
    checked(cudaStreamSynchronize(nullptr), "copy memory");
}

}  // namespace echolux::cuda
