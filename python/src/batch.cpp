// Many scans, or many parts of them, with one plan. Calls lock the batch first and then the scan.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>

#include <optional>
#include <string>
#include <utility>

#include "python/src/bindings.h"
#include "python/src/scan.h"
#include "python/src/volume.h"

namespace echolux::python {
namespace {

using Batch = Shared<api::Batch>;

std::pair<Volume, std::optional<Volume>> reconstruct(const Batch& batch, const Scan& scan, std::int64_t volume,
                                                     std::int64_t begin, std::int64_t end, const nb::object& progress) {
    const echolux_part part = part_of(volume, begin, end);
    return pair_of(watched(progress, [batch, scan, part](const api::Progress& watch) {
        return batch.locked([&](api::Batch& many) {
            return scan.locked([&](api::Scan& one) { return many.reconstruct(one, part, watch); });
        });
    }));
}

}  // namespace

void bind_batch(nb::module_& module) {
    nb::class_<Batch>(module, "Batch", "Many scans, or parts of them, by one plan.")
        .def(
            "__init__",
            [](Batch* self, const std::string& device) {
                const echolux_device on = device_of(device);
                new (self) Batch(released([&] { return api::Batch(on); }));
            },
            nb::arg("device"))
        .def("reconstruct", &reconstruct, nb::arg("scan"), nb::arg("volume"), nb::arg("begin"), nb::arg("end"),
             nb::arg("progress").none())
        .def_prop_ro("plans",
                     [](const Batch& batch) { return batch.with([](api::Batch& many) { return many.plans(); }); });
}

}  // namespace echolux::python
