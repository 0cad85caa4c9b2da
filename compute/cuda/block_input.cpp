#include "compute/cuda/block_input.h"

#include <algorithm>
#include <cstring>

#include "compute/parallel_for.h"

namespace echolux::cuda {
namespace {

void copy_on_host(const std::byte* from, std::int64_t bytes, std::byte* to) {
    constexpr std::int64_t piece = std::int64_t{1} << 20;
    parallel_for(0, (bytes + piece - 1) / piece, [&](std::int64_t i) {
        std::memcpy(to + i * piece, from + i * piece, static_cast<std::size_t>(std::min(piece, bytes - i * piece)));
    });
}

const std::byte* as_kernels_see(const std::byte* pinned) {
    void* seen = nullptr;
    checked(cudaHostGetDevicePointer(&seen, const_cast<std::byte*>(pinned), 0), "read pinned memory from the GPU");
    return static_cast<const std::byte*>(seen);
}

}  // namespace

BlockInput::BlockInput(SpectraPath path, std::int64_t most_bytes)
    : path_(path), most_bytes_(most_bytes), on_device_(path == SpectraPath::copied ? most_bytes : 0) {}

const std::byte* BlockInput::bring(cudaStream_t stream, const Block& block, std::int64_t bytes) {
    switch (block.memory) {
        case MemoryKind::device: require_on_device(block.data, "block"); return block.data;
        case MemoryKind::pinned:
            return path_ == SpectraPath::direct ? as_kernels_see(block.data) : copied(stream, block.data, bytes);
        case MemoryKind::host: break;
    }
    on_device_.reserve(most_bytes_);
    staging_.reserve(most_bytes_);
    copy_on_host(block.data, bytes, staging_.data());
    return copied(stream, staging_.data(), bytes);
}

const std::byte* BlockInput::copied(cudaStream_t stream, const std::byte* pinned, std::int64_t bytes) {
    checked(cudaMemcpyAsync(on_device_.data(), pinned, static_cast<std::size_t>(bytes), cudaMemcpyHostToDevice, stream),
            "copy spectra to the GPU");
    return on_device_.data();
}

}  // namespace echolux::cuda
