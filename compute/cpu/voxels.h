// From complex depth bins to voxels: join repeats, power, noise floor, quantity, codes (docs/algorithms.md 3.13).
#pragma once

#include <complex>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "compute/params.h"

namespace echolux {

struct VoxelTables {
    std::int64_t depth = 0;          // after cropping
    float scale = 1;                 // of the amplitude: 1 / sum of the window
    std::vector<float> noise_floor;  // amplitude [depth]; empty: none
    double reference_db = 0;         // counts as 0 dB
    Recipe recipe;                   // average, noise_floor, quantity, voxel, low, high
    bool depth_flip = false;
};

// Range of values that the codes span.
struct CodeRange {
    float low = 0;
    float high = 1;
};

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
