// What programs may ask for, as one table: `describe`, the reference in docs/control.md and `echolux ctl` are made from
// it, and every request is checked against it.
#pragma once

#include <array>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace echolux {

enum class Who { watch, steer };  // by its token

// Control has a case for each (control.cpp).
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
    shutdown,
};

// What can be subscribed to; Control tells them in this order (subscriptions.cpp).
inline constexpr std::array<std::string_view, 5> control_topics{"settings", "statistics", "notices", "state",
                                                                "volumes"};

enum class ParameterType { text, file, number, whole, flag, texts, values };  // values: {"view.mode": "mip"}
std::string_view name_of(ParameterType type);
std::vector<std::string> texts_of(const nlohmann::json& value);  // a text is a list of one

struct ControlParameter {
    std::string_view name;
    ParameterType type = ParameterType::text;
    bool is_required = false;
    std::string_view help;
    std::vector<std::string_view> choices{};  // of a text, and of each in a list
};

struct ControlMethod {
    RpcMethod method;
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
