#include "python/src/volume.h"

#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cstring>

#include "python/src/arrays.h"
#include "python/src/bindings.h"

namespace echolux::python {
namespace {

// Returns an array that shares the voxels and keeps them alive. Read-only, because other arrays and the library may use
// them too.
nb::ndarray<nb::numpy, nb::ro> numpy_of(const Volume& volume) {
    const std::vector<std::size_t> edges = shape_of(volume.facts);
    auto keeper = std::make_unique<std::shared_ptr<const api::Volume>>(volume.share());
    const nb::capsule owner(keeper.get(),
                            [](void* one) noexcept { delete static_cast<std::shared_ptr<const api::Volume>*>(one); });
    keeper.release();
    return {volume.get().bytes().data(),       edges.size(), edges.data(), owner, nullptr,
            layout_of(volume.facts.voxel).type};
}

Volume made(const Grid& grid, nb::handle array, double time_s, std::int64_t number, const std::string& provenance,
            const std::string& warnings) {
    const auto voxels = array_of<InArray>(array, "voxels");
    const auto* bytes = static_cast<const std::byte*>(voxels.data());
    auto facts = api::make<echolux_volume_facts>();
    facts.time_s = time_s;
    facts.number = number;
    facts.provenance = provenance.c_str();
    facts.warnings = warnings.c_str();
    return released([&] { return Volume(api::Volume::create(grid.facts, {bytes, voxels.nbytes()}, 0, 0, facts)); });
}

void write(const Volume& volume, nb::handle given, bool overwrite, const nb::object& progress) {
    const std::string path = path_of(given);
    watched(progress, [=](const api::Progress& report) {
        volume.get().write(path, overwrite, report);
        return true;
    });
}

}  // namespace

std::pair<Volume, std::optional<Volume>> pair_of(api::Volumes&& volumes) {
    std::optional<Volume> flow;
    if (volumes.flow) flow.emplace(std::move(*volumes.flow));
    return {Volume(std::move(volumes.structure)), flow};
}

void bind_volume(nb::module_& module) {
    nb::class_<Volume, Grid> volume(module, "Volume", "Voxels in host memory, and what they mean; never changes.");
    volume.def(nb::init<const Volume&>(), nb::arg("other"))
        .def_static(
            "open",
            [](nb::handle given) {
                const std::string path = path_of(given);
                return watched(nb::none(), [path](const api::Progress&) { return Volume(api::Volume::open(path)); });
            },
            nb::arg("path"))
        .def_static("create", &made, nb::arg("grid"), nb::arg("voxels"), nb::arg("time_s") = 0.0, nb::arg("number") = 0,
                    nb::arg("provenance") = "", nb::arg("warnings") = "")
        .def("_numpy", &numpy_of)
        .def_prop_ro(
            "time_s", [](const Volume& volume) { return volume.get().time_s(); },
            "Seconds since the start of the scan, the source or the series.")
        .def_prop_ro(
            "number", [](const Volume& volume) { return volume.get().number(); },
            "Which volume of its scan, source or series this is, from 0.")
        .def("_provenance", [](const Volume& volume) { return text_of(volume.get().provenance()); })
        .def("_warnings", [](const Volume& volume) { return text_of(volume.get().warnings()); })
        .def(
            "_converted",
            [](const Volume& volume, const std::string& voxel, double low, double high) {
                const std::int32_t type = voxel_of(voxel);
                return released([&] { return Volume(volume.get().converted(type, low, high)); });
            },
            nb::arg("voxel"), nb::arg("low"), nb::arg("high"))
        .def("_velocities",
             [](const Volume& volume) { return released([&] { return Volume(volume.get().velocities()); }); })
        .def("_write", &write, nb::arg("path"), nb::arg("overwrite"), nb::arg("progress").none());
    bind_dlpack(volume);
}

}  // namespace echolux::python
