// The extension module echolux._core: the C++ interface of the library, close to what it is. What users see is made of
// it in python/echolux.
#include "python/src/bindings.h"
#include "python/src/work.h"

NB_MODULE(_core, module) {
    using namespace echolux::python;
    module.doc() = "The library behind echolux; use the package echolux instead.";
    module.attr("version") = echolux_version();
    module.def(
        "has", [](const char* part) { return echolux_has(part) != 0; }, nanobind::arg("part"));
    module.def("wait_for_workers", &Worker::wait_for_all);
    bind_errors(module);
    bind_settings(module);
    bind_volume(module);
    bind_scan(module);
    bind_reconstructor(module);
    bind_pictures(module);
}
