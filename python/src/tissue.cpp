// Speckle filters, averaging of several looks, attenuation, and settings of the tissue analyses.
#include "python/src/tissue.h"

#include <nanobind/stl/pair.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <tuple>
#include <utility>

#include "python/src/bindings.h"
#include "python/src/scan.h"
#include "python/src/settings.h"

namespace echolux::python {
namespace {

Volume filtered(const Volume& volume, const Tissue& tissue, const std::string& device, const nb::object& progress) {
    const echolux_device on = device_of(device);
    return done_with(tissue, progress, [volume, on](const api::Tissue& settings, const api::Progress& told) {
        return Volume(api::filter(volume.get(), settings, on, told));
    });
}

// The mean, and the equivalent number of independent looks.
std::pair<Volume, double> averaged(const std::vector<Volume>& volumes, const Tissue& tissue) {
    return done_with(tissue, nb::none(), [volumes](const api::Tissue& settings, const api::Progress&) {
        api::Average made = api::average(handles_of(volumes), settings);
        return std::pair(Volume(std::move(made.mean)), made.independent);
    });
}

// The coefficients; known, no_tail, noise floor in dB.
std::pair<Volume, std::tuple<double, double, double>> attenuation(const Volume& volume, const Tissue& tissue,
                                                                  const nb::object& progress) {
    return done_with(tissue, progress, [volume](const api::Tissue& settings, const api::Progress& told) {
        api::Attenuation made = api::attenuation(volume.get(), settings, told);
        return std::pair(Volume(std::move(made.coefficients)),
                         std::tuple(made.stats.known, made.stats.no_tail, made.stats.noise_floor_db));
    });
}

}  // namespace

void bind_tissue(nb::module_& module) {
    nb::class_<Tissue>(module, "Tissue", "Settings of what is done with tissue.")
        .def(
            "__init__",
            [](Tissue* self, const std::vector<std::string>& assignments, const std::string& layers) {
                new (self) Tissue(released([&] { return api::Tissue(assignments, layers); }));
            },
            nb::arg("assignments"), nb::arg("layers") = "")
        .def("settings", [](const Tissue& tissue) { return Settings::of(tissue); });
    module.def("filtered", &filtered, nb::arg("volume"), nb::arg("tissue"), nb::arg("device"),
               nb::arg("progress").none());
    module.def("averaged", &averaged, nb::arg("volumes"), nb::arg("tissue"));
    module.def("attenuation", &attenuation, nb::arg("volume"), nb::arg("tissue"), nb::arg("progress").none());
}

}  // namespace echolux::python
