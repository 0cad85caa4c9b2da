// One function per concept that the module binds.
#pragma once

#include <nanobind/nanobind.h>

namespace echolux::python {

void bind_errors(nanobind::module_& module);
void bind_settings(nanobind::module_& module);
void bind_grid(nanobind::module_& module);
void bind_volume(nanobind::module_& module);
void bind_series(nanobind::module_& module);
void bind_scan(nanobind::module_& module);
void bind_batch(nanobind::module_& module);
void bind_reconstructor(nanobind::module_& module);
void bind_pictures(nanobind::module_& module);
void bind_movie(nanobind::module_& module);
void bind_stages(nanobind::module_& module);
void bind_live(nanobind::module_& module);
void bind_simulation(nanobind::module_& module);
void bind_calibrate(nanobind::module_& module);
void bind_operations(nanobind::module_& module);

}  // namespace echolux::python
