#include "compute/cuda/transfers.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "compute/error.h"
#include "compute/indexing.h"
#include "compute/parallel_for.h"
#include "compute/plural.h"
#include "compute/repeat_report.h"

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
                    index(std::min(piece, frame_bytes_ - begin)));
    });
    return staging_.data();
}

const std::byte* BlockInput::copied(cudaStream_t stream, const std::byte* first, std::int64_t stride,
                                    std::int64_t frames) {
    const auto frame = index(frame_bytes_), rows = index(frames);
    on_device_.reserve(max_frames_ * frame_bytes_);
    const cudaError_t result =
        stride == frame_bytes_
            ? cudaMemcpyAsync(on_device_.data(), first, rows * frame, cudaMemcpyDefault, stream)
            : cudaMemcpy2DAsync(on_device_.data(), frame, first, index(stride), frame, rows, cudaMemcpyDefault, stream);
    checked(result, "copy spectra to the GPU");
    return on_device_.data();
}

// Initializes the reports, because kernels may write only some of their fields.
RepeatReport* RepeatOutput::begin(cudaStream_t stream, const std::optional<RepeatReports>& wanted, std::int64_t first,
                                  std::int64_t count) {
    to_ = wanted ? wanted->data + (first - wanted->first_b_scan) * b_repeats_ : nullptr;
    if (to_ == nullptr) return nullptr;
    bytes_ = count * b_repeats_ * std::int64_t{sizeof(RepeatReport)};
    on_device_.reserve(bytes_);
    staging_.reserve(bytes_);
    std::fill_n(staging_.as<RepeatReport>(), count * b_repeats_, RepeatReport{});
    checked(cudaMemcpyAsync(on_device_.data(), staging_.data(), index(bytes_), cudaMemcpyHostToDevice, stream),
            "begin reports of repeats");
    return on_device_.as<RepeatReport>();
}

void RepeatOutput::copy_out(cudaStream_t stream) {
    if (to_ == nullptr) return;
    checked(cudaMemcpyAsync(staging_.data(), on_device_.data(), index(bytes_), cudaMemcpyDeviceToHost, stream),
            "copy reports of repeats to the host");
}

void RepeatOutput::finish() {
    if (to_ == nullptr) return;
    std::memcpy(to_, staging_.data(), index(bytes_));
    to_ = nullptr;
}

static cudaPitchedPtr rows_of(const std::byte* data, const PackedSlices& slices) {
    return make_cudaPitchedPtr(const_cast<std::byte*>(data), index(slices.line_bytes), index(slices.line_bytes),
                               index(slices.a_scans));
}

// If an array is involved, the extent in depth counts its elements.
static cudaExtent extent_of(const PackedSlices& slices) {
    return make_cudaExtent(index(slices.depth), index(slices.a_scans), index(slices.count));
}

bool allow_peer_copies(int other) {
    int current = 0, can = 0;
    checked(cudaGetDevice(&current), "query the current device");
    if (current == other) return true;
    checked(cudaDeviceCanAccessPeer(&can, current, other), "query how GPUs are connected");
    if (can == 0) return false;
    const cudaError_t result = cudaDeviceEnablePeerAccess(other, 0);
    if (result == cudaErrorPeerAccessAlreadyEnabled) {
        cudaGetLastError();
        return true;
    }
    checked(result, "enable access between GPUs");
    return true;
}

void PeerCopy::find_transfer_path(int device) {
    if (known_ == device) return;
    is_straight_ = path_ != PeerPath::through_host && allow_peer_copies(device);
    known_ = device;
}

const char* PeerCopy::transfer_path() const {
    if (!known_) return "";
    return is_straight_ ? "copied from GPU to GPU" : "through pinned host memory";
}

PeerCopy::Landing& PeerCopy::landing_on(int device, std::int64_t bytes, cudaStream_t stream) {
    const CurrentDevice other(device);
    const bool is_there = landing_ && landing_->device == device;
    if (is_there && landing_->bytes() >= bytes) return *landing_;
    checked(cudaStreamSynchronize(stream), "wait for voxels in transfer");
    if (!is_there) landing_.emplace().device = device;
    is_straight_ ? landing_->memory.reserve(bytes) : landing_->host.reserve(bytes);
    return *landing_;
}

