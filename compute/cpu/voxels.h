// Converts complex depth bins to voxels: average repeats, power, noise floor, quantity, codes (docs/algorithms.md
// 3.13).
#pragma once

#include <complex>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "compute/plan/tables.h"

namespace echolux::cpu {

// Lines averaged into an output line, each [depth] and unscaled, and their weights, which sum to 1.
struct JoinedLines {
    std::span<const std::complex<float>* const> lines;
    std::span<const float> weights;
};

// Computes voxels of output lines. Owns the buffers of one thread; the tables must outlive it.
class VoxelLine {
  public:
    explicit VoxelLine(const VoxelTables& tables);

    // Returns the values of one output line. Valid until the next call.
    std::span<const float> values(const JoinedLines& joined);

    // Stores values as codes of type recipe.voxel.
    void store(std::span<const float> values, CodeRange range, std::byte* target) const;

    // For quantity = complex: stores the scaled mean of the lines.
    void store_complex(const JoinedLines& joined, std::byte* target);

  private:
    void mean_complex(const JoinedLines& joined);
    void power_of(const JoinedLines& joined);
    void subtract_noise_floor();
    void to_quantity();

    const VoxelTables& tables_;
    std::vector<std::complex<float>> mean_;
    std::vector<float> values_;  // power, then the quantity
};

}  // namespace echolux::cpu
