#include "tests/oracle/vectors.h"
#include "compute/indexing.h"
#include "compute/plan/describe.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <stdexcept>

namespace echolux {
namespace {

// The build's folder of vectors, or the one named by ECHOLUX_VECTORS on another machine.
std::filesystem::path folder() {
    const char* carried = std::getenv("ECHOLUX_VECTORS");
    return carried != nullptr && *carried != '\0' ? carried : ECHOLUX_VECTORS;
}

// Empty if the file does not exist.
template <class T>
std::vector<T> values_in(const std::filesystem::path& path) {
    std::ifstream file(path, std::ios::binary | std::ios::ate);
    if (!file) return {};
    std::vector<T> values(index(file.tellg()) / sizeof(T));
    file.seekg(0);
    file.read(reinterpret_cast<char*>(values.data()), static_cast<std::streamsize>(values.size() * sizeof(T)));
    return values;
}

template <class S>
void assign(S& object, const std::string& name, const std::string& text) {
    for (const Field<S>& field : describe<S>()) {
        if (field.name == name) return field.set(object, parsed(field, field.get(object), text, name));
    }
    throw std::runtime_error("no setting " + name);
}

void assign(ReconstructionSpec& spec, const std::string& section, const std::string& name, const std::string& text) {
    if (section == "format") return assign(spec.format, name, text);
    if (section == "geometry") return assign(spec.geometry, name, text);
    if (section == "recipe") return assign(spec.recipe, name, text);
    if (section == "nufft") return assign(spec.nufft, name, text);
    if (section == "defr") return assign(spec.defr, name, text);
    if (section == "compressive") return assign(spec.compressive, name, text);
    if (section == "flow") return assign(spec.flow, name, text);
    if (section == "calibration") return assign(spec.calibration, name, text);
    throw std::runtime_error("no section " + section);
}

void read_calibration(Calibration& calibration, const std::filesystem::path& path) {
    const std::map<std::string, std::vector<double> Calibration::*> vectors{
        {"background", &Calibration::background},         {"dark", &Calibration::dark},
        {"k_positions", &Calibration::k_positions},       {"wavelengths_nm", &Calibration::wavelengths_nm},
        {"dispersion_rad", &Calibration::dispersion_rad}, {"noise_floor", &Calibration::noise_floor},
        {"fast_axis", &Calibration::fast_axis},           {"mask", &Calibration::mask},
    };
    for (const auto& [name, member] : vectors) calibration.*member = values_in<double>(path / (name + ".f64"));
}

std::vector<std::string> names_in(const std::filesystem::path& list) {
    std::ifstream file(list);
    return {std::istream_iterator<std::string>(file), {}};
}

// Reads the plan; `expected` receives the lines of the section of that name.
ReconstructionSpec read_spec(const std::filesystem::path& path, std::map<std::string, double>& expected) {
    ReconstructionSpec spec;
    std::ifstream settings(path / "settings.txt");
    for (std::string line; std::getline(settings, line);) {
        const std::size_t dot = line.find('.'), space = line.find(' ');
        const std::string section = line.substr(0, dot), name = line.substr(dot + 1, space - dot - 1);
        if (section == "expected") {
            expected[name] = std::stod(line.substr(space + 1));
        } else {
            assign(spec, section, name, line.substr(space + 1));
        }
    }
    read_calibration(spec.calibration, path);
    return spec;
}

}  // namespace

std::vector<std::string> vector_case_names() {
    return names_in(folder() / "cases.txt");
}

std::vector<std::string> search_case_names() {
    return names_in(folder() / "searches.txt");
}

VectorCase read_vector_case(const std::string& name) {
    const std::filesystem::path path = folder() / name;
    VectorCase one;
    std::map<std::string, double> expected;
    one.spec = read_spec(path, expected);
    one.noise_floor_db = expected.at("noise_floor_db");
    one.spectra = values_in<std::byte>(path / "spectra.raw");
    one.field = values_in<std::complex<double>>(path / "expected_field.f64");
    one.power = values_in<double>(path / "expected_power.f64");
    return one;
}

std::vector<std::string> flow_vector_names() {
    return names_in(folder() / "flow" / "cases.txt");
}

FlowVectorCase read_flow_vector(const std::string& name) {
    const std::filesystem::path path = folder() / "flow" / name;
    FlowVectorCase one;
    std::map<std::string, double> expected;
    one.spec = read_spec(path, expected);
    one.spectra = values_in<std::byte>(path / "spectra.raw");
    one.power = values_in<double>(path / "expected_power.f64");
    one.margin = values_in<double>(path / "expected_margin.f64");
    one.phasors = values_in<std::complex<double>>(path / "expected_phasors.f64");
    one.values = values_in<double>(path / "expected_values.f64");
    return one;
}

}  // namespace echolux
