// Collects slices for chunked formats, which write a layer of chunks at a time.
#pragma once

#include "engine/io/image_stream.h"

namespace echolux {

// Derived classes write slabs; see ImageWriter for the order of slices.
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
