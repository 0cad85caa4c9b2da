// Extension module echolux._core: a thin binding of the C++ interface. The user interface is built on it in
// python/echolux.
#include <nanobind/stl/vector.h>

#include "python/src/bindings.h"
#include "python/src/work.h"

namespace {

using namespace echolux::python;

// Returns the names of the usable GPUs.
std::vector<std::string> gpus() {
    return released([] {
        std::size_t count = 0;
        echolux::api::checked([&](auto* error) { return echolux_gpu_count(&count, nullptr, 0, error); });
        std::vector<std::string> names;
        for (std::size_t i = 0; i < count; ++i) {
            auto gpu = echolux::api::make<echolux_gpu>();
            echolux::api::checked([&](auto* error) { return echolux_gpu_describe(i, &gpu, error); });
            names.emplace_back(gpu.name);
        }
        return names;
    });
}

}  // namespace

NB_MODULE(_core, module) {
    nanobind::set_leak_warnings(false);  // a Python source that is still waiting at exit keeps its session alive
    module.doc() = "The library behind echolux; use the package echolux instead.";
    module.attr("version") = echolux_version();
    module.def(
        "has", [](const char* part) { return echolux_has(part) != 0; }, nanobind::arg("part"));
    module.def("gpus", &gpus);
    module.def("shut", &shut);
    module.def("is_fork", &is_fork);
    bind_errors(module);
    bind_settings(module);
    bind_grid(module);
    bind_volume(module);
    bind_series(module);
    bind_scan(module);
    bind_batch(module);
    bind_reconstructor(module);
    bind_pictures(module);
    bind_movie(module);
    bind_stages(module);
    bind_live(module);
    bind_simulation(module);
    bind_calibrate(module);
    bind_operations(module);
}
