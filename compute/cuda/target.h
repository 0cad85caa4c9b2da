// Targets of output lines on the device: rows of linear memory, or of a 3-D surface (x = depth in bytes, y = A-scan, z
// = B-scan). Hides the difference from kernels.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

#include "compute/plan/params.h"

namespace echolux::cuda {

// One output line. Offsets are bytes from the start of the line and multiples of the size of T.
struct TargetRow {
    std::byte* linear;
    cudaSurfaceObject_t surface;
    int a_scan;
    int slice;
    std::byte* peaks;  // peaks of the line; null: not needed

#ifdef __CUDACC__
    template <class T>
    __device__ void store(std::int64_t offset, T value) const {
        if (linear != nullptr) {
            *reinterpret_cast<T*>(linear + offset) = value;
        } else {
            surf3Dwrite(value, surface, static_cast<int>(offset), a_scan, slice);
        }
    }
#endif
};

// Mapping if output lines are recorded lines: every second slice of a bidirectional scan is mirrored in groups of
// `a_repeats` lines, which stay in temporal order.
struct RecordedLines {
    int reversed = 0;  // slices to mirror; 0: none, 1: the second of every two, 2: the first
    int lines = 1;     // per slice
    int a_repeats = 1;

    // `first_frame` is the acquired B-scan of the first slice in the volume.
    static RecordedLines of(const ScanGeometry& scan, std::int64_t first_frame) {
        if (!scan.bidirectional) return {};
        return {first_frame % 2 == 0 ? 1 : 2, static_cast<int>(scan.lines_per_b_scan()),
                static_cast<int>(scan.a_repeats)};
    }

#ifdef __CUDACC__
    // Maps a recorded line to its A-scan in the slice, and back.
    __device__ int mirrored(int slice, int line) const {
        if (reversed == 0 || (slice + reversed) % 2 != 0) return line;
        const int repeat = line % a_repeats;
        return lines - a_repeats - line + 2 * repeat;
    }
#endif
};

// Target of a kernel. Passed by value.
struct DeviceTarget {
    std::byte* linear = nullptr;      // slice 0, A-scan 0; null for a surface
    cudaSurfaceObject_t surface = 0;  //
    std::int64_t a_scan_bytes = 0;    // linear memory only
    std::int64_t b_scan_bytes = 0;    //
    std::int64_t a_scans = 1;         // output lines per slice
    std::int64_t first_slice = 0;     // slice of output line 0 of the work, starting at its A-scan 0
    std::int64_t first_line = 0;      // output line of line 0 of a kernel
    RecordedLines recorded;           // identity by default

    std::byte* peaks = nullptr;  // linear memory, slice 0, A-scan 0, see Peaks; null: not needed
    std::int64_t peaks_a_scan_bytes = 0;
    std::int64_t peaks_b_scan_bytes = 0;
    int depths_of_a_peak = 0;

    // Returns whether all peaks are aligned to `bytes` bytes.
    bool has_peaks_at(std::int64_t bytes) const {
        const auto bits = reinterpret_cast<std::uintptr_t>(peaks) | static_cast<std::uintptr_t>(peaks_a_scan_bytes) |
                          static_cast<std::uintptr_t>(peaks_b_scan_bytes);
        return peaks != nullptr && bits % static_cast<std::uintptr_t>(bytes) == 0;
    }

    // Returns whether every line start permits stores of 16 bytes.
    bool wide() const {
        const auto bits = reinterpret_cast<std::uintptr_t>(linear) | static_cast<std::uintptr_t>(a_scan_bytes) |
                          static_cast<std::uintptr_t>(b_scan_bytes);
        return linear == nullptr || bits % 16 == 0;
    }

    // Returns the same target for a kernel that starts `lines` output lines later.
    DeviceTarget from(std::int64_t lines) const {
        DeviceTarget later = *this;
        later.first_line += lines;
        return later;
    }

#ifdef __CUDACC__
    __device__ TargetRow row(std::int64_t line) const {
        const std::int64_t output = first_line + line, slice = output / a_scans;
        return at(first_slice + slice, recorded.mirrored(static_cast<int>(slice), static_cast<int>(output % a_scans)));
    }

    __device__ TargetRow at(std::int64_t slice, std::int64_t a_scan) const {
        std::byte* start = linear == nullptr ? nullptr : linear + slice * b_scan_bytes + a_scan * a_scan_bytes;
        std::byte* peaks_start =
            peaks == nullptr ? nullptr : peaks + slice * peaks_b_scan_bytes + a_scan * peaks_a_scan_bytes;
        return {start, surface, static_cast<int>(a_scan), static_cast<int>(slice), peaks_start};
    }
#endif
};

}  // namespace echolux::cuda
