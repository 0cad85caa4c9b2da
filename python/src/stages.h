// Python callables as stages of the pipeline.
#pragma once

#include "python/src/work.h"

namespace echolux::python {

// Stages of an echolux.stages.Stages object, which is kept alive as long as they may be called. None means no stages.
class PythonHooks {
  public:
    explicit PythonHooks(const nb::object& stages);
    ~PythonHooks();
    PythonHooks(const PythonHooks&) = delete;
    PythonHooks& operator=(const PythonHooks&) = delete;

    const echolux_stages& get() const { return stages_; }
    void taken() { is_taken_ = true; }  // the registering call succeeded: the library will release them

  private:
    echolux_stages stages_ = api::make<echolux_stages>();
    bool is_taken_ = false;
};

}  // namespace echolux::python
