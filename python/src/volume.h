// A volume of the library, shared by the Python objects that show it.
#pragma once

#include <memory>

#include "python/src/work.h"

namespace echolux::python {

// Never changes, so that any number of threads may look at it.
class Volume {
  public:
    explicit Volume(api::Volume&& one) : held_(std::make_shared<const api::Volume>(std::move(one))) {}
    const api::Volume& get() const { return *held_; }
    std::shared_ptr<const api::Volume> share() const { return held_; }

  private:
    std::shared_ptr<const api::Volume> held_;
};

// The voxels through DLPack: __dlpack__ and __dlpack_device__.
void bind_dlpack(nb::class_<Volume>& volume);

}  // namespace echolux::python
