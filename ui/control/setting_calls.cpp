// The methods describe, get and set. Values that arrive between two turns are applied as one change, so a fast slider
// in another program costs no more than a slider in the window.
#include <algorithm>

#include "engine/version.h"
#include "ui/control/control_parts.h"

namespace echolux {

bool Control::Parts::is_setting_call(const Call& call) {
    return call.method->method == RpcMethod::set || call.method->method == RpcMethod::get;
}

// Applies values to the workspace. Values for documents opened later are stored after that, because this cannot fail.
bool Control::Parts::try_apply(const Values& values) {
    Values now;
    for (const auto& [key, value] : values) {
        if (settings.holds(key) == KnownSettings::Holds::now) now.emplace(key, value);
    }
    if (!now.empty()) {
        const std::string& first = now.begin()->first;
        const auto is_of_first = [&](const auto& entry) { return section_of(entry.first) == section_of(first); };
        // The title of the undo step.
        const std::string title = std::ranges::all_of(now, is_of_first) ? std::string(section_of(first)) : first;
        work.perform(new_operation(), [&] { work.set(title, now, Edit::under_way); });
        edited = Clock::now();
        for (const auto& [key, value] : now) {
            if (section_of(key) == "view") set_views.insert_or_assign(key, value);
        }
    }
    for (const auto& [key, value] : values) {
        if (settings.holds(key) != KnownSettings::Holds::now) settings.set_waiting(key, value);
    }
    return !values.empty();
}

// Applies the values of all requests together. If that fails, applies them one by one to find the invalid request.
// Stops after 5 ms; requests that were applied but not answered are answered first in the next turn.
std::size_t Control::Parts::apply(std::span<Call> asked) {
    constexpr std::chrono::milliseconds longest(5);
    Values merged;
    for (const Call& call : asked) {
        if (call.is_applied) continue;
        for (const auto& [key, value] : call.values) merged.insert_or_assign(key, value);
    }
    const auto attempted = [this](const Values& values) -> std::optional<Refusal> {
        try {
            try_apply(values);
        } catch (const Error& error) {
            return Refusal(error);
        } catch (const std::exception& error) {
            return Refusal(RpcCode::internal_error, Error(ErrorCode::device, error.what(), "set"));
        }
        return std::nullopt;
    };
    const Clock::time_point begin = Clock::now();
    const auto is_over = [&](std::size_t done) { return done > 0 && Clock::now() - begin >= longest; };
    std::size_t applied = asked.size(), answered = 0;
    if (attempted(merged)) {
        for (applied = 0; applied < asked.size() && !is_over(applied); ++applied) {
            Call& call = asked[applied];
            if (!call.is_applied && !call.values.empty()) call.refusal = attempted(call.values);
        }
    }
    for (Call& call : asked.first(applied)) call.is_applied = true;
    for (; answered < applied; ++answered) {
        // it may list all settings, which takes long
        if (asked[answered].method->method == RpcMethod::get && is_over(answered)) break;
        answer_setting_call(asked[answered]);
    }
    return answered;
}

void Control::Parts::answer_setting_call(const Call& call) {
    if (call.refusal) return call.reply.refuse(*call.refusal);
    try {
        std::vector<std::string> keys;
        if (call.method->method == RpcMethod::get) keys = keys_of(call);
        for (const auto& [key, value] : call.values) keys.push_back(key);
        call.reply.result({{"values", values_object(keys)}});
    } catch (const Error& error) {
        call.reply.refuse(error);
    } catch (const std::exception& error) {  // from the standard library: out of memory
        call.reply.refuse({RpcCode::internal_error, Error(ErrorCode::device, error.what(), "")});
    }
}

Control::Parts::Json Control::Parts::values_object(const std::vector<std::string>& keys) const {
    Json values = Json::object();
    for (const std::string& key : keys) values[key] = object_of(settings.value(key));
    return values;
}

std::vector<std::string> Control::Parts::keys_of(const Call& call) const {
    const std::vector<std::string> wanted = texts_of(call.params, "keys");
    if (wanted.empty()) return settings.all();
    std::vector<std::string> keys;
    for (const std::string& one : wanted) {
        for (std::string& key : settings.keys_of(one)) keys.push_back(std::move(key));
    }
    return keys;
}

void Control::Parts::describe(Call& call) {
    const std::string what = call.params.value("what", "");
    const auto wants = [&](const char* part) { return what.empty() || what == part; };
    Json json{{"program", "echolux"}, {"version", version}};
    if (wants("settings")) {
        json["settings"] = Json::array();
        for (const std::string& key : keys_of(call)) json["settings"].push_back(settings.object_of(key));
    }
    if (wants("methods")) {
        json["methods"] = Json::array();
        for (const ControlMethod& method : control_methods()) json["methods"].push_back(object_of(method));
    }
    if (wants("actions")) {
        json["actions"] = Json::array();
        for (const Action& action : work.actions().all()) {
            Json one{{"name", action.id},
                     {"title", action.title},
                     {"group", action.group},
                     {"keys", action.keys},
                     {"is_possible", action.is_possible()}};
            if (action.is_on) one["is_on"] = action.is_on();
            json["actions"].push_back(std::move(one));
        }
    }
    if (wants("topics")) json["topics"] = control_topics;
    call.reply.result(std::move(json));
}

}  // namespace echolux
