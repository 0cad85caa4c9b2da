// Sources of voxels, read box by box. Volumes larger than the device memory are read page by page for each picture.
// Sources are memory and files that support partial reads.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "compute/types.h"
#include "render/transfer_function.h"

namespace echolux {

using Indices = std::array<std::int64_t, 3>;  // along depth, A-scans, B-scans

struct VoxelBox {
    Indices first{};
    Indices extent{};

    std::int64_t voxels() const { return extent[0] * extent[1] * extent[2]; }
};

// Interface of a volume's voxels. The grid is constant.
class VoxelSource {
  public:
    virtual ~VoxelSource() = default;

    virtual const VolumeGrid& grid() const = 0;

    // Reads the codes of a box inside the grid, of type grid().type, packed with depth fastest. Called from several
    // threads at a time. Throws the errors of the source.
    virtual void read(const VoxelBox& box, std::byte* codes) const = 0;

    // Returns the range of values for pictures unless view or preset has one: the 1st and 99.9th percentile of evenly
    // spaced voxels, without the dB value of zero. low < high always.
    virtual ValueRange range() const;
};

// Returns a source of grid.bytes() bytes in memory. Either `owner` or the caller keeps them alive.
std::shared_ptr<const VoxelSource> voxels_in_memory(const VolumeGrid& grid, const void* voxels,
                                                    std::shared_ptr<const void> owner = {});

// ---- Conversion of voxel codes between three forms: codes of a file or reconstruction, codes as stored by a texture,
// and texture values as sampled by a shader.

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
