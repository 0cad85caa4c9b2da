// Conversion of voxel codes between three forms: codes of a file or reconstruction, codes as stored by a texture, and
// texture values as sampled by a shader.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "compute/types.h"
#include "render/transfer_function.h"

namespace echolux {

// Returns the i-th of packed codes.
double code_at(VoxelType type, const void* codes, std::int64_t i);

// Convert 8-bit codes to the 16 bits of a texture, and back.
void widen(std::span<std::byte> target, const std::byte* codes);
void narrow(std::span<std::byte> target, const std::byte* widened);

// Converter for the voxels of one volume. Immutable, so it can be shared by threads.
class StoredCodes {
  public:
    // `widened`: the texture stores 8-bit codes in 16 bits. Voxels that are not finite become the nearest end of
    // `range`.
    StoredCodes(const VolumeGrid& grid, bool widened, const ValueRange& range);

    VoxelType type() const { return stored_; }                // type of the texture's voxels
    std::int64_t bytes() const { return bytes_of(stored_); }  // per voxel of the texture

    // Converts `count` packed codes to count * bytes() bytes for a texture.
    void store(const std::byte* codes, std::int64_t count, std::byte* stored) const;

    void to_texture_values(const std::byte* stored, std::int64_t count, float* values) const;
    void from_texture_values(const float* values, std::int64_t count, std::byte* stored) const;

  private:
    VoxelType type_, stored_;
    float low_ = 0, high_ = 0;  // codes at the ends of the range
};

}  // namespace echolux
