// Where voxels go, and the block of raw spectra they come from: the two kinds of memory that a reconstructor works on.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include "compute/repeat_report.h"
#include "compute/types.h"

namespace echolux {

// A GPU's UUID, the same in CUDA and in Vulkan; all zero: none.
using DeviceId = std::array<std::uint8_t, 16>;

enum class MemoryKind { host, pinned, device };

// Where the lines of acquired B-scans lie in a block's memory: what instruments put around them stays where it is, and
// is skipped.
struct FrameLayout {
    std::int64_t offset_bytes = 0;  // before the first line of each acquired B-scan (headers)
    std::int64_t stride_bytes = 0;  // from one acquired B-scan to the next; 0: lines without a gap
};

// How work comes in turn with what a caller does on the same GPU, without a wait on the host. A stream: what was
// enqueued on it before comes first, what is enqueued on it later comes after the voxels. An event: of a block it is
// waited for, of places it is recorded behind the voxels. The handle is CUDA's; compute/cuda alone knows more of it.
struct CallerOrder {
    enum class Kind { none, stream, event };
    Kind kind = Kind::none;
    void* handle = nullptr;  // of a stream null: the default one
};

// Some whole B-scans of raw spectra: [b_scans][b_repeats][a_scans][a_repeats] lines of line_bytes() each.
struct Block {
    const std::byte* data = nullptr;  // of the whole block, headers and flyback included
    std::int64_t bytes = 0;
    FrameLayout frames;
    MemoryKind memory = MemoryKind::host;
    CallerOrder order;
    std::int64_t volume = 0;
    std::int64_t first_b_scan = 0;                    // position in its volume
    std::int64_t b_scans = 0;                         // positions along the slow axis
    std::uint64_t sequence = 0;                       // counts blocks of the source, without gaps
    std::int64_t lost_before = 0;                     // blocks that the device lost since the block before this one
    double time_s = 0;                                // of the first line, by the source's clock, from its start
    std::chrono::steady_clock::time_point arrived{};  // when it was taken from its source
    DeviceId near_gpu{};                              // that fetches it fastest; all zero: all alike
    std::shared_ptr<const void> keeper;               // holds the memory; destroyed with the last view
};

// Where the first line of acquired B-scan `frame` of the block lies; `frame_bytes` are those of its lines.
inline std::int64_t frame_offset(const FrameLayout& frames, std::int64_t frame, std::int64_t frame_bytes) {
    return frames.offset_bytes + frame * (frames.stride_bytes > 0 ? frames.stride_bytes : frame_bytes);
}

enum class PlaceKind { host_linear, device_linear, device_surface };

// A volume-shaped target. In linear memory voxel (depth z, A-scan a, B-scan b) lies at
//   data + (b - first_b_scan) * b_scan_bytes + a * a_scan_bytes + z * bytes_of(type);
// a device_surface comes from SlotWriter::places() and its `data` means something to the backend alone.
struct Place {
    PlaceKind kind = PlaceKind::host_linear;
    void* data = nullptr;
    std::int64_t first_b_scan = 0;
    std::int64_t a_scan_bytes = 0;
    std::int64_t b_scan_bytes = 0;
};

// The largest of each few voxels along depth, in a small volume of their type, [B-scan][A-scan][peak]: for whoever
// looks for empty space, and would have to read every voxel again. In linear memory, of any kind; a device_surface is a
// buffer.
struct Peaks {
    Place place;
    std::int64_t depths = 8;  // voxels of a peak, 4 or 8, from the first on; the last one has what is left
};

constexpr std::int64_t peaks_of(std::int64_t depth, std::int64_t depths) {
    return (depth + depths - 1) / depths;
}

// Where the volumes of one time point go.
struct Places {
    Place structure;
    std::optional<Place> flow;             // where the plan has flow; nothing: it is not wanted now
    std::optional<Peaks> peaks;            // of the structure, whose voxels must be real; nothing: they are not wanted
    std::optional<RepeatReports> repeats;  // where the plan aligns them; nothing: what was found is not wanted
    CallerOrder order;                     // of all

    Places(const Place& place) : structure(place) {}  // NOLINT: structure alone is the usual case
    Places(const Place& place, const Place& flow_place) : structure(place), flow(flow_place) {}
};

}  // namespace echolux
