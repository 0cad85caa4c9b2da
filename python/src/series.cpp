// Volumes in files, read in parts.

#include "python/src/arrays.h"
#include "python/src/bindings.h"
#include "python/src/volume.h"

namespace echolux::python {
namespace {

using Series = Shared<api::Series>;

struct Part {
    std::int64_t begin, end;
};

void read(const Series& series, std::int64_t time_point, std::int64_t level, const std::array<Part, 3>& parts,
          nb::handle to) {
    auto region = api::make<echolux_region>();
    region.level = level;
    region.b_scan_begin = parts[0].begin;
    region.b_scan_end = parts[0].end;
    region.a_scan_begin = parts[1].begin;
    region.a_scan_end = parts[1].end;
    region.depth_begin = parts[2].begin;
    region.depth_end = parts[2].end;
    const auto array = array_of<AnyArray>(to, "to");
    const api::Span<std::byte> bytes(static_cast<std::byte*>(array.data()), array.nbytes());
    series.with([&](api::Series& one) { one.read(time_point, region, bytes); });
}

}  // namespace

void bind_series(nb::module_& module) {
    nb::class_<Series>(module, "Series", "Volumes in files, one for each time point.")
        .def_static(
            "open",
            [](nb::handle given) {
                const std::string path = path_of(given);
                return watched(nb::none(), [path](const api::Progress&) { return Series(api::Series::open(path)); });
            },
            nb::arg("path"))
        .def("count", [](const Series& series) { return series.with([](api::Series& one) { return one.size(); }); })
        .def("step_s", [](const Series& series) { return series.with([](api::Series& one) { return one.step_s(); }); })
        .def(
            "grid",
            [](const Series& series, std::int64_t time_point, std::int64_t level) {
                return series.with([&](api::Series& one) { return Grid{one.grid(time_point, level)}; });
            },
            nb::arg("time_point"), nb::arg("level") = 0)
        .def(
            "levels",
            [](const Series& series, std::int64_t time_point) {
                return series.with([&](api::Series& one) { return one.levels(time_point); });
            },
            nb::arg("time_point"))
        .def(
            "time_s",
            [](const Series& series, std::int64_t time_point) {
                return series.with([&](api::Series& one) { return one.time_s(time_point); });
            },
            nb::arg("time_point"))
        .def(
            "provenance",
            [](const Series& series, std::int64_t time_point) {
                return text_of(series.with([&](api::Series& one) { return one.provenance(time_point); }));
            },
            nb::arg("time_point"))
        .def(
            "volume",
            [](const Series& series, std::int64_t time_point) {
                return watched(nb::none(), [series, time_point](const api::Progress&) {
                    return series.locked([&](api::Series& one) { return Volume(one.read(time_point)); });
                });
            },
            nb::arg("time_point"))
        .def(
            "read",
            [](const Series& series, std::int64_t time_point, std::int64_t level, std::int64_t b0, std::int64_t b1,
               std::int64_t a0, std::int64_t a1, std::int64_t z0, std::int64_t z1, nb::handle to) {
                read(series, time_point, level, {Part{b0, b1}, Part{a0, a1}, Part{z0, z1}}, to);
            },
            nb::arg("time_point"), nb::arg("level"), nb::arg("b0"), nb::arg("b1"), nb::arg("a0"), nb::arg("a1"),
            nb::arg("z0"), nb::arg("z1"), nb::arg("to"));
}

}  // namespace echolux::python
