#include "ui/control/methods.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "compute/plan/describe.h"
#include "ui/control/message.h"

namespace echolux {
namespace {

using Json = nlohmann::json;
using Type = ParameterType;

// The error names method and parameter.
Refusal bad_param(const ControlMethod& method, std::string_view name, const std::string& what,
                  const std::string& remedy = {}) {
    return {RpcCode::invalid_params,
            Error(ErrorCode::bad_setting, what, fmt::format("{}, {}", method.name, name), remedy)};
}

bool is_text_list(const Json& value) {
    return value.is_array() && std::ranges::all_of(value, [](const Json& one) { return one.is_string(); });
}

bool fits(Type type, const Json& value) {
    switch (type) {
        case Type::text:
        case Type::file: return value.is_string();
        case Type::number: return value.is_number();
        case Type::whole: return value.is_number_integer();
        case Type::flag: return value.is_boolean();
        case Type::texts: return is_text_list(value) || value.is_string();
        case Type::values: return value.is_object();
    }
    return false;
}

void check_value(const ControlMethod& method, const ControlParameter& parameter, const Json& value) {
    if (!fits(parameter.type, value)) {
        throw bad_param(method, parameter.name, fmt::format("must be of type {}", name_of(parameter.type)));
    }
    if (parameter.choices.empty()) return;
    for (const std::string& given : texts_of(value)) {
        if (std::ranges::count(parameter.choices, given) > 0) continue;
        const std::string near = nearest_name(given, parameter.choices);
        throw bad_param(method, parameter.name, fmt::format("expected one of {}", fmt::join(parameter.choices, ", ")),
                        near.empty() ? "" : "did you mean \"" + near + "\"?");
    }
}

// Converts parameters in a list to an object, in the order of the table.
Json by_name(const ControlMethod& method, const Json& params) {
    if (params.is_object()) return params;
    if (params.size() > method.parameters.size()) {
        throw bad_param(method, "params",
                        fmt::format("takes at most {}, got {}", method.parameters.size(), params.size()));
    }
    Json object = Json::object();
    for (std::size_t i = 0; i < params.size(); ++i) object[std::string(method.parameters[i].name)] = params[i];
    return object;
}

}  // namespace

std::vector<std::string> texts_of(const Json& value) {
    if (value.is_string()) return {value.get<std::string>()};
    return value.get<std::vector<std::string>>();
}

std::string_view name_of(ParameterType type) {
    switch (type) {
        case Type::text: return "string";
        case Type::file: return "file name";
        case Type::number: return "number";
        case Type::whole: return "integer";
        case Type::flag: return "boolean";
        case Type::texts: return "list of strings";
        case Type::values: return "object of settings and values";
    }
    return "";
}

const ControlMethod& method_named(std::string_view name) {
    std::vector<std::string_view> names;
    for (const ControlMethod& method : control_methods()) {
        if (method.name == name) return method;
        names.push_back(method.name);
    }
    const std::string near = nearest_name(name, names);
    throw Refusal(RpcCode::method_not_found,
                  Error(ErrorCode::bad_setting, "is not a method", std::string(name.substr(0, 100)),
                        near.empty() ? "`describe` lists them" : "did you mean \"" + near + "\"?"));
}

Json checked_params(const ControlMethod& method, const Json& params) {
    Json object = by_name(method, params);
    std::vector<std::string_view> names;
    for (const ControlParameter& parameter : method.parameters) names.push_back(parameter.name);
    for (const auto& [name, value] : object.items()) {
        if (std::ranges::count(names, name) > 0) continue;
        const std::string near = nearest_name(name, names);
        throw bad_param(
            method, name.substr(0, 100), "is not a parameter",
            near.empty() ? fmt::format("it takes {}", fmt::join(names, ", ")) : "did you mean \"" + near + "\"?");
    }
    for (const ControlParameter& parameter : method.parameters) {
        const auto found = object.find(parameter.name);
        const bool is_given = found != object.end() && !found->is_null();
        if (!is_given && parameter.is_required)
            throw bad_param(method, parameter.name, "is missing", std::string(parameter.help));
        // A parameter that is null counts as absent.
        if (!is_given && found != object.end()) object.erase(found);
        if (is_given) check_value(method, parameter, *found);
    }
    return object;
}

nlohmann::ordered_json object_of(const ControlMethod& method) {
    nlohmann::ordered_json parameters = nlohmann::ordered_json::array();
    for (const ControlParameter& parameter : method.parameters) {
        nlohmann::ordered_json one{{"name", parameter.name},
                                   {"type", name_of(parameter.type)},
                                   {"required", parameter.is_required},
                                   {"help", parameter.help}};
        if (!parameter.choices.empty()) one["choices"] = parameter.choices;
        parameters.push_back(std::move(one));
    }
    return {{"name", method.name},
            {"who", method.who == Who::steer ? "steer" : "watch"},
            {"help", method.help},
            {"parameters", std::move(parameters)},
            {"answer", method.answer}};
}

std::string methods_reference() {
    std::string text;
    for (const ControlMethod& method : control_methods()) {
        text += fmt::format("### `{}`\n\n{}{}.{}\n\n", method.name, static_cast<char>(std::toupper(method.help[0])),
                            method.help.substr(1), method.who == Who::steer ? " Needs a token that steers." : "");
        if (!method.parameters.empty()) text += "| parameter | type | meaning |\n|---|---|---|\n";
        for (const ControlParameter& parameter : method.parameters) {
            std::string help(parameter.help);
            if (!parameter.choices.empty()) {
                help += fmt::format("{}{}", help.empty() ? "" : "; ", fmt::join(parameter.choices, ", "));
            }
            text += fmt::format("| `{}`{} | {} | {} |\n", parameter.name, parameter.is_required ? " (required)" : "",
                                name_of(parameter.type), help);
        }
        text += fmt::format("{}Result: {}.\n\n", method.parameters.empty() ? "" : "\n", method.answer);
    }
    return text;
}

}  // namespace echolux
