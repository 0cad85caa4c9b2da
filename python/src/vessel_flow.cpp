// Flow through a vessel section.
#include <nanobind/stl/array.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/vector.h>

#include <array>
#include <memory>
#include <optional>

#include "python/src/arrays.h"
#include "python/src/bindings.h"
#include "python/src/tissue.h"

namespace echolux::python {
namespace {

using Position = std::array<double, 3>;  // A-scan, B-scan, row

// Immutable.
class VesselFlow {
  public:
    explicit VesselFlow(api::VesselFlow&& made) : held_(std::make_shared<const api::VesselFlow>(std::move(made))) {}
    const api::VesselFlow& get() const { return *held_; }

  private:
    std::shared_ptr<const api::VesselFlow> held_;
};

VesselFlow measured(const std::vector<Volume>& velocities, const std::vector<Volume>& structures,
                    const std::optional<Position>& through, const std::optional<Position>& towards, bool each_b_scan,
                    double step_s, const Tissue& tissue, const nb::object& progress) {
    return done_with(tissue, progress, [=](const api::Tissue& settings, const api::Progress& told) {
        auto spec = api::make<echolux_flow_spec>();
        spec.through = through ? through->data() : nullptr;
        spec.towards = towards ? towards->data() : nullptr;
        spec.each_b_scan = each_b_scan ? 1 : 0;
        spec.step_s = step_s;
        return VesselFlow(api::VesselFlow(handles_of(velocities), handles_of(structures), spec, settings, told));
    });
}

Facts facts(const VesselFlow& flow) {
    const echolux_flow_facts found = flow.get().facts();
    Facts all;
    all["values"] = found.values;
    all["flow_ul_s"] = found.flow_ul_s;
    all["error_ul_s"] = found.error_ul_s;
    all["en_face_ul_s"] = found.en_face_ul_s;
    all["place"] = nb::make_tuple(found.place[1], found.place[0], found.place[2]);
    all["direction"] = nb::make_tuple(found.direction[1], found.direction[0], found.direction[2]);
    all["angle_deg"] = found.angle_deg;
    all["angle_error"] = found.angle_error;
    all["snr_db"] = found.snr_db;
    all["heart_rate_hz"] = found.heart_hz;
    all["heart_rate_error_hz"] = found.heart_error_hz;
    all["pulsatility"] = found.pulsatility;
    return all;
}

// Copies to Python arrays with one element per value, by name.
void read(const VesselFlow& flow, const Facts& arrays) {
    auto to = api::make<echolux_flow_values>();
    to.count = static_cast<std::int64_t>(array_of<AnyArray>(arrays["volume"], "volume").size());
    to.volume = data_of<std::int64_t>(arrays, "volume");
    to.b_scan = data_of<std::int64_t>(arrays, "b_scan");
    to.time_s = data_of<double>(arrays, "time_s");
    to.flow_ul_s = data_of<double>(arrays, "flow_ul_s");
    to.error_ul_s = data_of<double>(arrays, "error_ul_s");
    to.mean_mm_s = data_of<double>(arrays, "mean_mm_s");
    to.area_mm2 = data_of<double>(arrays, "area_mm2");
    to.wrapped = data_of<double>(arrays, "wrapped");
    to.reasons = data_of<std::uint8_t>(arrays, "reasons");
    flow.get().read(to);
}

}  // namespace

void bind_vessel_flow(nb::module_& module) {
    nb::class_<VesselFlow>(module, "VesselFlow", "Flow through a section of a vessel over time.")
        .def("facts", &facts)
        .def("read", &read, nb::arg("arrays"))
        .def("table", [](const VesselFlow& flow) { return flow.get().table(); })
        .def("heart_problem", [](const VesselFlow& flow) { return flow.get().heart_problem(); })
        .def("warnings", [](const VesselFlow& flow) { return flow.get().warnings(); });
    module.def("measured_flow", &measured, nb::arg("velocities"), nb::arg("structures"), nb::arg("through").none(),
               nb::arg("towards").none(), nb::arg("each_b_scan"), nb::arg("step_s"), nb::arg("tissue"),
               nb::arg("progress").none());
    module.def("flow_reasons", [] { return names_of_codes(echolux_flow_reason); });
}

}  // namespace echolux::python
