#include "ui/control/live_control.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "app/jobs/settings_table.h"
#include "app/live/session_run.h"
#include "engine/build.h"
#include "engine/io/file_name.h"
#include "ui/control/known_settings.h"
#include "ui/control/message.h"
#include "ui/control/methods.h"

namespace echolux {
namespace {

using Json = nlohmann::ordered_json;
using Handler = Json (*)(LiveSteering& session, const nlohmann::json& params);

const BoundField& field_of(const LiveSteering& session, const std::string& key) {
    for (const BoundField& field : session.fields()) {
        if (field.key() == key) return field;
    }
    check_assignment(key.substr(0, 100) + "=");  // throws with the nearest key if no such key exists
    throw Error(ErrorCode::bad_setting, "is not available without a window", key.substr(0, 100),
                "use `view --off-screen`");
}

// Returns the keys of the requested settings and sections, or all keys.
std::vector<std::string> keys_of(const LiveSteering& session, const nlohmann::json& params) {
    const auto given = params.find("keys");
    const auto wanted = given == params.end() ? std::vector<std::string>{} : texts_of(*given);
    std::set<std::string> sections;
    for (const BoundField& field : session.fields()) sections.insert(field.section);
    std::vector<std::string> keys;
    for (const std::string& one : wanted) {
        if (!sections.contains(one)) keys.push_back(field_of(session, one).key());
    }
    for (const BoundField& field : session.fields()) {
        const bool is_of_section = std::ranges::count(wanted, field.section) > 0;
        if (wanted.empty() || is_of_section) keys.push_back(field.key());
    }
    return keys;
}

Json values_of(const LiveSteering& session, const std::vector<std::string>& keys) {
    Json values = Json::object();
    for (const std::string& key : keys) values[key] = object_of(session.value(key));
    return {{"values", std::move(values)}};
}

Json get(LiveSteering& session, const nlohmann::json& params) {
    return values_of(session, keys_of(session, params));
}

Json set(LiveSteering& session, const nlohmann::json& params) {
    const AllowedFolders none({});  // file names are not accepted
    Values values;
    std::vector<std::string> keys;
    for (const auto& [key, value] : params.at("values").items()) {
        values[key] = checked_value(field_of(session, key), value, &none);
        // Values as they are after the call, in the form of a response.
        keys.push_back(key);
    }
    session.set(values);
    return values_of(session, keys);
}

Json statistics(LiveSteering& session, const nlohmann::json&) {
    LiveReport report;
    report.source = session.source();
    report.session = session.stats();
    Json json = stats_object(report);
    json.erase("way");  // unknown here
    return json;
}

Json describe(LiveSteering& session, const nlohmann::json& params);

// Methods that are available without a window.
const std::map<RpcMethod, Handler>& handlers() {
    static const std::map<RpcMethod, Handler> all{{RpcMethod::describe, describe},
                                                  {RpcMethod::get, get},
                                                  {RpcMethod::set, set},
                                                  {RpcMethod::statistics, statistics}};
    return all;
}

Json describe(LiveSteering& session, const nlohmann::json& params) {
    const std::string what = params.value("what", "");
    Json json{{"program", "echolux"}, {"version", version}};
    if (what.empty() || what == "settings") {
        const std::vector<std::string> keys = keys_of(session, params);
        const std::set<std::string> wanted(keys.begin(), keys.end());
        json["settings"] = Json::array();
        for (const ListedSetting& setting : all_settings()) {
            if (!wanted.contains(setting.field.key())) continue;
            json["settings"].push_back(object_of(setting));
            json["settings"].back()["value"] = object_of(session.value(setting.field.key()));
        }
    }
    if (what.empty() || what == "methods") {
        json["methods"] = Json::array();
        for (const ControlMethod& method : control_methods()) {
            if (handlers().contains(method.method)) json["methods"].push_back(object_of(method));
        }
    }
    return json;
}

Json result_of(LiveSteering& session, const Request& request, bool may_steer) {
    if (request.refusal) throw Refusal(*request.refusal);
    const ControlMethod& method = method_named(request.method);
    const std::string name(method.name);
    if (method.right == RequiredRight::steer && !may_steer)
        throw Refusal(RpcCode::not_allowed, Error(ErrorCode::bad_setting, "needs the right to steer", name,
                                                  "start the program with `--igtl-steer`"));
    const auto deed = handlers().find(method.method);
    if (deed == handlers().end())
        throw Refusal(RpcCode::method_not_found,
                      Error(ErrorCode::bad_setting, "needs the window", name, "use `view --off-screen`"));
    return deed->second(session, checked_params(method, request.params));
}

Json answer_of(LiveSteering& session, const Request& request, bool may_steer) {
    try {
        return result_answer(request.id, result_of(session, request, may_steer));
    } catch (const Refusal& refusal) {
        return error_answer(request.id, refusal);
    } catch (const Error& error) {
        return error_answer(request.id, error);
    } catch (const std::exception& error) {  // from the standard library: out of memory
        return error_answer(request.id,
                            {RpcCode::internal_error, Error(ErrorCode::device, error.what(), request.method)});
    }
}

}  // namespace

std::string live_answer(LiveSteering& session, const igtl::Request& asked, bool may_steer) {
    Message message;
    try {
        message = parsed_message(rpc_of(asked));
    } catch (const Error& error) {
        return line_of(error_answer(asked.id, error));
    }
    Json answers = Json::array();
    for (const Request& request : message.requests) {
        Json answer = answer_of(session, request, may_steer);
        if (!request.is_notification) answers.push_back(std::move(answer));
    }
    if (answers.empty()) return "";
    return line_of(message.is_batch ? answers : answers.front());
}

}  // namespace echolux
