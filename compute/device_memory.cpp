// Implementation of device_memory.h for builds without CUDA: all GPU functions throw.
#ifndef ECHOLUX_CUDA
#include "compute/device_memory.h"

#include <cstring>

#include "compute/error.h"

namespace echolux {
namespace {

[[noreturn]] void refuse() {
    throw Error(ErrorCode::device, "this build has no CUDA backend", "device memory", "build with nvcc on the PATH");
}

}  // namespace

BlockMemory device_memory(std::int64_t, const DeviceId&) {
    refuse();
}

std::shared_ptr<void> device_stream(const DeviceId&) {
    refuse();
}

std::int64_t free_device_memory(const DeviceId&) {
    refuse();
}

void copy_memory(std::byte* to, const std::byte* from, std::int64_t bytes) {
    std::memcpy(to, from, static_cast<std::size_t>(bytes));
}

}  // namespace echolux
#endif
