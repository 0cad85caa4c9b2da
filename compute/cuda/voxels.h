// Converts complex depth bins to voxels on the GPU: average repeats, power, noise floor, quantity, codes
// (docs/algorithms.md 3.13). Tables are shared by all workers.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <optional>

#include "compute/cuda/line_method.h"
#include "compute/cuda/memory.h"
#include "compute/cuda/target.h"
#include "compute/plan/tables.h"

namespace echolux::cuda {

// The lines that contribute to an output line, and their weights: the line of one position or, if repeats are averaged,
// all its repeats. With an uneven beam, also those of the neighbouring position.
struct Joining {
    std::int64_t joined = 1;     // lines per output line
    std::int64_t a_scans = 1;    // output lines per group of frames
    std::int64_t a_repeats = 1;  // averaged lines per position
    std::int64_t b_repeats = 1;  // averaged frames
    std::int64_t frame_lines = 1;
    ScanOrder order;
    const LineMix* mixes = nullptr;  // [a_scans]; null: A-scans are recorded lines
    bool as_recorded = true;         // output lines are recorded lines, whose order is up to the target

#ifdef __CUDACC__
    struct Term {
        std::int64_t line;
        float weight;  // the weights of an output line sum to `joined`
    };

    __device__ std::int64_t terms() const {
        return mixes == nullptr ? joined : 2 * joined;
    }

    // Returns term i of an output line. `first_frame` is the frame of line 0 in the volume.
    __device__ Term term(std::int64_t output, std::int64_t i, std::int64_t first_frame) const {
        if (as_recorded) return {output, 1};
        const std::int64_t r = mixes == nullptr ? i : i / 2;
        const std::int64_t frame = output / a_scans * b_repeats + r / a_repeats;
        const bool reversed = order.is_reversed(first_frame + frame);
        const LineMix mix =
            mixes == nullptr ? LineMix{static_cast<std::int32_t>(output % a_scans), 0} : mixes[output % a_scans];
        const bool is_next = mixes != nullptr && i % 2 == 1;
        const std::int64_t position = order.recorded(mix.first + (is_next ? 1 : 0), reversed);
        return {frame * frame_lines + position * a_repeats + r % a_repeats, is_next ? mix.next : 1 - mix.next};
    }
#endif
};

// Tables and launches, shared by all workers.
class VoxelKernels {
  public:
    VoxelKernels(const VoxelTables& tables, const ReconstructionSpec& spec, const BlockShape& shape);

    // Returns whether output lines are recorded lines. The target must then handle their order.
    bool as_recorded() const { return joining_.as_recorded; }

    // Enqueues `lines` output lines. Unless as_recorded(), they are whole B-scan positions, and line 0 belongs to frame
    // `first_frame` of the volume.
    void store(cudaStream_t stream, const DeviceBins& bins, std::int64_t lines, std::int64_t first_frame,
               const DeviceTarget& target) const;

    // Does the same for the lines of `method`, directly to codes. Returns false and does nothing if not supported.
    bool store_codes(LineMethod& method, const RawLines& lines, const DeviceTarget& target) const;

    // For levels = frame: first computes values [lines][depth], then the codes of `slices` slices, each over its own
    // range.
    void values(cudaStream_t stream, const DeviceBins& bins, std::int64_t lines, std::int64_t first_frame,
                float* values) const;
    void store_slices(cudaStream_t stream, const float* values, std::int64_t slices, const DeviceTarget& target) const;

  private:
    void enqueue(cudaStream_t stream, const DeviceBins& bins, std::int64_t lines, std::int64_t first_frame,
                 VoxelType type, const DeviceTarget& target) const;

    VoxelTables tables_;
    DeviceBuffer mixes_;
    Joining joining_;
    DeviceBuffer noise_floor_;
};

// ---- Optimized path for the most common conversion of depth bins to voxels: dB codes of one byte, for lines that are
// not averaged. After a matrix product this pass takes a considerable part of the time.

// Returns the conversion for methods that hold bins in registers or shared memory, if recipe and target support it.
std::optional<ByteCodes> byte_codes(const VoxelTables& tables, const DeviceTarget& target);

// Enqueues the conversion if bins, recipe and target support it. Otherwise returns false and does nothing.
bool enqueue_byte_codes(cudaStream_t stream, const DeviceBins& bins, std::int64_t lines, const VoxelTables& tables,
                        const DeviceTarget& target);

}  // namespace echolux::cuda
