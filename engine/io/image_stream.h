// How voxels come out of image files and go into them: each format has one reader and one writer behind these two
// faces. Files speak their own language (ImageHeader: columns, rows, slices); volume_file turns that into ours.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "engine/interval.h"
#include "engine/io/image_header.h"

namespace echolux {

// Part of a picture, in voxels: along columns, rows, slices.
struct ImageBox {
    Interval columns, rows, slices;
};

// One thread at a time. Everything throws Error{bad_file} naming the file and what is wrong with it, and
// Error{out_of_memory}; after a time point that cannot be read, others can be.
class ImageReader {
  public:
    virtual ~ImageReader() = default;

    virtual const ImageHeader& header() const = 0;

    // The voxels of slices of a time point, counted from 0: columns fastest, as header().type says. Read soonest in
    // their order.
    virtual std::vector<std::byte> read(std::int64_t time_point, Interval slices) = 0;

    // Slices that are stored together: as many at a time, from a multiple of that on, cost least to read.
    virtual std::int64_t slices_together() const { return 1; }

    // The same picture, each level coarser than the one before; level 0 is header(). Most formats have one.
    virtual std::vector<ImageHeader> levels() const { return {header()}; }

    // Whether boxes are read at a cost that goes with their size: pages of a volume larger than memory can be.
    virtual bool reads_boxes() const { return false; }

    // Packed voxels of a box. Only where reads_boxes().
    virtual std::vector<std::byte> read_box(std::int64_t time_point, std::size_t level, const ImageBox& box);
};

// Everything throws Error{output} naming the file that was asked for.
class ImageWriter {
  public:
    virtual ~ImageWriter() = default;  // without finish(): nothing useful is left, and whoever made it removes it

    // The next whole slices: those of the first time point in their order, then of the second, ... Columns fastest, as
    // the header's type says.
    virtual void write(std::span<const std::byte> slices) = 0;

    // All slices were written: what the format says at the end.
    virtual void finish() = 0;
};

}  // namespace echolux
