// Operations, used by name; python/echolux/operation.py uses them by their descriptions.
#include "echolux/operations.hpp"

#include <nanobind/stl/pair.h>
#include <nanobind/stl/vector.h>

#include <array>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "python/src/arrays.h"
#include "python/src/bindings.h"
#include "python/src/scan.h"
#include "python/src/volume.h"

namespace echolux::python {
namespace {

using Operation = Shared<api::Operation>;

// Returns an array of results as a read-only view that keeps its operation alive, and the meanings of its codes.
std::pair<nb::ndarray<nb::numpy, nb::ro>, std::vector<std::string>> array(const Operation& operation,
                                                                          const std::string& result) {
    const std::array types{nb::dtype<float>(), nb::dtype<double>(), nb::dtype<std::int64_t>(),
                           nb::dtype<std::uint8_t>()};  // ECHOLUX_ARRAY_F32 ...
    const echolux_array found = operation.with([&](api::Operation& one) { return one.array(result); });
    const std::vector<std::size_t> edges(found.shape, found.shape + found.dims);
    auto keeper = std::make_unique<Operation>(operation);
    const nb::capsule owner(keeper.get(), [](void* one) noexcept { delete static_cast<Operation*>(one); });
    keeper.release();
    return {{found.data, edges.size(), edges.data(), owner, nullptr, types.at(static_cast<std::size_t>(found.type))},
            {found.words, found.words + found.word_count}};
}

nb::bytes bytes(const Operation& operation, const std::string& output) {
    const auto all = operation.with([&](api::Operation& one) { return one.bytes(output); });
    return nb::bytes(all.data(), all.size());
}

void run(const Operation& operation, const std::string& device, bool overwrites, const nb::object& progress) {
    const echolux_device on = device_of(device);
    watched(progress, [operation, on, overwrites](const api::Progress& report) {
        operation.locked([&](api::Operation& one) { one.run(report, on, overwrites); });
        return true;
    });
}

}  // namespace

void bind_operations(nb::module_& module) {
    nb::class_<Operation>(module, "Operation", "One run of an operation.")
        .def(
            "__init__",
            [](Operation* self, const std::string& name) {
                new (self) Operation(released([&] { return api::Operation(name); }));
            },
            nb::arg("name"))
        .def(
            "set",
            [](const Operation& operation, const std::string& key, const std::string& text) {
                operation.with([&](api::Operation& one) { one.set(key, text); });
            },
            nb::arg("key"), nb::arg("text"))
        .def(
            "add_input",
            [](const Operation& operation, const std::string& name, const Volume& volume) {
                operation.with([&](api::Operation& one) { one.add_input(name, volume.get()); });
            },
            nb::arg("name"), nb::arg("volume"))
        .def(
            "keep",
            [](const Operation& operation, const std::string& output) {
                operation.with([&](api::Operation& one) { one.keep(output); });
            },
            nb::arg("output"))
        .def("run", &run, nb::arg("device"), nb::arg("overwrites"), nb::arg("progress").none())
        .def("array", &array, nb::arg("result"))
        .def(
            "volume",
            [](const Operation& operation, const std::string& output) {
                return Volume(operation.with([&](api::Operation& one) { return one.volume(output); }));
            },
            nb::arg("output"))
        .def("bytes", &bytes, nb::arg("output"))
        .def("json",
             [](const Operation& operation) { return operation.with([](api::Operation& one) { return one.json(); }); });
    module.def("operations_json", [] { return released([] { return api::operations_json(); }); });
}

}  // namespace echolux::python
