#include "python/src/settings.h"

#include <nanobind/stl/vector.h>

#include "python/src/bindings.h"

namespace echolux::python {
namespace {

// A copy, because the library's texts are only valid as long as their scan.
struct Described {
    std::string key, unit, help, default_text;
    std::int32_t kind;
    double low, high;
    std::vector<std::string> choices;

    explicit Described(const echolux_setting& one)
        : key(one.key), unit(one.unit), help(one.help), default_text(one.default_text), kind(one.type), low(one.low),
          high(one.high), choices(one.choices, one.choices + one.choice_count) {}
};

std::string text(const Settings& settings, const std::string& key) {
    std::string value;
    settings.look([&](api::Settings& all) { value = all.text(key); });
    return value;
}

double number(const Settings& settings, const std::string& key) {
    double value = 0;
    settings.look([&](api::Settings& all) { value = all.number(key); });
    return value;
}

std::vector<Described> all(const Settings& settings) {
    std::vector<Described> found;
    settings.look([&](api::Settings& every) {
        for (const echolux_setting& one : every.all()) found.emplace_back(one);
    });
    return found;
}

std::string toml(const Settings& settings, bool with_defaults) {
    std::string written;
    settings.look([&](api::Settings& every) { written = every.toml(with_defaults); });
    return written;
}

}  // namespace

void bind_settings(nb::module_& module) {
    nb::class_<Described>(module, "Setting", "What a setting is.")
        .def_ro("key", &Described::key)
        .def_ro("unit", &Described::unit)
        .def_ro("help", &Described::help)
        .def_ro("default", &Described::default_text)
        .def_ro("kind", &Described::kind, "0 flag, 1 integer, 2 number, 3 text, 4 numbers")
        .def_ro("low", &Described::low)
        .def_ro("high", &Described::high)
        .def_ro("choices", &Described::choices);
    nb::class_<Settings>(module, "Settings", "Settings of a scan or a view by their keys.")
        .def("all", &all)
        .def("text", &text, nb::arg("key"))
        .def("number", &number, nb::arg("key"))
        .def(
            "set_text",
            [](const Settings& settings, const std::string& key, const std::string& value) {
                settings.change([&](api::Settings& every) { every.set(key, value); });
            },
            nb::arg("key"), nb::arg("value"))
        .def(
            "set_number",
            [](const Settings& settings, const std::string& key, double value) {
                settings.change([&](api::Settings& every) { every.set(key, value); });
            },
            nb::arg("key"), nb::arg("value"))
        .def("toml", &toml, nb::arg("with_defaults") = false);
}

}  // namespace echolux::python
