// Sets described fields of parameter structs from text, as in "resample=nufft upsample=2 flow.method=omag", without the
// checks of files and of the command line: tests also make impossible plans.
#pragma once

#include <concepts>
#include <sstream>
#include <stdexcept>
#include <string>

#include "compute/plan/describe.h"
#include "compute/plan/params.h"

namespace echolux {

// A value of the type of `like`. Lists have commas and no spaces.
inline Value value_in_text(const Value& like, const std::string& text) {
    if (std::holds_alternative<bool>(like)) return text == "true";
    if (std::holds_alternative<std::int64_t>(like)) return static_cast<std::int64_t>(std::stoll(text));
    if (std::holds_alternative<double>(like)) return std::stod(text);
    if (std::holds_alternative<std::string>(like)) return text;
    std::vector<double> numbers;
    std::istringstream words(text);
    for (std::string word; std::getline(words, word, ',');) numbers.push_back(std::stod(word));
    return numbers;
}

template <class S>
bool set_field(S& object, const std::string& name, const std::string& text) {
    for (const Field<S>& field : describe<S>()) {
        if (field.name != name) continue;
        const Value value = value_in_text(field.get(object), text);
        field.set(object, value);
        return text == "nan" || field.get(object) == value;  // false for an unknown word
    }
    return false;
}

// Calls set(section, name, value) for each assignment; the section is empty if none is named.
template <class Set>
void each_assignment(const std::string& assignments, const Set& set) {
    std::istringstream words(assignments);
    for (std::string word; words >> word;) {
        const std::size_t equals = word.find('='), dot = std::min(word.rfind('.', equals), equals);
        const std::string section = dot == equals ? "" : word.substr(0, dot);
        const std::size_t begin = dot == equals ? 0 : dot + 1;
        if (!set(section, word.substr(begin, equals - begin), word.substr(equals + 1)))
            throw std::invalid_argument("no field for " + word);
    }
}

template <class S>
void set(S& object, const std::string& assignments) {
    each_assignment(assignments, [&](const std::string&, const std::string& name, const std::string& text) {
        return set_field(object, name, text);
    });
}

// Sections as in files; without a section, the first field of that name.
template <std::derived_from<ReconstructionInputs> S>
void set(S& inputs, const std::string& assignments) {
    each_assignment(assignments, [&](const std::string& section, const std::string& name, const std::string& text) {
        const auto in = [&](const char* its_section, auto& part) {
            return (section.empty() || section == its_section) && set_field(part, name, text);
        };
        return in("scan", inputs.geometry) || in("scan", inputs.format) || in("calibration", inputs.calibration) ||
               in("recipe", inputs.recipe) || in("defr", inputs.defr) || in("compressive", inputs.compressive) ||
               in("nufft", inputs.nufft) || in("flow", inputs.flow);
    });
}

template <class S>
S with(S object, const std::string& assignments) {
    set(object, assignments);
    return object;
}

}  // namespace echolux
