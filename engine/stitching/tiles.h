// Tiles of a mosaic: volumes of one size of voxel at positions of a stage, listed in a CSV file.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "engine/interval.h"
#include "engine/io/volume_file.h"

namespace echolux {

// Along depth, A-scans and B-scans, in voxels.
using TileShift = std::array<double, 3>;

struct Tile {
    std::filesystem::path path;
    std::string name;       // as listed
    std::int64_t line = 0;  // of the list
    VolumeGrid grid;        // of the tile
    TileShift first{};      // first voxel, relative to the origin of the stage
};

// Lists of tiles: "file,x_mm,y_mm" or "file,x_mm,y_mm,z_mm" per line, after an optional heading; # starts a comment.
// x and y are the centre of a tile, z the depth of its zero delay. Files are beside or below the list.
struct TileSet {
    std::vector<Tile> tiles;
    std::filesystem::path list;

    // Opens the list, and the header of each tile. Throws Error{bad_file} naming file and line if the list is damaged,
    // a tile is missing, tiles differ in spacing or quantity, or a tile overlaps no other.
    explicit TileSet(const std::filesystem::path& list);

    const VolumeGrid& grid() const { return tiles.front().grid; }
    double spacing_mm(std::size_t axis) const { return grid().spacing_um[axis] / 1000; }
    std::int64_t bytes() const;  // of all voxels
};

// Returns the files that a list names, without opening them.
std::vector<std::string> files_of_tiles(const std::filesystem::path& list);

// Part of a tile in voxels, and its linear intensity, depth fastest. NaN stays NaN.
struct TileBox {
    std::array<Interval, 3> range;  // depth, A-scans, B-scans
    std::vector<float> power;

    std::array<std::int64_t, 3> size() const {
        return {range[0].end - range[0].begin, range[1].end - range[1].begin, range[2].end - range[2].begin};
    }
};

// Reads parts of one tile. Use it from one thread at a time.
class TileReader {
  public:
    explicit TileReader(const Tile& tile);

    // Holds the B-scans of at most 16 slices beside the box.
    TileBox read(const std::array<Interval, 3>& range);

  private:
    VolumeGrid grid_;
    SeriesFile file_;
};

}  // namespace echolux
