// Voxel codes in the three forms that the renderer meets: as a file or reconstruction has them, as a texture stores
// them, and as the texture values that a shader samples.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "compute/types.h"
#include "render/transfer_function.h"

namespace echolux {

// The i-th of packed codes.
double code_at(VoxelType type, const void* codes, std::int64_t i);

// 8-bit codes as a texture of 16 bits stores them, and back.
void widen(std::span<std::byte> target, const std::byte* codes);
void narrow(std::span<std::byte> target, const std::byte* widened);

class StoredCodes {
  public:
    // Voxels that are not finite take the nearest end of `range`.
    StoredCodes(const VolumeGrid& grid, bool widened, const ValueRange& range);

    VoxelType type() const { return stored_; }                // of the texture
    std::int64_t bytes() const { return bytes_of(stored_); }  // a voxel there

    // `count` packed codes into count * bytes() of a texture.
    void store(const std::byte* codes, std::int64_t count, std::byte* stored) const;

    void to_texture_values(const std::byte* stored, std::int64_t count, float* values) const;
    void from_texture_values(const float* values, std::int64_t count, std::byte* stored) const;

  private:
    VoxelType type_, stored_;
    float low_ = 0, high_ = 0;  // codes of the range's ends
};

}  // namespace echolux
