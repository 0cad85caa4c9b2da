// Surfaces between layers.
#include <nanobind/stl/vector.h>

#include <memory>

#include "python/src/arrays.h"
#include "python/src/bindings.h"
#include "python/src/scan.h"
#include "python/src/tissue.h"

namespace echolux::python {
namespace {

// Immutable, so any number of threads may read it.
class Surfaces {
  public:
    explicit Surfaces(api::Surfaces&& found) : held_(std::make_shared<const api::Surfaces>(std::move(found))) {}
    const api::Surfaces& get() const { return *held_; }

  private:
    std::shared_ptr<const api::Surfaces> held_;
};

Surfaces segmented(const Volume& volume, const Tissue& tissue, const std::string& device, const nb::object& progress) {
    const echolux_device on = device_of(device);
    return done_with(tissue, progress, [volume, on](const api::Tissue& settings, const api::Progress& told) {
        return Surfaces(api::segment(volume.get(), settings, on, told));
    });
}

Surfaces opened(nb::handle given, const Volume& volume) {
    const std::string path = path_of(given);
    return watched(nb::none(),
                   [path, volume](const api::Progress&) { return Surfaces(api::Surfaces::open(path, volume.get())); });
}

Facts facts(const Surfaces& surfaces) {
    const echolux_surfaces_facts found = surfaces.get().facts();
    Facts all;
    all["shape"] = nb::make_tuple(found.count, found.b_scans, found.a_scans);
    all["moved"] = found.moved;
    all["ambiguous"] = found.ambiguous;
    all["weak"] = found.weak;
    all["missing"] = found.missing;
    all["unit"] = found.is_in_um != 0 ? "um" : "rows";
    all["was_on_gpu"] = found.was_on_gpu != 0;
    return all;
}

// Copies to Python arrays [surface, b, a], by name.
void read(const Surfaces& surfaces, const Facts& arrays) {
    auto to = api::make<echolux_surface_places>();
    to.count = static_cast<std::int64_t>(array_of<AnyArray>(arrays["depths"], "depths").size());
    to.depths = data_of<float>(arrays, "depths");
    to.rows = data_of<float>(arrays, "rows");
    to.quality = data_of<float>(arrays, "quality");
    to.reasons = data_of<std::uint8_t>(arrays, "reasons");
    surfaces.get().read(to);
}

Volume en_face(const Surfaces& surfaces, const Volume& volume, const std::string& upper, const std::string& lower,
               double below_upper_um, double below_lower_um, std::int32_t value) {
    auto slab = api::make<echolux_slab>();
    slab.upper = upper.empty() ? nullptr : upper.c_str();
    slab.lower = lower.empty() ? nullptr : lower.c_str();
    slab.below_upper_um = below_upper_um;
    slab.below_lower_um = below_lower_um;
    slab.value = value;
    return released([&] { return Volume(surfaces.get().en_face(volume.get(), slab)); });
}

}  // namespace

void bind_layers(nb::module_& module) {
    nb::class_<Surfaces>(module, "Surfaces", "Surfaces between layers of a volume.")
        .def_static("open", &opened, nb::arg("path"), nb::arg("volume"))
        .def("facts", &facts)
        .def("names", [](const Surfaces& surfaces) { return surfaces.get().names(); })
        .def("read", &read, nb::arg("arrays"))
        .def("warnings", [](const Surfaces& surfaces) { return surfaces.get().warnings(); })
        .def("table", [](const Surfaces& surfaces) { return released([&] { return surfaces.get().table(); }); })
        .def("volume",
             [](const Surfaces& surfaces) { return released([&] { return Volume(surfaces.get().volume()); }); })
        .def(
            "thickness",
            [](const Surfaces& surfaces, const std::string& upper, const std::string& lower) {
                return released([&] { return Volume(surfaces.get().thickness(upper, lower)); });
            },
            nb::arg("upper"), nb::arg("lower"))
        .def("en_face", &en_face, nb::arg("volume"), nb::arg("upper"), nb::arg("lower"), nb::arg("below_upper_um"),
             nb::arg("below_lower_um"), nb::arg("value"))
        .def(
            "flattened",
            [](const Surfaces& surfaces, const Volume& volume, const std::string& level, bool back) {
                return released([&] { return Volume(surfaces.get().flattened(volume.get(), level, back)); });
            },
            nb::arg("volume"), nb::arg("level"), nb::arg("back"));
    module.def("segmented", &segmented, nb::arg("volume"), nb::arg("tissue"), nb::arg("device"),
               nb::arg("progress").none());
    module.def("surface_reasons", [] { return names_of_codes(echolux_surface_reason); });
}

}  // namespace echolux::python
