// Slices come one after the other; formats of chunks want some at a time: all that a layer of chunks holds.
#pragma once

#include "engine/io/image_stream.h"

namespace echolux {

class SlabWriter : public ImageWriter {
  public:
    void write(std::span<const std::byte> slices) final;

  protected:
    // Keeps at most `slices_a_slab` slices in memory. Throws Error{out_of_memory} naming `where` when there is no room.
    SlabWriter(const ImageHeader& header, std::int64_t slices_a_slab, const std::string& where);

    // A slab of a time point; the last one of each may be thinner.
    virtual void put_slab(std::int64_t time_point, Interval slices, std::span<const std::byte> voxels) = 0;

    const ImageHeader header_;

  private:
    std::int64_t thickness_;
    std::int64_t next_ = 0;  // slice, counted through all time points
    std::vector<std::byte> waiting_;
};

}  // namespace echolux
