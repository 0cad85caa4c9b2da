// Properties of voxels, declared once for volumes in memory and in files, series, and reconstructors.
#include <nanobind/stl/tuple.h>

#include <algorithm>
#include <array>
#include <tuple>

#include "python/src/arrays.h"
#include "python/src/bindings.h"
#include "python/src/volume.h"

namespace echolux::python {
namespace {

// Along b, a, depth, the order of NumPy's dimensions. The C interface has the reverse order.
using Steps = std::tuple<double, double, double>;

template <std::size_t n>
nb::str text_in(const char (&field)[n]) {
    return text_of({field, std::find(field, field + n, '\0')});
}

template <std::size_t n>
void set_text(char (&field)[n], const std::string& text, const char* name) {
    if (text.size() >= n)
        refuse("is too long: " + std::to_string(text.size()) + " bytes in UTF-8", name,
               "give it at most " + std::to_string(n - 1));
    text.copy(field, n - 1);
}

Grid made(const std::array<std::int64_t, 3>& edges, const std::string& voxel, const Steps& spacing_um,
          const std::string& unit, const std::string& quantity, double scale, double offset, double first_depth_um,
          double v_max_mm_s) {
    Grid grid{api::make<echolux_grid>()};
    echolux_grid& facts = grid.facts;
    facts.b_scans = edges[0];
    facts.a_scans = edges[1];
    facts.depth = edges[2];
    facts.voxel = voxel_of(voxel);
    std::tie(facts.spacing_um[2], facts.spacing_um[1], facts.spacing_um[0]) = spacing_um;
    set_text(facts.unit, unit, "unit");
    set_text(facts.quantity, quantity, "quantity");
    facts.scale = scale;
    facts.offset = offset;
    facts.first_depth_um = first_depth_um;
    facts.v_max_mm_s = v_max_mm_s;
    return grid;
}

std::size_t codes_of(const Grid& grid) {
    std::size_t codes = 1;
    for (const std::size_t edge : shape_of(grid.facts)) codes *= edge;
    return codes;
}

nb::object dtype(const Grid& grid) {
    return nb::module_::import_("numpy").attr("dtype")(spelled(layout_of(grid.facts.voxel).type));
}

}  // namespace

void bind_grid(nb::module_& module) {
    nb::class_<Grid>(module, "Grid", "What the voxels [b, a, depth] of a volume are: value = code * scale + offset.")
        .def(nb::init<const Grid&>(), nb::arg("other"))
        .def_static(
            "of",
            [](std::int64_t b, std::int64_t a, std::int64_t depth, const std::string& voxel, const Steps& spacing_um,
               const std::string& unit, const std::string& quantity, double scale, double offset, double first_depth_um,
               double v_max_mm_s) {
                return made({b, a, depth}, voxel, spacing_um, unit, quantity, scale, offset, first_depth_um,
                            v_max_mm_s);
            },
            nb::arg("b"), nb::arg("a"), nb::arg("depth"), nb::arg("voxel"), nb::arg("spacing_um"), nb::arg("unit") = "",
            nb::arg("quantity") = "", nb::arg("scale") = 1.0, nb::arg("offset") = 0.0, nb::arg("first_depth_um") = 0.0,
            nb::arg("v_max_mm_s") = 0.0)
        .def_prop_ro(
            "shape", [](const Grid& grid) { return edges_of_python(shape_of(grid.facts)); },
            "(b, a, depth); (b, a, depth, 2) where a voxel is a pair, as in flow that is stored as phasors.")
        .def_prop_ro("dtype", &dtype, nb::for_getter(nb::sig("def dtype(self, /) -> numpy.dtype[typing.Any]")),
                     "Type of the codes.")
        .def_prop_ro(
            "voxel", [](const Grid& grid) { return name_of(grid.facts.voxel); },
            "Type of a voxel as settings spell it: \"u8\", \"u16\", \"i16\", \"f16\", \"f32\", \"complex64\" or "
            "\"phasor8\".")
        .def_prop_ro(
            "ndim", [](const Grid& grid) { return shape_of(grid.facts).size(); }, "Number of dimensions of the codes.")
        .def_prop_ro("size", &codes_of, "Number of the codes.")
        .def_prop_ro(
            "nbytes", [](const Grid& grid) { return codes_of(grid) * (layout_of(grid.facts.voxel).type.bits / 8); },
            "Bytes of all codes.")
        .def_prop_ro(
            "spacing_um",
            [](const Grid& grid) {
                return Steps{grid.facts.spacing_um[2], grid.facts.spacing_um[1], grid.facts.spacing_um[0]};
            },
            "Distance of voxels in um along (b, a, depth), 0 where it is unknown.")
        .def_prop_ro(
            "first_depth_um", [](const Grid& grid) { return grid.facts.first_depth_um; },
            "Depth of the first row of voxels in um, from zero delay.")
        .def_prop_ro(
            "unit", [](const Grid& grid) { return text_in(grid.facts.unit); },
            "Of the values; empty where it is unknown.")
        .def_prop_ro(
            "quantity", [](const Grid& grid) { return text_in(grid.facts.quantity); },
            "What the values are: \"db\", \"intensity\", \"doppler\" ...; empty where it is unknown.")
        .def_prop_ro(
            "scale", [](const Grid& grid) { return grid.facts.scale; }, "value = code * scale + offset.")
        .def_prop_ro(
            "offset", [](const Grid& grid) { return grid.facts.offset; }, "value = code * scale + offset.")
        .def_prop_ro(
            "v_max_mm_s", [](const Grid& grid) { return grid.facts.v_max_mm_s; },
            "Of phasors: the axial velocity in mm/s at a phase of pi, 0 where it is unknown.");
}

}  // namespace echolux::python
