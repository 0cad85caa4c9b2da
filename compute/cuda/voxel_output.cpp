#include "compute/cuda/voxel_output.h"

#include <fmt/format.h>

#include <cstring>

#include "compute/counted.h"
#include "compute/cuda/slot.h"
#include "compute/error.h"
#include "compute/parallel_for.h"

namespace echolux::cuda {
namespace {

[[noreturn]] void refuse(std::string why, std::string remedy = {}) {
    throw Error(ErrorCode::bad_setting, std::move(why), "place", std::move(remedy));
}

cudaPointerAttributes facts_of(const void* data) {
    cudaPointerAttributes facts{};
    checked(cudaPointerGetAttributes(&facts, data), "look at the memory of a place");
    return facts;
}

}  // namespace

VoxelOutput::VoxelOutput(const VolumeGrid& grid, std::int64_t max_slices, PeerPath peers)
    : grid_(grid), line_bytes_(grid.depth * bytes_of(grid.type)), slice_bytes_(grid.a_scans * line_bytes_),
      max_slices_(max_slices), peers_(peers), peer_copy_(peers) {}

DeviceTarget VoxelOutput::begin(cudaStream_t stream, const Place& place, std::int64_t first, std::int64_t count) {
    if (place.data == nullptr || first < place.first_b_scan) refuse("it does not hold the block's B-scans");
    place_ = place;
    count_ = count;
    to_ = nullptr;
    peer_.reset();
    if (place.kind == PlaceKind::device_surface) return slot(stream, place, first, count);
    if (place.a_scan_bytes < line_bytes_ ||
        place.b_scan_bytes < (grid_.a_scans - 1) * place.a_scan_bytes + line_bytes_) {
        refuse(fmt::format("{} to the next A-scan and {} to the next B-scan do not hold {} x {} voxels",
                           counted(place.a_scan_bytes, "bytes"), place.b_scan_bytes, grid_.depth, grid_.a_scans));
    }
    if (place.kind == PlaceKind::device_linear) return device_memory(place, first);
    to_ = static_cast<std::byte*>(place.data) + (first - place.first_b_scan) * place.b_scan_bytes;
    const cudaMemoryType memory = facts_of(to_).type;
    if (memory == cudaMemoryTypeDevice) refuse("device memory is not host memory", "use a device_linear place");
    staged_ = memory == cudaMemoryTypeUnregistered;
    on_device_.reserve(max_slices_ * slice_bytes_);
    if (staged_) staging_.reserve(max_slices_ * slice_bytes_);
    return packed(on_device_.data());
}

DeviceTarget VoxelOutput::packed(std::byte* data) const {
    DeviceTarget target;
    target.linear = data;
    target.a_scan_bytes = line_bytes_;
    target.b_scan_bytes = slice_bytes_;
    target.a_scans = grid_.a_scans;
    return target;
}

// Storing voxels individually over the link would be slow, and an uncounted copy to the host.
DeviceTarget VoxelOutput::device_memory(const Place& place, std::int64_t first) {
    const std::int64_t alignment = grid_.type == VoxelType::complex64 ? 8 : bytes_of(grid_.type);
    const auto bits = reinterpret_cast<std::uintptr_t>(place.data) | static_cast<std::uintptr_t>(place.a_scan_bytes) |
                      static_cast<std::uintptr_t>(place.b_scan_bytes);
    if (bits % static_cast<std::uintptr_t>(alignment) != 0) refuse("its lines do not start at whole voxels");
    const cudaPointerAttributes facts = facts_of(place.data);
    if (facts.type == cudaMemoryTypeDevice && is_elsewhere(facts.device)) {
        if (place.a_scan_bytes != line_bytes_ || place.b_scan_bytes != slice_bytes_)
            refuse("voxels in the memory of another GPU have to lie without gaps");
        std::byte* begin = static_cast<std::byte*>(place.data) + (first - place.first_b_scan) * slice_bytes_;
        return packed_for_peer({.device = facts.device, .linear = begin});
    }
    require_on_device(place.data, "place");
    DeviceTarget target;
    target.linear = static_cast<std::byte*>(place.data);
    target.a_scan_bytes = place.a_scan_bytes;
    target.b_scan_bytes = place.b_scan_bytes;
    target.a_scans = grid_.a_scans;
    target.first_slice = first - place.first_b_scan;
    return target;
}

// Voxels for a slot of another GPU are packed here first and copied in copy_out().
DeviceTarget VoxelOutput::slot(cudaStream_t stream, const Place& place, std::int64_t first, std::int64_t count) {
    const auto& slot = *static_cast<const CudaSlot*>(place.data);
    const std::int64_t end = first - place.first_b_scan + count;
    if (slot.type != grid_.type || slot.depth != grid_.depth || slot.a_scans != grid_.a_scans || end > slot.b_scans) {
        refuse(fmt::format("a slot of {} x {} x {} voxels is not what the plan writes, {} x {} x {}", slot.depth,
                           slot.a_scans, slot.b_scans, grid_.depth, grid_.a_scans, grid_.b_scans));
    }
    checked(cudaStreamWaitEvent(stream, slot.opened), "wait for the renderer");
    const std::int64_t first_slice = first - place.first_b_scan;
    if (is_elsewhere(slot.device)) {
        return packed_for_peer({.device = slot.device,
                                .array = slot.array,
                                .linear = slot.array == nullptr ? slot.buffer + first_slice * slice_bytes_ : nullptr,
                                .first_slice = first_slice});
    }
    DeviceTarget target = packed(slot.buffer);
    target.surface = slot.surface;
    target.first_slice = first_slice;
    return target;
}

bool VoxelOutput::is_elsewhere(int device) const {
    int current = 0;
    checked(cudaGetDevice(&current), "ask for the current device");
    return device != current || peers_ != PeerPath::automatic;
}

DeviceTarget VoxelOutput::packed_for_peer(const PeerTarget& target) {
    peer_ = target;
    on_device_.reserve(max_slices_ * slice_bytes_);
    return packed(on_device_.data());
}

void VoxelOutput::add_peaks(DeviceTarget& target, const DeviceTarget& peaks, std::int64_t depths) {
    if (peaks.linear == nullptr) refuse("peaks go to linear memory");
    target.peaks = peaks.linear + (peaks.first_slice - target.first_slice) * peaks.b_scan_bytes;
    target.peaks_a_scan_bytes = peaks.a_scan_bytes;
    target.peaks_b_scan_bytes = peaks.b_scan_bytes;
    target.depths_of_a_peak = static_cast<int>(depths);
}

void VoxelOutput::copy_out(cudaStream_t stream) {
    if (peer_) {
        const PackedSlices slices{on_device_.data(), grid_.depth, line_bytes_, grid_.a_scans, count_};
        return peer_copy_.enqueue(stream, slices, *peer_);
    }
    if (to_ == nullptr) return;
    if (staged_) {
        checked(cudaMemcpyAsync(staging_.data(), on_device_.data(), static_cast<std::size_t>(count_ * slice_bytes_),
                                cudaMemcpyDeviceToHost, stream),
                "copy voxels to the host");
    } else {
        copy_rows(stream);
    }
}

void VoxelOutput::copy_rows(cudaStream_t stream) const {
    const auto line = static_cast<std::size_t>(line_bytes_);
    if (place_.a_scan_bytes == line_bytes_ && place_.b_scan_bytes == slice_bytes_) {
        return checked(cudaMemcpyAsync(to_, on_device_.data(), static_cast<std::size_t>(count_ * slice_bytes_),
                                       cudaMemcpyDeviceToHost, stream),
                       "copy voxels to the host");
    }
    for (std::int64_t s = 0; s < count_; ++s) {
        checked(cudaMemcpy2DAsync(to_ + s * place_.b_scan_bytes, static_cast<std::size_t>(place_.a_scan_bytes),
                                  on_device_.data() + s * slice_bytes_, line, line,
                                  static_cast<std::size_t>(grid_.a_scans), cudaMemcpyDeviceToHost, stream),
                "copy voxels to the host");
    }
}

void VoxelOutput::hand_over(cudaEvent_t done) {
    if (place_.kind != PlaceKind::device_surface) return;
    const auto& slot = *static_cast<const CudaSlot*>(place_.data);
    checked(cudaStreamWaitEvent(slot.publishing, done), "hand voxels to the renderer");
}

void VoxelOutput::finish() {
    if (to_ == nullptr || !staged_) return;
    parallel_for(0, count_, [&](std::int64_t s) {
        const std::byte* from = staging_.data() + s * slice_bytes_;
        std::byte* to = to_ + s * place_.b_scan_bytes;
        if (place_.a_scan_bytes == line_bytes_) {
            std::memcpy(to, from, static_cast<std::size_t>(slice_bytes_));
            return;
        }
        for (std::int64_t a = 0; a < grid_.a_scans; ++a) {
            std::memcpy(to + a * place_.a_scan_bytes, from + a * line_bytes_, static_cast<std::size_t>(line_bytes_));
        }
    });
    to_ = nullptr;
}

}  // namespace echolux::cuda
