#include "compute/block_memory.h"

#include <fmt/format.h>

#include <cstdlib>
#include <cstring>

#include "compute/backend.h"
#include "compute/counted.h"
#include "compute/error.h"

#ifdef ECHOLUX_CUDA
#include "compute/cuda/entry.h"
#endif

namespace echolux {
namespace {

constexpr std::int64_t page = 4096;

struct Free {
    void operator()(std::byte* data) const { std::free(data); }
};

#ifdef ECHOLUX_CUDA
// Returns pinned memory, or null if there is no GPU or pinning is refused.
std::shared_ptr<std::byte> pinned(std::int64_t bytes) {
    if (surveyed_gpus().usable.empty()) return nullptr;
    std::byte* data = cuda::allocate_pinned(bytes);
    return data == nullptr ? nullptr : std::shared_ptr<std::byte>(data, cuda::release_pinned);
}
#else
std::shared_ptr<std::byte> pinned(std::int64_t) {
    return nullptr;
}
#endif

std::shared_ptr<std::byte> pageable(std::int64_t bytes) {
    auto* data = static_cast<std::byte*>(std::aligned_alloc(page, static_cast<std::size_t>(bytes)));
    if (data == nullptr) {
        throw Error(ErrorCode::out_of_memory, fmt::format("no memory for a block of {}", counted(bytes, "bytes")),
                    "block", "reconstruct fewer B-scans at a time");
    }
    return {data, Free{}};
}

}  // namespace

// The size is rounded up by a page, so that an empty block also has an address.
BlockMemory block_memory(std::int64_t bytes, MemoryKind wanted) {
    if (bytes < 0 || wanted == MemoryKind::device) {
        throw Error(ErrorCode::bad_setting, fmt::format("cannot allocate {} of host memory", counted(bytes, "bytes")),
                    "block");
    }
    const std::int64_t rounded = bytes / page * page + page;
    std::shared_ptr<std::byte> memory = wanted == MemoryKind::pinned ? pinned(rounded) : nullptr;
    const MemoryKind kind = memory ? MemoryKind::pinned : MemoryKind::host;
    if (!memory) memory = pageable(rounded);
    return {memory.get(), bytes, kind, memory};
}

// GPU memory in builds without CUDA; otherwise compute/cuda/memory.cpp.
#ifndef ECHOLUX_CUDA

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

#endif

}  // namespace echolux
