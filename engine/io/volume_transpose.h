// Conversion between image headers (columns = A-scans, rows = depth, slices = B-scans; millimetres; texts) and
// VolumeGrid (depth fastest; micrometres). This is the only place that knows both. Properties without a field in the
// format (unit, known spacings, provenance) are stored as texts with keys that start with "echolux_".
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "engine/io/image_header.h"
#include "engine/io/volume_file.h"

namespace echolux {

// Returns the header to write for a series.
ImageHeader image_header(const SeriesHeader& series);

// Returns the description of the series in a file.
SeriesHeader series_header(const ImageHeader& image);

// Returns whether the image has the texts that image_header() adds to each of our files.
bool has_own_texts(const ImageHeader& image);

// Adds a text of a foreign file to the provenance. Empty texts are ignored.
void add_provenance(ImageHeader& image, const std::string& key, const std::string& text);

// Returns whether the position and orientation in the patient are known.
bool has_pose(const SeriesHeader& series);

// Returns whether columns, rows or slices do not run along x, y and z.
bool is_turned(const SeriesHeader& series);

// Returns whether the first voxel is not at 0.
bool is_shifted(const SeriesHeader& series);

// Returns the grid of a coarser level. It differs from level 0 (`finest`) only in size, spacing and origin.
VolumeGrid level_grid(const ImageHeader& level, const ImageHeader& finest, const SeriesHeader& series);

// Computes out[column][row] = in[row][column] for each slice. Both spans hold the same number of whole slices and must
// not overlap.
void transpose(std::span<const std::byte> in, std::span<std::byte> out, VoxelType type, std::int64_t rows,
               std::int64_t columns);

}  // namespace echolux
