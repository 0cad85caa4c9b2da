#include "compute/cuda/block_input.h"

#include <algorithm>
#include <cstring>

#include "compute/parallel_for.h"

namespace echolux::cuda {
namespace {

// Returns the device address of mapped pinned memory.
const std::byte* as_kernels_see(const std::byte* pinned) {
    void* seen = nullptr;
    checked(cudaHostGetDevicePointer(&seen, const_cast<std::byte*>(pinned), 0), "read pinned memory from the GPU");
    return static_cast<const std::byte*>(seen);
}

}  // namespace

BlockInput::BlockInput(SpectraPath path, std::int64_t frame_bytes, std::int64_t max_frames)
    : frame_bytes_(frame_bytes), max_frames_(max_frames),
      on_device_(path == SpectraPath::copied ? max_frames * frame_bytes : 0) {}

const std::byte* BlockInput::bring(cudaStream_t stream, const Block& block, std::int64_t frames, SpectraPath path) {
    const std::byte* first = block.data + frame_offset(block.frames, 0, frame_bytes_);
    const std::int64_t stride =
        frame_offset(block.frames, 1, frame_bytes_) - frame_offset(block.frames, 0, frame_bytes_);
    const bool packed = stride == frame_bytes_ || frames == 1;
    if (block.memory == MemoryKind::device) require_on_device(block.data, "block");
    if (block.memory == MemoryKind::device && packed) return first;
    if (block.memory == MemoryKind::pinned && packed && path == SpectraPath::direct) return as_kernels_see(first);
    if (block.memory == MemoryKind::host) return copied(stream, staged(first, stride, frames), frame_bytes_, frames);
    return copied(stream, first, stride, frames);
}

// Copies to pinned memory on all cores.
const std::byte* BlockInput::staged(const std::byte* first, std::int64_t stride, std::int64_t frames) {
    constexpr std::int64_t piece = std::int64_t{1} << 20;
    staging_.reserve(max_frames_ * frame_bytes_);
    const std::int64_t pieces_of_a_frame = (frame_bytes_ + piece - 1) / piece;
    parallel_for(0, frames * pieces_of_a_frame, [&](std::int64_t i) {
        const std::int64_t frame = i / pieces_of_a_frame, begin = i % pieces_of_a_frame * piece;
        std::memcpy(staging_.data() + frame * frame_bytes_ + begin, first + frame * stride + begin,
                    static_cast<std::size_t>(std::min(piece, frame_bytes_ - begin)));
    });
    return staging_.data();
}

const std::byte* BlockInput::copied(cudaStream_t stream, const std::byte* first, std::int64_t stride,
                                    std::int64_t frames) {
    const auto frame = static_cast<std::size_t>(frame_bytes_), rows = static_cast<std::size_t>(frames);
    on_device_.reserve(max_frames_ * frame_bytes_);
    const cudaError_t result =
        stride == frame_bytes_ ? cudaMemcpyAsync(on_device_.data(), first, rows * frame, cudaMemcpyDefault, stream)
                               : cudaMemcpy2DAsync(on_device_.data(), frame, first, static_cast<std::size_t>(stride),
                                                   frame, rows, cudaMemcpyDefault, stream);
    checked(result, "copy spectra to the GPU");
    return on_device_.data();
}

}  // namespace echolux::cuda
