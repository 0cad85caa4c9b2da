// Python callables as stages of the pipeline.
#pragma once

#include "python/src/work.h"

namespace echolux::python {

// Those of an object of echolux.stages.Stages, which is kept as long as they may be called; of None there are none.
class StagesOf {
  public:
    explicit StagesOf(const nb::object& stages);
    ~StagesOf();
    StagesOf(const StagesOf&) = delete;
    StagesOf& operator=(const StagesOf&) = delete;

    const echolux_stages& get() const { return stages_; }
    void taken() { is_taken_ = true; }  // by a call that succeeded: the library lets go of them

  private:
    echolux_stages stages_ = api::make<echolux_stages>();
    bool is_taken_ = false;
};

}  // namespace echolux::python
