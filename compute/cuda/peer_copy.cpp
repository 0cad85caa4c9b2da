#include "compute/cuda/peer_copy.h"

namespace echolux::cuda {
namespace {

cudaPitchedPtr rows_of(const std::byte* data, const PackedSlices& slices) {
    return make_cudaPitchedPtr(const_cast<std::byte*>(data), static_cast<std::size_t>(slices.line_bytes),
                               static_cast<std::size_t>(slices.line_bytes), static_cast<std::size_t>(slices.a_scans));
}

// Where an array takes part, lengths along depth count its elements.
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

bool PeerCopy::goes_straight(int device) {
    if (known_ != device) {
        is_straight_ = path_ != PeerPath::through_host && allow_peer_copies(device);
        known_ = device;
    }
    return is_straight_;
}

const char* PeerCopy::way() const {
    if (!known_) return "";
    return is_straight_ ? "copied from GPU to GPU" : "through pinned host memory";
}

void PeerCopy::enqueue(cudaStream_t stream, const PackedSlices& from, const PeerTarget& to) {
    bytes_ += from.bytes();
    if (goes_straight(to.device)) {
        copy_straight(stream, from, to);
    } else {
        copy_through_host(stream, from, to);
    }
}

void PeerCopy::copy_straight(cudaStream_t stream, const PackedSlices& from, const PeerTarget& to) const {
    int current = 0;
    checked(cudaGetDevice(&current), "ask for the current device");
    if (to.array == nullptr) {
        return checked(cudaMemcpyPeerAsync(to.linear, to.device, from.data, current,
                                           static_cast<std::size_t>(from.bytes()), stream),
                       "copy voxels to another GPU");
    }
    cudaMemcpy3DPeerParms copy{};
    copy.srcPtr = rows_of(from.data, from);
    copy.srcDevice = current;
    copy.dstArray = to.array;
    copy.dstPos = make_cudaPos(0, 0, static_cast<std::size_t>(to.first_slice));
    copy.dstDevice = to.device;
    copy.extent = extent_of(from);
    checked(cudaMemcpy3DPeerAsync(&copy, stream), "copy voxels to another GPU");
}

// The pinned memory is free again when the other GPU has read it, which `stream` waits for before it goes on.
void PeerCopy::copy_through_host(cudaStream_t stream, const PackedSlices& from, const PeerTarget& to) {
    if (!left_) left_.emplace();
    const CurrentDevice other(to.device);
    const bool has_detour = detour_ && detour_->device == to.device;
    if (!has_detour || detour_->host.bytes() < from.bytes()) {
        checked(cudaStreamSynchronize(stream), "wait for voxels on their way");
        if (!has_detour) detour_.emplace().device = to.device;
        detour_->host.reserve(from.bytes());
    }
    const auto bytes = static_cast<std::size_t>(from.bytes());
    checked(cudaMemcpyAsync(detour_->host.data(), from.data, bytes, cudaMemcpyDeviceToHost, stream),
            "copy voxels to pinned memory");
    checked(cudaEventRecord(*left_, stream), "mark voxels in pinned memory");
    checked(cudaStreamWaitEvent(detour_->stream, *left_), "wait for voxels in pinned memory");
    if (to.array == nullptr) {
        checked(cudaMemcpyAsync(to.linear, detour_->host.data(), bytes, cudaMemcpyHostToDevice, detour_->stream),
                "copy voxels from pinned memory");
    } else {
        cudaMemcpy3DParms copy{};
        copy.srcPtr = rows_of(detour_->host.data(), from);
        copy.dstArray = to.array;
        copy.dstPos = make_cudaPos(0, 0, static_cast<std::size_t>(to.first_slice));
        copy.extent = extent_of(from);
        copy.kind = cudaMemcpyHostToDevice;
        checked(cudaMemcpy3DAsync(&copy, detour_->stream), "copy voxels from pinned memory");
    }
    checked(cudaEventRecord(detour_->arrived, detour_->stream), "mark voxels on the other GPU");
    checked(cudaStreamWaitEvent(stream, detour_->arrived), "wait for voxels on the other GPU");
}

}  // namespace echolux::cuda