// The landing buffer is free after the other GPU has read it. `stream` waits for that before it continues.
void PeerCopy::enqueue(cudaStream_t stream, const PackedSlices& from, const PeerTarget& to) {
    bytes_ += from.bytes();
    find_transfer_path(to.device);
    Landing& landing = landing_on(to.device, from.bytes(), stream);
    if (!left_) left_.emplace();
    checked(cudaMemcpyAsync(landing.data(), from.data, index(from.bytes()), cudaMemcpyDefault, stream),
            "copy voxels to another GPU");
    checked(cudaEventRecord(*left_, stream), "mark transferred voxels");
    {
        const CurrentDevice other(to.device);
        checked(cudaStreamWaitEvent(landing.stream, *left_), "wait for transferred voxels");
        put_in_place(landing, from, to);
        checked(cudaEventRecord(landing.arrived, landing.stream), "mark stored voxels");
    }
    checked(cudaStreamWaitEvent(stream, landing.arrived), "wait for stored voxels");
}

void PeerCopy::put_in_place(const Landing& landing, const PackedSlices& from, const PeerTarget& to) {
    if (to.array == nullptr) {
        return checked(
            cudaMemcpyAsync(to.linear, landing.data(), index(from.bytes()), cudaMemcpyDefault, landing.stream),
            "store voxels in their target");
    }
    cudaMemcpy3DParms copy{};
    copy.srcPtr = rows_of(landing.data(), from);
    copy.dstArray = to.array;
    copy.dstPos = make_cudaPos(0, 0, index(to.first_slice));
    copy.extent = extent_of(from);
    copy.kind = cudaMemcpyDefault;
    checked(cudaMemcpy3DAsync(&copy, landing.stream), "store voxels in a texture");
}

[[noreturn]] static void refuse(std::string why, std::string remedy = {}) {
    throw Error(ErrorCode::bad_setting, std::move(why), "place", std::move(remedy));
}

static cudaPointerAttributes facts_of(const void* data) {
    cudaPointerAttributes facts{};
    checked(cudaPointerGetAttributes(&facts, data), "query the memory of a target");
    return facts;
}

VoxelOutput::VoxelOutput(const VolumeGrid& grid, std::int64_t max_slices, PeerPath peers)
    : grid_(grid), line_bytes_(grid.depth * bytes_of(grid.type)), slice_bytes_(grid.a_scans * line_bytes_),
      max_slices_(max_slices), peers_(peers), peer_copy_(peers) {}

