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

std::vector<std::string> texts_of(const nlohmann::json& params, const char* name) {
    const auto found = params.find(name);
    return found == params.end() ? std::vector<std::string>() : texts_of(*found);
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
            {"who", method.right == RequiredRight::steer ? "steer" : "watch"},
            {"help", method.help},
            {"parameters", std::move(parameters)},
            {"answer", method.answer}};
}

std::string methods_reference() {
    std::string text;
    for (const ControlMethod& method : control_methods()) {
        text += fmt::format("### `{}`\n\n{}{}.{}\n\n", method.name, static_cast<char>(std::toupper(method.help[0])),
                            method.help.substr(1),
                            method.right == RequiredRight::steer ? " Needs a token that steers." : "");
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

// ---- Table of all methods. Requests are checked against it.

static std::vector<std::string_view> topics() {
    return {control_topics.begin(), control_topics.end()};
}

// Shared by all methods that return bytes.
const ControlParameter encoding{
    "encoding",
    Type::text,
    false,
    "binary: the bytes follow the response; base64: they are in its `data` field; default: binary",
    {"binary", "base64"}};

static std::vector<ControlMethod> all_methods() {
    return {
        {RpcMethod::describe,
         "describe",
         RequiredRight::watch,
         "list settings with unit, range, default and value; methods; actions; topics",
         {{"what", Type::text, false, "part to list; default: all", {"settings", "methods", "actions", "topics"}},
          {"keys", Type::texts, false, "settings or sections to list; default: all"}},
         "`program`, `version`, `settings`, `methods`, `actions`, `topics`"},
        {RpcMethod::get,
         "get",
         RequiredRight::watch,
         "return values of settings",
         {{"keys", Type::texts, false, "settings or sections; default: all"}},
         "`values`"},
        {RpcMethod::set,
         "set",
         RequiredRight::steer,
         "change settings; if one value is rejected, none is changed. Changes between two frames are applied together; "
         "the newest value of each counts",
         {{"values", Type::values, true, "values by key; null restores the default"}},
         "`values`: the new values of these keys"},
        {RpcMethod::state,
         "state",
         RequiredRight::watch,
         "return the state: open data, running sources and recordings",
         {},
         "`program`, `version`, `may_steer`, `is_open`, `name`, `way`, `grid`, `time_point`, `time_points`, "
         "`incomplete_time_points` (volumes with missing B-scans), "
         "`max_time_points` and `ago_s` (live sources that keep volumes), `plays`, `is_live`, `is_running`, "
         "`is_recording`, `cross_um`, `jobs`, `troubles`"},
        {RpcMethod::statistics,
         "statistics",
         RequiredRight::watch,
         "return counts, rates and delays of the open source, as `echolux live --json` reports them",
         {},
         "see [live](live.md)"},
        {RpcMethod::open,
         "open",
         RequiredRight::steer,
         "open a file or a live source; responds when it has been opened",
         {{"file", Type::file, false, "volume, folder of volumes, scan, session, or a picture saved by Echolux"},
          {"source", Type::text, false, "live source instead of a file, named as for `echolux view --source`"},
          {"scan", Type::file, false, "TOML file that describes the spectra of the source"},
          {"values", Type::values, false, "settings for the opened data; they override earlier ones"}},
         "as `state`"},
        {RpcMethod::close, "close", RequiredRight::steer, "close the open data", {}, "`is_open`"},
        {RpcMethod::start, "start", RequiredRight::steer, "start the live source", {}, "`is_running`"},
        {RpcMethod::stop, "stop", RequiredRight::steer, "stop the live source", {}, "`is_running`"},
        {RpcMethod::record,
         "record",
         RequiredRight::steer,
         "record every block of the live source, starting with the next volume",
         {{"file", Type::file, false, "TOML file of the recording; default: named by date, in the recording folder"}},
         "`file`"},
        {RpcMethod::stop_recording,
         "stop_recording",
         RequiredRight::steer,
         "stop the recording; responds when its files are complete",
         {},
         "`file`; `stats`, as under `recorder` in [live](live.md)"},
        {RpcMethod::snapshot,
         "snapshot",
         RequiredRight::watch,
         "return a PNG of the view at full quality, or of the whole window as displayed",
         {{"of", Type::text, false, "part to capture; default: view", {"view", "window"}},
          {"width", Type::whole, false, "width of the view in pixels; default: view.width"},
          {"height", Type::whole, false, "height of the view in pixels; default: view.height"},
          encoding},
         "`width`, `height`, `bytes`, `type`: image/png"},
        {RpcMethod::volume,
         "volume",
         RequiredRight::watch,
         "return the voxels of the displayed volume",
         {encoding},
         "`type`, `shape` (B-scans, A-scans, depth), `spacing_um` in this order, `first_depth_um`, `scale`, `offset`, "
         "`unit`, `quantity`, `byte_order`, `time_s`, `volume`, `bytes`"},
        {RpcMethod::b_scan,
         "b_scan",
         RequiredRight::watch,
         "return the voxels of one B-scan of the displayed volume",
         {{"b_scan", Type::whole, false, "B-scan, counted from 0; default: at the cross-hair"}, encoding},
         "as `volume`, with `b_scan`; `shape` is A-scans, depth"},
        {RpcMethod::a_scan,
         "a_scan",
         RequiredRight::watch,
         "return the voxels of one A-scan of the displayed volume",
         {{"a_scan", Type::whole, false, "A-scan, counted from 0; default: at the cross-hair"},
          {"b_scan", Type::whole, false, "B-scan, counted from 0; default: at the cross-hair"},
          encoding},
         "as `volume`, with `a_scan` and `b_scan`; `shape` is depth"},
        {RpcMethod::probe,
         "probe",
         RequiredRight::watch,
         "return the value and position that are visible at a pixel of the view",
         {{"x", Type::whole, true, "pixels from the left edge of an image view.width pixels wide"},
          {"y", Type::whole, true, "pixels from the top edge of an image view.height pixels high"}},
         "`hit`, `value`, `unit`, `voxel` and `place_um` (depth, A-scan, B-scan)"},
        {RpcMethod::save,
         "save",
         RequiredRight::steer,
         "save the displayed data to a file; responds when it has been written",
         {{"what",
           Type::text,
           true,
           "data to save",
           {"volume", "kept", "session", "picture", "figure", "a_scan", "echoes"}},
          {"file", Type::file, true, "file to write; the ending decides the format"},
          {"seconds", Type::number, false, "`kept`: duration that is saved, up to the newest volume; default: all"},
          {"overwrite", Type::flag, false, "replace an existing file; default: false"}},
         "`file`"},
        {RpcMethod::movie,
         "movie",
         RequiredRight::steer,
         "make a movie of the view; responds when it has been written",
         {{"file", Type::file, true, ".mp4, .mkv, .webm, .mov, .gif, .webp or frame_%04d.png"},
          {"path", Type::text, false, "turntable, time, sweep, or a file of key frames; several joined by +"},
          {"seconds", Type::number, false, "length in seconds; default: set by the path"},
          {"fps", Type::number, false, "frames per second; default: 30"},
          {"along", Type::text, false, "axis along which a sweep moves its plane", {"depth", "a-scans", "b-scans"}},
          {"plane",
           Type::text,
           false,
           "sweep: show the values on its plane, or clip what is beyond it",
           {"slice", "clip"}},
          {"overwrite", Type::flag, false, "replace an existing file; default: false"}},
         "`file`"},
        {RpcMethod::calibrate,
         "calibrate",
         RequiredRight::steer,
         "calibrate the instrument from its own spectra; responds when it is done",
         {{"step",
           Type::text,
           true,
           "take the mean of 1,000 A-scans (dark, background, mirror_1, mirror_2), apply the k map of both mirrors, or "
           "search for the dispersion",
           {"dark", "background", "mirror_1", "mirror_2", "apply", "dispersion"}},
          {"values", Type::values, false,
           "for `apply`: mirrors.sides, mirrors.wavelength_rises, "
           "mirrors.displacement_um, mirrors.centre_wavelength_nm"}},
         "`values` of the calibration and the recipe's dispersion"},
        {RpcMethod::go_to,
         "go_to",
         RequiredRight::steer,
         "show another time point, or move the cross-hair",
         {{"time_point", Type::whole, false,
           "time point, counted from 0; live: a kept volume, at which the display pauses"},
          {"depth", Type::whole, false, "depth row of the cross-hair, counted from 0"},
          {"a_scan", Type::whole, false, "A-scan of the cross-hair, counted from 0"},
          {"b_scan", Type::whole, false, "B-scan of the cross-hair, counted from 0"}},
         "as `state`"},
        {RpcMethod::action,
         "action",
         RequiredRight::steer,
         "run an action, as from a menu or a shortcut; `describe` lists the names",
         {{"name", Type::text, true, "name of the action, for example \"edit.undo\""}},
         "`name`; `is_on`, if the action is a switch"},
        {RpcMethod::subscribe,
         "subscribe",
         RequiredRight::watch,
         "subscribe to changes; each arrives as a notification named after its topic",
         {{"topics", Type::texts, true, "topics to subscribe to", topics()},
          {"every_s", Type::number, false,
           "min interval between notifications of a topic in s; default: 0.2 for statistics, 0 for others"},
          {"voxels", Type::flag, false,
           "send volumes with their voxels: always the newest, once the client has received the previous data"}},
         "`topics` of this connection"},
        {RpcMethod::unsubscribe,
         "unsubscribe",
         RequiredRight::watch,
         "cancel subscriptions",
         {{"topics", Type::texts, false, "topics to cancel; default: all", topics()}},
         "`topics` that remain"},
        {RpcMethod::list_operations,
         "operation.list",
         RequiredRight::watch,
         "list operations with their inputs, arguments, outputs and results",
         {},
         "`operations`, as `echolux info --operations --json` prints them"},
        {RpcMethod::run_operation,
         "operation.run",
         RequiredRight::steer,
         "run an operation on files; responds when it is done. While it runs, `jobs` of the topic `state` reports its "
         "progress",
         {{"name", Type::text, true, "name of the operation, for example \"filter\""},
          {"arguments", Type::values, true, "inputs, outputs and settings by name; several inputs as a list"},
          {"overwrite", Type::flag, false, "replace a file that another program made; default: false"},
          {"backend", Type::text, false, "processor to use; default: that of this program", {"auto", "cpu", "cuda"}}},
         "`files`, the results and `warnings`, as `--json` of the command prints them"},
        {RpcMethod::cancel_operation,
         "operation.cancel",
         RequiredRight::steer,
         "cancel running operations, which then respond with the error `cancelled` and leave no unfinished file; a "
         "movie keeps its frames",
         {{"job", Type::whole, false, "`id` of one of the `jobs` of `state`; default: all operations"}},
         "`jobs`: their ids"},
        {RpcMethod::shutdown,
         "shutdown",
         RequiredRight::steer,
         "quit the program; a running recording is completed first",
         {},
         "`ends`"},
    };
}

const std::vector<ControlMethod>& control_methods() {
    static const std::vector<ControlMethod> methods = all_methods();
    return methods;
}

}  // namespace echolux
