// The mosaic of aligned tiles, B-scan by B-scan.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "engine/progress.h"
#include "engine/stitching/tile_alignment.h"

namespace echolux {

// A position of the mosaic in a tile: between `below` and the next voxel, at the distance `part`.
struct VoxelBelow {
    std::int64_t below;
    float part;
};

// Tiles are shifted by cubic interpolation of their linear intensity and equalised. Where they overlap, each counts by
// its distance from its edges, so that a tile ends where it counts nothing. NaN outside the tiles. Memory holds
// some B-scans of the tiles that the current one passes, at most those of two rows of tiles.
class Mosaic {
  public:
    Mosaic(const TileSet& set, const TileAlignment& alignment);
    ~Mosaic();

    // f32, in the quantity of the tiles.
    const VolumeGrid& grid() const { return grid_; }
    // Centre of the mosaic along A-scans and B-scans in mm.
    std::array<double, 2> centre_mm() const;

    // The next B-scan, depth fastest. Call it grid().b_scans times. Throws Error{bad_file, out_of_memory}.
    std::vector<float> next();

    // Bytes of the B-scans in memory, at most.
    std::int64_t bytes() const;

  private:
    struct Source;

    static const float* nearest_a_scan(const Source& source, const VoxelBelow& across, const VoxelBelow& along,
                                       const VolumeGrid& grid);
    bool is_passed(std::size_t tile, std::int64_t b) const;
    void open_and_close(std::int64_t b);
    void add(const Source& source, std::int64_t b, std::vector<float>& sums, std::vector<float>& weights) const;

    const TileSet& set_;
    const TileAlignment& alignment_;
    VolumeGrid grid_;
    TileShift origin_{};                     // in voxels
    std::vector<TileShift> offsets_;         // of each tile from the origin
    std::map<std::size_t, Source> sources_;  // open tiles
    std::int64_t next_ = 0;
};

}  // namespace echolux
