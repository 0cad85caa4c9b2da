// Simulated scans and their ground truth.
#include <nanobind/ndarray.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/vector.h>

#include "python/src/arrays.h"
#include "python/src/bindings.h"
#include "python/src/scan.h"

namespace echolux::python {
namespace {

using Simulation = Shared<api::Simulation>;
api::Span<std::byte> bytes_of(const AnyArray& array) {
    return {static_cast<std::byte*>(array.data()), array.nbytes()};
}

// Returns the counts as a flat array that owns them; echolux/simulation.py gives it its shape.
nb::ndarray<nb::numpy, std::uint16_t, nb::ndim<1>> record(const Simulation& simulation, std::int64_t volume,
                                                          std::int64_t first, std::int64_t b_scans,
                                                          const nb::object& progress) {
    using Counts = std::vector<std::uint16_t>;
    auto made = std::make_unique<Counts>(watched(progress, [=](const api::Progress& report) {
        return simulation.locked([&](api::Simulation& one) {
            const std::int64_t bytes = one.scan().shape().b_scan_bytes * std::max<std::int64_t>(b_scans, 0);
            Counts counts(static_cast<std::size_t>(bytes) / sizeof(std::uint16_t));
            one.record(volume, first, b_scans, {reinterpret_cast<std::byte*>(counts.data()), 2 * counts.size()},
                       report);
            return counts;
        });
    }));
    const std::size_t count = made->size();
    std::uint16_t* const counts = made->data();
    const nb::capsule owner(made.release(), [](void* one) noexcept { delete static_cast<Counts*>(one); });
    return {counts, {count}, owner};
}

void write(const Simulation& simulation, nb::handle given, bool overwrite, const nb::object& progress) {
    const std::string path = path_of(given);
    watched(progress, [=](const api::Progress& report) {
        simulation.locked([&](api::Simulation& one) { one.write(path, overwrite, report); });
        return true;
    });
}

// Shape and type.
std::pair<Edges, std::string> described(const Simulation& simulation, const std::string& name) {
    const auto truth = watched(nb::none(), [simulation, name](const api::Progress&) {  // computed on first use
        return simulation.locked([&](api::Simulation& one) { return one.truth(name); });
    });
    const std::size_t edges = name == "en_face" ? 2 : name == "tubes" ? 4 : 3;
    std::vector<std::size_t> shape;
    for (std::size_t i = 0; i < edges; ++i) shape.push_back(static_cast<std::size_t>(truth.shape[i]));
    return {edges_of_python(shape), spelled(layout_of(truth.voxel).type)};
}

}  // namespace

void bind_simulation(nb::module_& module) {
    nb::class_<Simulation>(module, "Simulation", "A scene in front of a simulated instrument.")
        .def(
            "__init__",
            [](Simulation* self, const std::string& scene, const std::vector<std::string>& assignments) {
                new (self) Simulation(released([&] { return api::Simulation(scene, assignments); }));
            },
            nb::arg("scene"), nb::arg("assignments"))
        .def("scan",
             [](const Simulation& self) { return self.with([](api::Simulation& one) { return Scan(one.scan()); }); })
        .def("facts",
             [](const Simulation& self) { return self.with([](api::Simulation& one) { return one.facts(); }); })
        .def("record", &record, nb::arg("volume"), nb::arg("first"), nb::arg("b_scans"), nb::arg("progress").none())
        .def("write", &write, nb::arg("path"), nb::arg("overwrite"), nb::arg("progress").none())
        .def("describe_truth", &described, nb::arg("name"))
        .def(
            "truth",
            [](const Simulation& self, const std::string& name, nb::handle to) {
                const auto array = array_of<AnyArray>(to, "to");
                self.with([&](api::Simulation& one) { one.truth(name, bytes_of(array)); });
            },
            nb::arg("name"), nb::arg("to"));
}

}  // namespace echolux::python
