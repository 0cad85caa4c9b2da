// Methods of the control interface as one table. `describe`, docs/control.md and `echolux ctl` are generated from it,
// and every request is checked against it.
#pragma once

#include <array>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace echolux {

enum class RequiredRight { watch, steer };  // rights granted by the token

// Control::Parts::perform() in control.cpp has a case for each.
enum class RpcMethod {
    describe,
    get,
    set,
    state,
    statistics,
    open,
    close,
    start,
    stop,
    record,
    stop_recording,
    snapshot,
    volume,
    b_scan,
    a_scan,
    probe,
    save,
    movie,
    calibrate,
    go_to,
    action,
    subscribe,
    unsubscribe,
    list_operations,
    run_operation,
    cancel_operation,
    shutdown,
};

// Topics of subscriptions, in the order in which notifications are sent (subscriptions.cpp).
inline constexpr std::array<std::string_view, 5> control_topics{"settings", "statistics", "notices", "state",
                                                                "volumes"};

// values: an object such as {"view.mode": "mip"}
enum class ParameterType { text, file, number, whole, flag, texts, values };
std::string_view name_of(ParameterType type);
std::vector<std::string> texts_of(const nlohmann::json& value);  // a single string becomes a list of one
std::vector<std::string> texts_of(const nlohmann::json& params, const char* name);  // empty if the parameter is absent

// One parameter of a method.
struct ControlParameter {
    std::string_view name;
    ParameterType type = ParameterType::text;
    bool is_required = false;
    std::string_view help;
    std::vector<std::string_view> choices{};  // for a string, and for each string in a list
};

// One method, with the texts for help and reference.
struct ControlMethod {
    RpcMethod method;
    std::string_view name;
    RequiredRight right = RequiredRight::watch;
    std::string_view help;
    std::vector<ControlParameter> parameters;  // in the order of parameters passed as a list
    std::string_view answer;                   // members of the result
};

// Returns the table, in the order of the reference.
const std::vector<ControlMethod>& control_methods();

// Finds a method by name. Throws Refusal{method_not_found} with the most similar name.
const ControlMethod& method_named(std::string_view name);

// Returns the parameters as an object after checking names and types. Throws Refusal{invalid_params} with method and
// parameter.
nlohmann::json checked_params(const ControlMethod& method, const nlohmann::json& params);

// Description of a method for `describe`.
nlohmann::ordered_json object_of(const ControlMethod& method);
std::string methods_reference();  // the reference in docs/control.md, as Markdown

}  // namespace echolux
