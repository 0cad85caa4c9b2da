// The two kinds of memory of a reconstructor: blocks of raw spectra, and targets for voxels.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include "compute/types.h"

namespace echolux {

// UUID of a GPU, identical in CUDA and Vulkan. All zero: none.
using DeviceId = std::array<std::uint8_t, 16>;

enum class MemoryKind { host, pinned, device };

// Layout of acquired B-scans in a block's memory. Additional data of the instrument between them is skipped in place.
struct FrameLayout {
    std::int64_t offset_bytes = 0;  // header bytes before the first line of each acquired B-scan
    std::int64_t stride_bytes = 0;  // distance between acquired B-scans; 0: contiguous lines
};

// Orders work relative to a caller's work on the same GPU without blocking the host. A stream runs its earlier work
// before ours and its later work after the voxels. The event of a block is awaited; that of VoxelTargets is recorded
// after the voxels. The handle is CUDA's and only used in compute/cuda.
struct CallerOrder {
    enum class Kind { none, stream, event };
    Kind kind = Kind::none;
    void* handle = nullptr;  // a null stream is the default stream
};

// Whole B-scans of raw spectra: [b_scans][b_repeats][a_scans][a_repeats] lines of line_bytes() each.
struct Block {
    // Start of the block, including headers and flyback. Null, with 0 bytes: the spectra are missing.
    const std::byte* data = nullptr;
    std::int64_t bytes = 0;
    FrameLayout frames;
    MemoryKind memory = MemoryKind::host;
    CallerOrder order;
    std::int64_t volume = 0;
    std::int64_t first_b_scan = 0;                    // position in its volume
    std::int64_t b_scans = 0;                         // positions along the slow axis
    std::uint64_t sequence = 0;                       // consecutive number of the block in its source
    std::int64_t lost_before = 0;                     // blocks lost by the device since the previous block
    double time_s = 0;                                // time of the first line on the source's clock, since its start
    std::chrono::steady_clock::time_point arrived{};  // when the block was received from its source
    DeviceId near_gpu{};                              // GPU with the fastest access; all zero: no preference
    std::shared_ptr<const void> keeper;               // owns the memory; the last view releases it
};

// A block without data represents B-scans whose spectra were lost.
inline bool is_missing(const Block& block) {
    return block.data == nullptr && block.bytes == 0;
}

// Returns the offset of the first line of acquired B-scan `frame` in its block. `frame_bytes` is the size of its lines.
inline std::int64_t frame_offset(const FrameLayout& frames, std::int64_t frame, std::int64_t frame_bytes) {
    return frames.offset_bytes + frame * (frames.stride_bytes > 0 ? frames.stride_bytes : frame_bytes);
}

enum class TargetKind { host_linear, device_linear, device_surface };

// A volume-shaped target. In linear memory, voxel (depth z, A-scan a, B-scan b) is at
//   data + (b - first_b_scan) * b_scan_bytes + a * a_scan_bytes + z * bytes_of(type).
// A device_surface comes from SlotWriter::targets(); its `data` is only meaningful to the backend.
struct VoxelTarget {
    TargetKind kind = TargetKind::host_linear;
    void* data = nullptr;
    std::int64_t first_b_scan = 0;
    std::int64_t a_scan_bytes = 0;
    std::int64_t b_scan_bytes = 0;
};

// Target for the max of each few voxels along depth: a small volume of the same type, [B-scan][A-scan][peak]. Used to
// skip empty space without reading every voxel again. Linear memory of any kind; a device_surface is a buffer.
struct Peaks {
    VoxelTarget target;
    std::int64_t depths = 8;  // voxels per peak, 4 or 8; the last peak covers the remainder
};

// Returns the number of peaks of a line.
constexpr std::int64_t peaks_of(std::int64_t depth, std::int64_t depths) {
    return (depth + depths - 1) / depths;
}

struct RepeatReport;

// Destination of the reports on aligned repeats: [B-scan positions][b_repeats] in host memory.
struct RepeatReports {
    RepeatReport* data = nullptr;
    std::int64_t first_b_scan = 0;
};

// Targets of the volumes of one time point.
struct VoxelTargets {
    VoxelTarget structure;
    std::optional<VoxelTarget> flow;       // for plans with flow; empty if it is not needed now
    std::optional<Peaks> peaks;            // peaks of the structure, which must be real; empty if not needed
    std::optional<RepeatReports> repeats;  // for plans with alignment; empty if not needed
    CallerOrder order;                     // applies to all targets

    VoxelTargets(const VoxelTarget& target) : structure(target) {}  // NOLINT: structure alone is the usual case
    VoxelTargets(const VoxelTarget& target, const VoxelTarget& flow_target) : structure(target), flow(flow_target) {}
};

// ---- Computes VoxelTargets::peaks on the host: the max of each few voxels of a line. On a GPU, the kernels that hold
// the codes compute the peaks (compute/cuda/voxels.cuh).

// Checks peak settings. Throws Error{bad_setting} for complex voxels and for sizes other than 4 or 8.
void check_peaks(const Peaks& peaks, VoxelType type);

// Stores the peaks of a line of `depth` codes. The type must pass check_peaks(), and values must not be NaN.
void store_peaks(VoxelType type, const std::byte* codes, std::int64_t depth, std::int64_t depths, std::byte* peaks);

// ---- allocation -----------------------------------------------------------------------------------------------------
// Memory for blocks of raw spectra: page-aligned, and pinned if a GPU will read it.

// Host or device memory of a block. Copies share the memory.
struct BlockMemory {
    std::byte* data = nullptr;
    std::int64_t bytes = 0;
    MemoryKind kind = MemoryKind::host;
    std::shared_ptr<const void> keeper;  // the last copy frees the memory
};

// Allocates memory of `bytes` bytes. Pinned memory falls back to pageable host memory if there is no GPU or pinning is
// refused. Throws Error{out_of_memory}.
BlockMemory block_memory(std::int64_t bytes, MemoryKind wanted = MemoryKind::pinned);

// ---- GPU memory for callers that store spectra or voxels there: benchmarks, and programs that already use the GPU.

// Allocates zeroed memory. An all-zero `gpu` selects the first one. Throws Error{device, out_of_memory}.
BlockMemory device_memory(std::int64_t bytes, const DeviceId& gpu = {});

// Creates a CUDA stream for use as CallerOrder::handle. Throws Error{device}.
std::shared_ptr<void> device_stream(const DeviceId& gpu = {});

// Returns the free memory of a GPU in bytes. Throws Error{device}.
std::int64_t free_device_memory(const DeviceId& gpu = {});

// Copies between host or device memory in any direction. Blocks until complete. Throws Error{device}.
void copy_memory(std::byte* to, const std::byte* from, std::int64_t bytes);

}  // namespace echolux
