// Between the language of files (columns = A-scans, rows = depth, slices = B-scans; millimetres; texts) and ours
// (VolumeGrid: depth fastest; micrometres). The only place that knows both. What a format has no field for (unit, which
// spacings are known, provenance) travels in texts with a key of ours.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "engine/io/image_header.h"
#include "engine/io/volume_file.h"

namespace echolux {

ImageHeader image_header(const SeriesHeader& series);

SeriesHeader series_header(const ImageHeader& image);

// Whether an image has the texts that image_header() gives to all of ours.
bool has_own_texts(const ImageHeader& image);

// A text of a foreign file that becomes provenance; empty ones are left out.
void add_provenance(ImageHeader& image, const std::string& key, const std::string& text);

// Of a coarser level: only size, spacing and origin differ from those of level 0.
VolumeGrid level_grid(const ImageHeader& level, const SeriesHeader& series);

// out[column][row] = in[row][column] for each slice. Both hold the same whole slices; they must not overlap.
void transpose(std::span<const std::byte> in, std::span<std::byte> out, VoxelType type, std::int64_t rows,
               std::int64_t columns);

}  // namespace echolux
