// Registered volumes.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/vector.h>

#include <memory>
#include <optional>

#include "python/src/arrays.h"
#include "python/src/bindings.h"
#include "python/src/scan.h"
#include "python/src/tissue.h"

namespace echolux::python {
namespace {

// Immutable.
class Registration {
  public:
    explicit Registration(api::Registration&& made)
        : held_(std::make_shared<const api::Registration>(std::move(made))) {}
    const api::Registration& get() const { return *held_; }

  private:
    std::shared_ptr<const api::Registration> held_;
};

Registration registered(const std::vector<Volume>& volumes, const std::optional<Volume>& reference,
                        std::int64_t reference_volume, const Tissue& tissue, const std::string& device,
                        const nb::object& progress) {
    const echolux_device on = device_of(device);
    return done_with(tissue, progress, [=](const api::Tissue& settings, const api::Progress& told) {
        const api::Volume* to = reference ? &reference->get() : nullptr;
        return Registration(api::Registration(handles_of(volumes), to, reference_volume, settings, on, told));
    });
}

// Copies to Python arrays [volume, b], by name.
void read(const Registration& registration, const Facts& arrays) {
    auto to = api::make<echolux_shifts>();
    to.count = static_cast<std::int64_t>(array_of<AnyArray>(arrays["z"], "z").size());
    to.z = data_of<double>(arrays, "z");
    to.x = data_of<double>(arrays, "x");
    to.y = data_of<double>(arrays, "y");
    to.quality = data_of<double>(arrays, "quality");
    to.reasons = data_of<std::uint8_t>(arrays, "reasons");
    to.saccades = data_of<std::uint8_t>(arrays, "saccades");
    registration.get().shifts(to);
}

}  // namespace

void bind_registration(nb::module_& module) {
    nb::class_<Registration>(module, "Registration", "Where the B-scans of volumes belong.")
        .def("read", &read, nb::arg("arrays"))
        .def("table", [](const Registration& made) { return released([&] { return made.get().table(); }); })
        .def("warnings", [](const Registration& made) { return made.get().warnings(); })
        .def("mean", [](const Registration& made) { return released([&] { return Volume(made.get().mean()); }); })
        .def(
            "volume",
            [](const Registration& made, std::int64_t number) {
                return released([&] { return Volume(made.get().volume(number)); });
            },
            nb::arg("number"));
    module.def("registered", &registered, nb::arg("volumes"), nb::arg("reference").none(), nb::arg("reference_volume"),
               nb::arg("tissue"), nb::arg("device"), nb::arg("progress").none());
    module.def("shift_reasons", [] { return names_of_codes(echolux_shift_reason); });
}

}  // namespace echolux::python