DeviceTarget VoxelOutput::begin(cudaStream_t stream, const VoxelTarget& voxel_target, std::int64_t first,
                                std::int64_t count) {
    if (voxel_target.data == nullptr || first < voxel_target.first_b_scan)
        refuse("it does not hold the block's B-scans");
    place_ = voxel_target;
    count_ = count;
    to_ = nullptr;
    peer_.reset();
    if (voxel_target.kind == TargetKind::device_surface) return slot(stream, voxel_target, first, count);
    if (voxel_target.a_scan_bytes < line_bytes_ ||
        voxel_target.b_scan_bytes < (grid_.a_scans - 1) * voxel_target.a_scan_bytes + line_bytes_) {
        refuse(fmt::format("{} to the next A-scan and {} to the next B-scan do not hold {} x {} voxels",
                           plural(voxel_target.a_scan_bytes, "bytes"), voxel_target.b_scan_bytes, grid_.depth,
                           grid_.a_scans));
    }
    if (voxel_target.kind == TargetKind::device_linear) return device_memory(voxel_target, first);
    to_ = static_cast<std::byte*>(voxel_target.data) + (first - voxel_target.first_b_scan) * voxel_target.b_scan_bytes;
    const cudaMemoryType memory = facts_of(to_).type;
    if (memory == cudaMemoryTypeDevice) refuse("device memory is not host memory", "use a device_linear target");
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
DeviceTarget VoxelOutput::device_memory(const VoxelTarget& voxel_target, std::int64_t first) {
    const std::int64_t alignment = grid_.type == VoxelType::complex64 ? 8 : bytes_of(grid_.type);
    const auto bits = reinterpret_cast<std::uintptr_t>(voxel_target.data) |
                      static_cast<std::uintptr_t>(voxel_target.a_scan_bytes) |
                      static_cast<std::uintptr_t>(voxel_target.b_scan_bytes);
    if (bits % static_cast<std::uintptr_t>(alignment) != 0) refuse("its lines are not aligned to voxels");
    const cudaPointerAttributes facts = facts_of(voxel_target.data);
    if (facts.type == cudaMemoryTypeDevice && is_elsewhere(facts.device)) {
        if (voxel_target.a_scan_bytes != line_bytes_ || voxel_target.b_scan_bytes != slice_bytes_)
            refuse("voxels in the memory of another GPU must be contiguous");
        std::byte* begin =
            static_cast<std::byte*>(voxel_target.data) + (first - voxel_target.first_b_scan) * slice_bytes_;
        return packed_for_peer({.device = facts.device, .linear = begin});
    }
    require_on_device(voxel_target.data, "place");
    DeviceTarget target;
    target.linear = static_cast<std::byte*>(voxel_target.data);
    target.a_scan_bytes = voxel_target.a_scan_bytes;
    target.b_scan_bytes = voxel_target.b_scan_bytes;
    target.a_scans = grid_.a_scans;
    target.first_slice = first - voxel_target.first_b_scan;
    return target;
}

// Voxels for a slot of another GPU are packed here first and copied in copy_out().
DeviceTarget VoxelOutput::slot(cudaStream_t stream, const VoxelTarget& voxel_target, std::int64_t first,
                               std::int64_t count) {
    const auto& slot = *static_cast<const CudaSlot*>(voxel_target.data);
    const std::int64_t end = first - voxel_target.first_b_scan + count;
    if (slot.type != grid_.type || slot.depth != grid_.depth || slot.a_scans != grid_.a_scans || end > slot.b_scans) {
        refuse(fmt::format("a slot has {} x {} x {} voxels, but the plan writes {} x {} x {}", slot.depth, slot.a_scans,
                           slot.b_scans, grid_.depth, grid_.a_scans, grid_.b_scans));
    }
    checked(cudaStreamWaitEvent(stream, slot.opened), "wait for the renderer");
    const std::int64_t first_slice = first - voxel_target.first_b_scan;
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
    checked(cudaGetDevice(&current), "query the current device");
    return device != current || peers_ != PeerPath::automatic;
}

DeviceTarget VoxelOutput::packed_for_peer(const PeerTarget& target) {
    peer_ = target;
    on_device_.reserve(max_slices_ * slice_bytes_);
    return packed(on_device_.data());
}

void VoxelOutput::add_peaks(DeviceTarget& target, const DeviceTarget& peaks, std::int64_t depths) {
    if (peaks.linear == nullptr) refuse("peaks need linear memory");
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
        checked(cudaMemcpyAsync(staging_.data(), on_device_.data(), index(count_ * slice_bytes_),
                                cudaMemcpyDeviceToHost, stream),
                "copy voxels to the host");
    } else {
        copy_rows(stream);
    }
}

void VoxelOutput::copy_rows(cudaStream_t stream) const {
    const auto line = index(line_bytes_);
    if (place_.a_scan_bytes == line_bytes_ && place_.b_scan_bytes == slice_bytes_) {
        return checked(
            cudaMemcpyAsync(to_, on_device_.data(), index(count_ * slice_bytes_), cudaMemcpyDeviceToHost, stream),
            "copy voxels to the host");
    }
    for (std::int64_t s = 0; s < count_; ++s) {
        checked(cudaMemcpy2DAsync(to_ + s * place_.b_scan_bytes, index(place_.a_scan_bytes),
                                  on_device_.data() + s * slice_bytes_, line, line, index(grid_.a_scans),
                                  cudaMemcpyDeviceToHost, stream),
                "copy voxels to the host");
    }
}

void VoxelOutput::hand_over(cudaEvent_t done) {
    if (place_.kind != TargetKind::device_surface) return;
    const auto& slot = *static_cast<const CudaSlot*>(place_.data);
    checked(cudaStreamWaitEvent(slot.publishing, done), "hand voxels to the renderer");
}

void VoxelOutput::finish() {
    if (to_ == nullptr || !staged_) return;
    parallel_for(0, count_, [&](std::int64_t s) {
        const std::byte* from = staging_.data() + s * slice_bytes_;
        std::byte* to = to_ + s * place_.b_scan_bytes;
        if (place_.a_scan_bytes == line_bytes_) {
            std::memcpy(to, from, index(slice_bytes_));
            return;
        }
        for (std::int64_t a = 0; a < grid_.a_scans; ++a) {
            std::memcpy(to + a * place_.a_scan_bytes, from + a * line_bytes_, index(line_bytes_));
        }
    });
    to_ = nullptr;
}

}  // namespace echolux::cuda
