// Implementation of device_memory.h with the CUDA runtime.
#include "compute/block_memory.h"

#include <cuda_runtime.h>

#include "compute/cuda/gpu_index.h"
#include "compute/cuda/memory.h"

namespace echolux {

BlockMemory device_memory(std::int64_t bytes, const DeviceId& gpu) {
    const cuda::CurrentDevice current(cuda::usable_gpu(gpu).index);
    auto buffer = std::make_shared<cuda::DeviceBuffer>(cuda::zeroed(bytes));
    return {buffer->data(), bytes, MemoryKind::device, buffer};
}

std::shared_ptr<void> device_stream(const DeviceId& gpu) {
    const cuda::CurrentDevice current(cuda::usable_gpu(gpu).index);
    const auto stream = std::make_shared<cuda::Stream>();
    return {stream, static_cast<cudaStream_t>(*stream)};
}

std::int64_t free_device_memory(const DeviceId& gpu) {
    const cuda::CurrentDevice current(cuda::usable_gpu(gpu).index);
    std::size_t free = 0, total = 0;
    cuda::checked(cudaMemGetInfo(&free, &total), "ask for the free memory");
    return static_cast<std::int64_t>(free);
}

void copy_memory(std::byte* to, const std::byte* from, std::int64_t bytes) {
    cuda::checked(cudaMemcpy(to, from, static_cast<std::size_t>(bytes), cudaMemcpyDefault), "copy memory");
    cuda::checked(cudaStreamSynchronize(nullptr), "copy memory");
}

}  // namespace echolux
