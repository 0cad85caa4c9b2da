#include "compute/cuda/peer_copy.h"

namespace echolux::cuda {
namespace {

cudaPitchedPtr rows_of(const std::byte* data, const PackedSlices& slices) {
    return make_cudaPitchedPtr(const_cast<std::byte*>(data), static_cast<std::size_t>(slices.line_bytes),
                               static_cast<std::size_t>(slices.line_bytes), static_cast<std::size_t>(slices.a_scans));
}

// If an array is involved, the extent in depth counts its elements.
cudaExtent extent_of(const PackedSlices& slices) {
    return make_cudaExtent(static_cast<std::size_t>(slices.depth), static_cast<std::size_t>(slices.a_scans),
                           static_cast<std::size_t>(slices.count));
}

}  // namespace

bool allow_peer_copies(int other) {
    int current = 0, can = 0;
    checked(cudaGetDevice(&current), "ask for the current device");
    if (current == other) return true;
    checked(cudaDeviceCanAccessPeer(&can, current, other), "ask how GPUs are connected");
    if (can == 0) return false;
    const cudaError_t result = cudaDeviceEnablePeerAccess(other, 0);
    if (result == cudaErrorPeerAccessAlreadyEnabled) {
        cudaGetLastError();
        return true;
    }
    checked(result, "let GPUs reach each other");
    return true;
}

void PeerCopy::find_way(int device) {
    if (known_ == device) return;
    is_straight_ = path_ != PeerPath::through_host && allow_peer_copies(device);
    known_ = device;
}

const char* PeerCopy::way() const {
    if (!known_) return "";
    return is_straight_ ? "copied from GPU to GPU" : "through pinned host memory";
}

PeerCopy::Landing& PeerCopy::landing_on(int device, std::int64_t bytes, cudaStream_t stream) {
    const CurrentDevice other(device);
    const bool is_there = landing_ && landing_->device == device;
    if (is_there && landing_->bytes() >= bytes) return *landing_;
    checked(cudaStreamSynchronize(stream), "wait for voxels on their way");
    if (!is_there) landing_.emplace().device = device;
    is_straight_ ? landing_->memory.reserve(bytes) : landing_->host.reserve(bytes);
    return *landing_;
}

// The landing buffer is free after the other GPU has read it. `stream` waits for that before it continues.
void PeerCopy::enqueue(cudaStream_t stream, const PackedSlices& from, const PeerTarget& to) {
    bytes_ += from.bytes();
    find_way(to.device);
    Landing& landing = landing_on(to.device, from.bytes(), stream);
    if (!left_) left_.emplace();
    checked(
        cudaMemcpyAsync(landing.data(), from.data, static_cast<std::size_t>(from.bytes()), cudaMemcpyDefault, stream),
        "copy voxels towards another GPU");
    checked(cudaEventRecord(*left_, stream), "mark voxels that have landed");
    {
        const CurrentDevice other(to.device);
        checked(cudaStreamWaitEvent(landing.stream, *left_), "wait for voxels to land");
        put_in_place(landing, from, to);
        checked(cudaEventRecord(landing.arrived, landing.stream), "mark voxels in their place");
    }
    checked(cudaStreamWaitEvent(stream, landing.arrived), "wait for voxels in their place");
}

void PeerCopy::put_in_place(const Landing& landing, const PackedSlices& from, const PeerTarget& to) {
    if (to.array == nullptr) {
        return checked(cudaMemcpyAsync(to.linear, landing.data(), static_cast<std::size_t>(from.bytes()),
                                       cudaMemcpyDefault, landing.stream),
                       "put voxels into their place");
    }
    cudaMemcpy3DParms copy{};
    copy.srcPtr = rows_of(landing.data(), from);
    copy.dstArray = to.array;
    copy.dstPos = make_cudaPos(0, 0, static_cast<std::size_t>(to.first_slice));
    copy.extent = extent_of(from);
    copy.kind = cudaMemcpyDefault;
    checked(cudaMemcpy3DAsync(&copy, landing.stream), "put voxels into a texture");
}

}  // namespace echolux::cuda
