// From complex depth bins to voxels: join repeats, power, noise floor, quantity, codes (docs/algorithms.md 3.13).
#pragma once

#include <complex>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "compute/plan_tables.h"

namespace echolux {

class VoxelLine {
  public:
    explicit VoxelLine(const VoxelTables& tables);

    // Values of one output line from the lines that it joins (each [depth], not yet scaled). Valid until the next call.
    std::span<const float> values(std::span<const std::complex<float>* const> lines);

    // Codes of such values as recipe.voxel wants them.
    void store(std::span<const float> values, CodeRange range, std::byte* target) const;

    // Quantity complex: the (mean of the) lines, scaled.
    void store_complex(std::span<const std::complex<float>* const> lines, std::byte* target);

  private:
    void mean_complex(std::span<const std::complex<float>* const> lines);
    void power_of(std::span<const std::complex<float>* const> lines);
    void subtract_noise_floor();
    void to_quantity();

    const VoxelTables& tables_;
    std::vector<std::complex<float>> mean_;
    std::vector<float> values_;  // power, then the quantity
};

}  // namespace echolux
