// Interfaces to read and write the voxels of image files, and the parts of them that several formats share. Each format
// implements one reader and one writer. Axes are those of files (ImageHeader: columns, rows, slices). volume_file.h
// converts them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
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

// ---- contiguous voxels ----------------------------------------------------------------------------------------------
// After a header, raw or deflated: the shared part of NRRD, MetaImage, NIfTI, .npy and raw files. A format parses its
// header into a RawLayout for reading, or passes its header to create_raw_image() for writing.

// Location and encoding of the voxels.
struct RawLayout {
    ImageHeader header;  // header.type must be voxel_type(stored)
    StoredType stored = StoredType::u8;
    bool swapped = false;                  // not in this machine's byte order
    std::filesystem::path voxels;          // file with the voxels
    std::int64_t begin = 0;                // offset of the first byte of (compressed) voxels
    bool packed = false;                   // as gzip or zlib
    std::int64_t skipped = 0;              // decompressed bytes before the voxels
    std::array<int, 4> order{0, 1, 2, 3};  // from fastest to slowest; 0: columns, 1: rows, 2: slices, 3: time points
};

// Returns the offset of voxels that are the last bytes of the file.
std::int64_t begin_of_last_bytes(const RawLayout& layout);

// Opens the voxels. Axis orders other than the default require the whole file in memory and are refused if memory is
// too small. Throws Error{bad_file, out_of_memory} naming `path`.
std::unique_ptr<ImageReader> open_raw_image(const RawLayout& layout, const std::filesystem::path& path);

enum class Packed { nothing, voxels, all };  // part of the file that is gzip-compressed

// Writes `beginning` at once, and the voxels as they arrive.
std::unique_ptr<ImageWriter> create_raw_image(const std::filesystem::path& path, const std::string& beginning,
                                              Packed packed, const std::string& where);

// ---- chunked formats ------------------------------------------------------------------------------------------------

// Collects slices for formats that write a layer of chunks at a time. Derived classes write slabs; see ImageWriter for
// the order of slices.
class SlabWriter : public ImageWriter {
  public:
    void write(std::span<const std::byte> slices) final;

  protected:
    // Buffers at most `slices_a_slab` slices. Throws Error{out_of_memory} naming `where`.
    SlabWriter(const ImageHeader& header, std::int64_t slices_a_slab, const std::string& where);

    // Writes one slab of a time point. The last slab of each time point may be thinner.
    virtual void put_slab(std::int64_t time_point, Interval slices, std::span<const std::byte> voxels) = 0;

    const ImageHeader header_;

  private:
    std::int64_t thickness_;
    std::int64_t next_ = 0;  // next slice, counted over all time points
    std::vector<std::byte> waiting_;
};

}  // namespace echolux
