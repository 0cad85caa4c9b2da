// A volume of the library, shared by the Python objects that show it, and what it is.
#pragma once

#include <memory>
#include <optional>
#include <utility>

#include "python/src/work.h"

namespace echolux::python {

// What the voxels of a volume are: every object of Python that stands for one has this as its base.
struct Grid {
    echolux_grid facts;
};

// Never changes, so that any number of threads may look at it.
class Volume : public Grid {
  public:
    explicit Volume(api::Volume&& one) : Grid{one.grid()}, held_(std::make_shared<const api::Volume>(std::move(one))) {}
    const api::Volume& get() const { return *held_; }
    std::shared_ptr<const api::Volume> share() const { return held_; }

  private:
    std::shared_ptr<const api::Volume> held_;
};

// A structure, and its flow where there is one.
std::pair<Volume, std::optional<Volume>> pair_of(api::Volumes&& volumes);

// The voxels through DLPack: __dlpack__ and __dlpack_device__.
void bind_dlpack(nb::class_<Volume, Grid>& volume);

}  // namespace echolux::python
