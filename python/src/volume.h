// A volume of the library, shared by the Python objects that represent it, and its properties.
#pragma once

#include <memory>
#include <optional>
#include <utility>

#include "python/src/work.h"

namespace echolux::python {

// Properties of a volume's voxels: base of all Python objects that represent volumes.
struct Grid {
    echolux_grid facts;
};

// Immutable, so any number of threads may read it.
class Volume : public Grid {
  public:
    explicit Volume(api::Volume&& one) : Grid{one.grid()}, held_(std::make_shared<const api::Volume>(std::move(one))) {}
    const api::Volume& get() const { return *held_; }
    std::shared_ptr<const api::Volume> share() const { return held_; }

  private:
    std::shared_ptr<const api::Volume> held_;
};

// A structure volume and its flow, if any.
std::pair<Volume, std::optional<Volume>> pair_of(api::Volumes&& volumes);

// Binds the DLPack protocol: __dlpack__ and __dlpack_device__.
void bind_dlpack(nb::class_<Volume, Grid>& volume);

}  // namespace echolux::python
