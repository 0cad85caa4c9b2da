#include "python/src/volume.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cstring>

#include "python/src/arrays.h"
#include "python/src/bindings.h"

namespace echolux::python {
namespace {

template <std::size_t n>
nb::str text_in(const char (&field)[n]) {
    return text_of({field, std::find(field, field + n, '\0')});
}

template <std::size_t n>
void set_text(char (&field)[n], const std::string& text, const char* name) {
    if (text.size() >= n)
        refuse("is too long: " + std::to_string(text.size()) + " bytes in UTF-8", name,
               "give it at most " + std::to_string(n - 1));
    std::fill(field, field + n, '\0');
    text.copy(field, n - 1);
}

std::tuple<double, double, double> spacing(const echolux_grid& grid) {
    return {grid.spacing_um[2], grid.spacing_um[1], grid.spacing_um[0]};
}

Edges shape(const echolux_grid& grid) {
    return edges_of_python(shape_of(grid));
}

// Not to be written to: others may see the same voxels.
nb::ndarray<nb::numpy, nb::ro> numpy_of(const Volume& volume) {
    const echolux_grid grid = volume.get().grid();
    const std::vector<std::size_t> edges = shape_of(grid);
    auto keeper = std::make_unique<std::shared_ptr<const api::Volume>>(volume.share());
    const nb::capsule owner(keeper.get(),
                            [](void* one) noexcept { delete static_cast<std::shared_ptr<const api::Volume>*>(one); });
    keeper.release();
    return {volume.get().bytes().data(), edges.size(), edges.data(), owner, nullptr, layout_of(grid.voxel).type};
}

Volume made(const echolux_grid& grid, nb::handle array) {
    const auto voxels = array_of<InArray>(array, "voxels");
    const auto* bytes = static_cast<const std::byte*>(voxels.data());
    return released([&] { return Volume(api::Volume::create(grid, {bytes, voxels.nbytes()})); });
}

echolux_grid grid_of(std::int64_t b_scans, std::int64_t a_scans, std::int64_t depth, const std::string& voxel) {
    auto grid = api::make<echolux_grid>();
    grid.b_scans = b_scans;
    grid.a_scans = a_scans;
    grid.depth = depth;
    grid.voxel = voxel_of(voxel);
    grid.scale = 1;
    return grid;
}

void bind_grid(nb::module_& module) {
    nb::class_<echolux_grid>(module, "Grid", "What a volume is: value = code * scale + offset.")
        .def_static("of", &grid_of, nb::arg("b_scans"), nb::arg("a_scans"), nb::arg("depth"), nb::arg("voxel"))
        .def_prop_ro("shape", &shape)
        .def_prop_rw("spacing_um", &spacing,
                     [](echolux_grid& grid, const std::vector<double>& um) {
                         if (um.size() != 3) refuse("is not three numbers", "spacing_um");
                         for (std::size_t i = 0; i < 3; ++i) grid.spacing_um[2 - i] = um[i];
                     })
        .def_prop_ro("voxel", [](const echolux_grid& grid) { return name_of(grid.voxel); })
        .def_prop_ro("dtype", [](const echolux_grid& grid) { return spelled(layout_of(grid.voxel).type); })
        .def_ro("nbytes", &echolux_grid::bytes)
        .def_rw("first_depth_um", &echolux_grid::first_depth_um)
        .def_rw("scale", &echolux_grid::scale)
        .def_rw("offset", &echolux_grid::offset)
        .def_rw("v_max_mm_s", &echolux_grid::v_max_mm_s)
        .def_prop_rw(
            "quantity", [](const echolux_grid& grid) { return text_in(grid.quantity); },
            [](echolux_grid& grid, const std::string& text) { set_text(grid.quantity, text, "quantity"); })
        .def_prop_rw(
            "unit", [](const echolux_grid& grid) { return text_in(grid.unit); },
            [](echolux_grid& grid, const std::string& text) { set_text(grid.unit, text, "unit"); });
}

}  // namespace

std::pair<Volume, std::optional<Volume>> pair_of(api::Volumes&& volumes) {
    std::optional<Volume> flow;
    if (volumes.flow) flow.emplace(std::move(*volumes.flow));
    return {Volume(std::move(volumes.structure)), flow};
}

void bind_volume(nb::module_& module) {
    bind_grid(module);
    nb::class_<Volume> volume(module, "Volume", "Voxels in host memory, and what they mean; never changes.");
    volume.def(nb::init<const Volume&>(), nb::arg("other"))
        .def_static(
            "open",
            [](nb::handle given) {
                const std::string path = path_of(given);
                return watched(nb::none(), [path](const api::Progress&) { return Volume(api::Volume::open(path)); });
            },
            nb::arg("path"))
        .def_static("create", &made, nb::arg("grid"), nb::arg("voxels"))
        .def_prop_ro("_grid", [](const Volume& volume) { return volume.get().grid(); })
        .def("_numpy", &numpy_of)
        .def_prop_ro("_time_s", [](const Volume& volume) { return volume.get().time_s(); })
        .def_prop_ro("_number", [](const Volume& volume) { return volume.get().number(); })
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
        .def(
            "_write",
            [](const Volume& volume, nb::handle given) {
                const std::string path = path_of(given);
                released([&] { volume.get().write(path); });
            },
            nb::arg("path"));
    bind_dlpack(volume);
}

}  // namespace echolux::python
