// Interfaces to read and write the voxels of image files; each format implements one reader and one writer. Axes are
// those of files (ImageHeader: columns, rows, slices). volume_file.h converts them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "engine/interval.h"
#include "engine/io/image_header.h"

namespace echolux {

// Part of a picture in voxels.
struct ImageBox {
    Interval columns, rows, slices;
};

// Reads one image file. Use it from one thread at a time. All functions throw Error{bad_file}, naming the file and the
// problem, or Error{out_of_memory}. After an unreadable time point, others can still be read.
class ImageReader {
  public:
    virtual ~ImageReader() = default;

    // Header of level 0.
    virtual const ImageHeader& header() const = 0;

    // Returns the voxels of slices of a time point (from 0), columns fastest, of type header().type. Reading slices in
    // ascending order is fastest.
    virtual std::vector<std::byte> read(std::int64_t time_point, Interval slices) = 0;

    // Number of slices stored together. Reading that many from a multiple of it is fastest.
    virtual std::int64_t slices_together() const { return 1; }

    // Returns the header of each resolution level, from fine to coarse; level 0 is header(). Most formats have only
    // one.
    virtual std::vector<ImageHeader> levels() const { return {header()}; }

    // Whether the cost of reading a box is proportional to its size, so that volumes larger than memory can be paged.
    virtual bool reads_boxes() const { return false; }

    // Returns the voxels of a box without gaps. Call only if reads_boxes().
    virtual std::vector<std::byte> read_box(std::int64_t time_point, std::size_t level, const ImageBox& box);
};

// Writes one image file. All functions throw Error{output} naming the destination file.
class ImageWriter {
  public:
    virtual ~ImageWriter() = default;  // without finish(), the file is useless and its creator removes it

    // Appends whole slices of type header.type, columns fastest: first those of time point 0, then of time point 1, ...
    virtual void write(std::span<const std::byte> slices) = 0;

    // Completes the file after all slices were written.
    virtual void finish() = 0;
};

}  // namespace echolux
