#include "python/src/scan.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/vector.h>

#include <charconv>
#include <cstring>
#include <optional>
#include <utility>

#include "python/src/arrays.h"
#include "python/src/bindings.h"
#include "python/src/settings.h"
#include "python/src/volume.h"

namespace echolux::python {
namespace {

using Assignments = std::vector<std::string>;

Scan opened(nb::handle given, const Assignments& assignments) {
    const std::string path = path_of(given);
    return released([&] { return Scan(api::Scan::open(path, assignments)); });
}

Scan created(std::int64_t samples, std::int64_t a_scans, std::int64_t b_scans, const std::string& sample_format,
             const Assignments& assignments) {
    return released([&] { return Scan(api::Scan::create(samples, a_scans, b_scans, sample_format, assignments)); });
}

std::vector<double> calibration(const Scan& scan, const std::string& name) {
    return scan.looked([&](api::Scan& one) { return one.calibration(name); });
}

void set_calibration(const Scan& scan, const std::string& name, const std::vector<double>& values) {
    scan.changed([&](api::Scan& one) { one.set_calibration(name, values); });
}

// Reads raw spectra as stored into an array of as many bytes.
void read(const Scan& scan, std::int64_t volume, std::int64_t first, std::int64_t b_scans, nb::handle to) {
    const auto array = array_of<AnyArray>(to, "to");
    const api::Span<std::byte> bytes(static_cast<std::byte*>(array.data()), array.nbytes());
    scan.with([&](api::Scan& one) { one.read(volume, first, b_scans, bytes); });
}

std::pair<Volume, std::optional<Volume>> reconstruct(const Scan& scan, const std::string& device, std::int64_t volume,
                                                     std::int64_t begin, std::int64_t end, const nb::object& progress) {
    const echolux_device on = device_of(device);
    const echolux_part part = part_of(volume, begin, end);
    return pair_of(watched(progress, [scan, on, part](const api::Progress& watch) {
        return scan.locked([&](api::Scan& one) { return api::reconstruct(one, on, part, watch); });
    }));
}

void bind_shape(nb::module_& module) {
    nb::class_<echolux_scan_shape>(module, "ScanShape", "How the spectra of a scan are arranged.")
        .def_ro("samples", &echolux_scan_shape::samples)
        .def_ro("a_scans", &echolux_scan_shape::a_scans)
        .def_ro("b_scans", &echolux_scan_shape::b_scans)
        .def_ro("volumes", &echolux_scan_shape::volumes)
        .def_ro("a_repeats", &echolux_scan_shape::a_repeats)
        .def_ro("b_repeats", &echolux_scan_shape::b_repeats)
        .def_ro("line_bytes", &echolux_scan_shape::line_bytes)
        .def_ro("b_scan_bytes", &echolux_scan_shape::b_scan_bytes)
        .def_prop_ro("has_spectra", [](const echolux_scan_shape& shape) { return shape.has_spectra != 0; })
        .def_prop_ro("was_recorded", [](const echolux_scan_shape& shape) { return shape.was_recorded != 0; });
}

}  // namespace

echolux_device device_of(const std::string& name) {
    auto device = api::make<echolux_device>();
    const std::string kind = name.substr(0, name.find(':'));
    if (kind == "cuda") {
        device.kind = ECHOLUX_DEVICE_CUDA;
    } else if (kind == "cpu") {
        device.kind = ECHOLUX_DEVICE_CPU;
    } else if (kind != "auto") {
        refuse("there is no device \"" + name + "\"", "device", "auto, cpu, cuda, or one of several GPUs: cuda:1");
    }
    if (kind == name) return device;
    std::size_t index = 0;
    const char* const end = name.data() + name.size();
    const auto read = std::from_chars(name.data() + kind.size() + 1, end, index);
    if (kind != "cuda" || read.ec != std::errc() || read.ptr != end)
        refuse("there is no device \"" + name + "\"", "device", "number a GPU like cuda:1");
    // The interface names a GPU by its UUID.
    auto gpu = api::make<echolux_gpu>();
    api::checked([&](auto* error) { return echolux_gpu_describe(index, &gpu, error); });
    std::memcpy(device.gpu_id, gpu.id, sizeof gpu.id);
    return device;
}

echolux_part part_of(std::int64_t volume, std::int64_t begin, std::int64_t end) {
    auto part = api::make<echolux_part>();
    part.volume = volume;
    part.b_scan_begin = begin;
    part.b_scan_end = end;
    return part;
}

void bind_scan(nb::module_& module) {
    bind_shape(module);
    nb::class_<Scan>(module, "Scan", "How spectra were recorded, and how to process them.")
        .def_static("open", &opened, nb::arg("path"), nb::arg("assignments"))
        .def_static("create", &created, nb::arg("samples"), nb::arg("a_scans"), nb::arg("b_scans"),
                    nb::arg("sample_format"), nb::arg("assignments"))
        .def("settings", [](const Scan& scan) { return Settings::of(scan); })
        .def("shape", [](const Scan& scan) { return scan.looked([](api::Scan& one) { return one.shape(); }); })
        .def("calibration", &calibration, nb::arg("name"))
        .def("set_calibration", &set_calibration, nb::arg("name"), nb::arg("values"))
        .def("read", &read, nb::arg("volume"), nb::arg("first"), nb::arg("b_scans"), nb::arg("to"))
        .def("reconstruct", &reconstruct, nb::arg("device"), nb::arg("volume"), nb::arg("begin"), nb::arg("end"),
             nb::arg("progress").none());
}

}  // namespace echolux::python
