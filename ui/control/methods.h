// What programs may ask for, as one table: `describe`, the reference in docs/control.md and `echolux ctl` are made from
// it, and every request is checked against it.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace echolux {

enum class Who { watch, steer };  // by its token

enum class ParameterType { text, file, number, whole, flag, texts, values };  // values: {"view.mode": "mip"}
std::string_view name_of(ParameterType type);

struct ControlParameter {
    std::string_view name;
    ParameterType type = ParameterType::text;
    bool is_required = false;
    std::string_view help;
    std::vector<std::string_view> choices{};
};

struct ControlMethod {
    std::string_view name;
    Who who = Who::watch;
    std::string_view help;
    std::vector<ControlParameter> parameters;  // in the order of params that are a list
    std::string_view answer;                   // what the result holds
};

const std::vector<ControlMethod>& control_methods();

// Throws Refusal{method_not_found} with the nearest one.
const ControlMethod& method_named(std::string_view name);

// By name, as an object, every value of its type. Throws Refusal{invalid_params} naming method and parameter.
nlohmann::json checked_params(const ControlMethod& method, const nlohmann::json& params);

nlohmann::ordered_json object_of(const ControlMethod& method);
std::string methods_reference();  // Markdown

}  // namespace echolux
