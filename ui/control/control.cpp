#include "ui/control/control.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "app/jobs/jobs.h"
#include "app/live/session_run.h"
#include "app/movie/movie_plan.h"
#include "app/open/open_volume.h"
#include "app/operations/operation_json.h"
#include "app/viewer/live_source.h"
#include "app/viewer/pane_view.h"
#include "app/viewer/view_source.h"
#include "compute/error.h"
#include "compute/plan/describe.h"
#include "engine/build.h"
#include "engine/io/file_name.h"
#include "engine/io/png_file.h"
#include "ui/control/facts.h"
#include "ui/control/known_settings.h"
#include "ui/control/message.h"
#include "ui/control/methods.h"
#include "ui/control/operation_methods.h"
#include "ui/control/subscriptions.h"
#include "ui/workspace/calibrating.h"
#include "ui/workspace/exporting.h"
#include "ui/workspace/raw_proposal.h"
#include "ui/workspace/recordings.h"

namespace echolux {

// Queued requests, and requests whose work continues in jobs.
struct Control::Parts {
    using Clock = std::chrono::steady_clock;
    using Json = nlohmann::ordered_json;
    using Data = std::vector<std::byte>;

    // A valid request that its sender may make.
    struct Call {
        const ControlMethod* method;
        nlohmann::json params;
        Reply reply;
        Values values{};                   // for `set`: checked values
        std::optional<Refusal> refusal{};  // for `set`: the error, if any
        bool is_applied = false;           // for `set`: applied, response still pending
    };

    using Result = ResponseContent;

    // A request whose work continues in jobs.
    struct Deferred {
        Reply reply;
        std::shared_ptr<UserRequest> user_request;
        std::function<Result()> result;          // called when the work is done; may throw Error
        std::function<bool()> begins{};          // returns false to be called again later; empty once begun
        bool is_reading = false;                 // reads voxels; the number per connection is limited
        Clock::time_point since = Clock::now();  // start of the wait for `begins`
    };

    Parts(Workspace& workspace, ControlOptions wanted);

    // ---- requests
    void take(const ConnectionPtr& from, Request request, const std::shared_ptr<BatchAnswers>& batch,
              const std::shared_ptr<void>& waiting);
    void run_calls();
    void run(Call& call);  // reports errors in the response, never throws
    void perform(Call& call);
    void finish_deferred();
    bool try_finish(Deferred& one);  // true if answered
    bool waits_for_others(const Deferred& one, const std::vector<Deferred>& all) const;
    void send(const Reply& reply, const Result& result) const;
    // Runs `begin` as part of a user request. The response is `result`, sent when that is complete.
    void operate(Call& call, const std::function<void()>& begin, std::function<Result()> result);
    std::shared_ptr<UserRequest> new_user_request() const;
    std::filesystem::path file_of(const Call& call, const char* name) const;  // absolute path in an allowed folder

    // ---- settings
    static bool is_setting_call(const Call& call);
    std::size_t apply(std::span<Call> asked);  // returns the number of answered requests
    bool try_apply(const Values& values);
    void answer_setting_call(const Call& call);
    void describe(Call& call);
    Json values_object(const std::vector<std::string>& keys) const;
    std::vector<std::string> keys_of(const Call& call) const;

    // ---- documents and sources
    void open(Call& call);
    void close(Call& call);
    void start(Call& call);
    void stop(Call& call);
    void record(Call& call);
    void stop_recording(Call& call);
    void calibrate(Call& call);
    void go_to(Call& call);
    void action(Call& call);
    void shutdown(Call& call);

    // ---- files
    void save(Call& call);
    void movie(Call& call);
    void run_operation(Call& call);
    void cancel_operation(Call& call);

    // ---- pictures and voxels
    void snapshot(Call& call);
    void volume(Call& call);
    void b_scan(Call& call);
    void a_scan(Call& call);
    void probe(Call& call);
    void read_voxels(Call& call, std::function<Result(const Volume&)> part);

    Workspace& work;
    ControlOptions options;
    KnownSettings settings;
    Values set_views;  // view settings that were set; applied again to volumes opened later
    std::deque<Call> calls;
    std::vector<Deferred> deferred;
    Subscriptions subscriptions;
    RunningOperations operations;
    std::optional<Clock::time_point> edited;  // time of the last set, while the next one may join its undo step
    ConnectionPtr shut_down_by;               // nullptr unless the end was requested
    Clock::time_point shut_down_at;           // time of that request
};

// ---- Requests and their answers

namespace {

constexpr std::size_t max_calls = 20'000;  // per connection
constexpr std::size_t max_deferred = 64;   // per connection

Refusal too_many(const std::string& what) {
    return {RpcCode::too_many,
            Error(ErrorCode::bad_setting, what, "request", "wait for responses before sending more requests")};
}

// Returns the refusal for the exception being handled; `where` locates those of the standard library: out of memory.
Refusal refusal_of_current_exception(const std::string& where) {
    try {
        throw;
    } catch (const Refusal& refusal) {
        return refusal;
    } catch (const Error& error) {
        return error;
    } catch (const std::exception& error) {
        return {RpcCode::internal_error, Error(ErrorCode::device, error.what(), where)};
    }
}

ControlOptions with_folders(ControlOptions options) {
    if (options.folders == nullptr) options.folders = std::make_shared<const AllowedFolders>(AllowedFolders({}));
    return options;
}

}  // namespace

Control::Parts::Parts(Workspace& workspace, ControlOptions wanted)
    : work(workspace), options(with_folders(std::move(wanted))), settings(workspace),
      subscriptions(workspace, options.folders),
      operations(workspace.jobs(), std::max<std::int64_t>(1, std::thread::hardware_concurrency())) {}

// Checks a request and queues it for the next update(). A refused request is answered at once. Settings are checked
// here, so that update() can merge the values of several requests.
void Control::Parts::take(const ConnectionPtr& from, Request request, const std::shared_ptr<BatchAnswers>& batch,
                          const std::shared_ptr<void>& waiting) {
    const Reply reply(from, request, batch, waiting);
    try {
        if (request.refusal) throw Refusal(*request.refusal);
        const ControlMethod& method = method_named(request.method);
        if (method.right == RequiredRight::steer && !from->may_steer()) {
            throw Refusal(RpcCode::not_allowed,
                          Error(ErrorCode::bad_setting, "needs the right to steer", std::string(method.name),
                                "use the token that steers; over OpenIGTLink, start with `--igtl-steer`"));
        }
        Call call{&method, checked_params(method, request.params), reply};
        if (batch != nullptr && std::ranges::count(method.parameters, "encoding", &ControlParameter::name) > 0 &&
            call.params.value("encoding", "binary") == "binary") {
            throw Refusal(RpcCode::invalid_params,
                          Error(ErrorCode::bad_setting, "binary data cannot be returned in a batch",
                                std::string(method.name) + ", encoding", "send the request alone, or use base64"));
        }
        // The count runs only if the total exceeds the limit, because most connections have few requests.
        const auto is_its = [&](const Call& one) { return one.reply.connection().id() == from->id(); };
        if (calls.size() >= max_calls && std::ranges::count_if(calls, is_its) >= static_cast<std::ptrdiff_t>(max_calls))
            throw too_many("too many requests are pending");
        if (method.method == RpcMethod::set) {
            try {
                call.values = settings.checked_values(call.params["values"], options.folders.get());
            } catch (const Error& error) {
                call.refusal = Refusal(error);
            }
        }
        calls.push_back(std::move(call));
    } catch (const Refusal& refusal) {
        reply.refuse(refusal);
    }
}

// Runs one queued request and turns every exception into an error response.
void Control::Parts::run(Call& call) {
    try {
        const std::uint64_t asks = call.reply.connection().id();
        const auto waits = [asks](const Deferred& one) { return one.reply.connection().id() == asks; };
        if (std::ranges::count_if(deferred, waits) >= static_cast<std::ptrdiff_t>(max_deferred)) {
            throw too_many("64 requests of this connection are already in progress");
        }
        perform(call);
    } catch (...) {
        call.reply.refuse(refusal_of_current_exception(std::string(call.method->name)));
    }
}

void Control::Parts::perform(Call& call) {
    switch (call.method->method) {
        case RpcMethod::describe: return describe(call);
        case RpcMethod::state: return call.reply.result(state_object(work, &call.reply.connection()));
        case RpcMethod::statistics: return call.reply.result(statistics_object(work));
        case RpcMethod::open: return open(call);
        case RpcMethod::close: return close(call);
        case RpcMethod::start: return start(call);
        case RpcMethod::stop: return stop(call);
        case RpcMethod::record: return record(call);
        case RpcMethod::stop_recording: return stop_recording(call);
        case RpcMethod::snapshot: return snapshot(call);
        case RpcMethod::volume: return volume(call);
        case RpcMethod::b_scan: return b_scan(call);
        case RpcMethod::a_scan: return a_scan(call);
        case RpcMethod::probe: return probe(call);
        case RpcMethod::save: return save(call);
        case RpcMethod::movie: return movie(call);
        case RpcMethod::calibrate: return calibrate(call);
        case RpcMethod::go_to: return go_to(call);
        case RpcMethod::action: return action(call);
        case RpcMethod::subscribe: return subscriptions.subscribe(call.params, call.reply);
        case RpcMethod::unsubscribe: return subscriptions.unsubscribe(call.params, call.reply);
        case RpcMethod::list_operations: return call.reply.result({{"operations", descriptions_of_operations()}});
        case RpcMethod::run_operation: return run_operation(call);
        case RpcMethod::cancel_operation: return cancel_operation(call);
        case RpcMethod::shutdown: return shutdown(call);
        case RpcMethod::get:
        case RpcMethod::set: return;  // handled by apply()
    }
}

// It restricts the files that its jobs may name.
std::shared_ptr<UserRequest> Control::Parts::new_user_request() const {
    return std::make_shared<UserRequest>(UserRequest{std::nullopt, options.folders});
}

// Answers when `begin` and all jobs that it started are done.
void Control::Parts::operate(Call& call, const std::function<void()>& begin, std::function<Result()> result) {
    const std::shared_ptr<UserRequest> user_request = new_user_request();
    work.jobs().belong(user_request, begin);
    deferred.push_back({call.reply, user_request, std::move(result)});
}

void Control::Parts::send(const Reply& reply, const Result& result) const {
    if (result.data == nullptr) return reply.result(result.json);
    reply.result(result.json, result.data);
}

// Limits how much voxel data is copied per connection: at most two requests are read at a time, and none while the
// client is more than 1 MiB behind.
bool Control::Parts::waits_for_others(const Deferred& one, const std::vector<Deferred>& all) const {
    constexpr std::ptrdiff_t max_reads = 2;
    constexpr std::size_t behind = 1 << 20;  // bytes not yet received by the client
    const Connection& asks = one.reply.connection();
    const auto reads = [&](const Deferred& other) {
        return other.is_reading && !other.begins && other.reply.connection().id() == asks.id();
    };
    return one.is_reading && (asks.waiting_bytes() > behind || std::ranges::count_if(all, reads) >= max_reads);
}

// Returns true if the request has been answered. The user request is complete when no job holds it.
bool Control::Parts::try_finish(Deferred& one) {
    constexpr std::chrono::seconds longest_wait(60);  // until it begins
    if (one.begins && !one.user_request->error) {
        if (Clock::now() - one.since > longest_wait) {
            throw Error(ErrorCode::output, "there is no volume yet", "", "start the source, or wait for its first");
        }
        bool has_begun = false;
        work.jobs().belong(one.user_request, [&] { has_begun = one.begins(); });
        if (has_begun) one.begins = nullptr;
    }
    if (one.begins != nullptr || one.user_request.use_count() > 1) return false;
    if (one.user_request->error) throw Error(*one.user_request->error);
    send(one.reply, one.result());
    return true;
}

// Requests that cannot finish stay in `deferred`. Those that a slow connection holds back do not time out.
void Control::Parts::finish_deferred() {
    std::vector<Deferred> all = std::exchange(deferred, {});
    std::erase_if(all, [&](Deferred& one) {
        try {
            if (one.begins && waits_for_others(one, all)) {
                one.since = Clock::now();
                return false;
            }
            return try_finish(one);
        } catch (...) {
            one.reply.refuse(refusal_of_current_exception(""));
        }
        return true;
    });
    deferred.insert(deferred.begin(), std::make_move_iterator(all.begin()), std::make_move_iterator(all.end()));
}

// Throws Error if the name in parameter `name` is outside the allowed folders.
std::filesystem::path Control::Parts::file_of(const Call& call, const char* name) const {
    return options.folders->within(call.params.at(name).get<std::string>());
}

// Runs queued requests for at most 5 ms per turn. The rest stay in the queue. Neighbouring get and set requests run
// together.
void Control::Parts::run_calls() {
    constexpr std::chrono::milliseconds longest(5);
    const Clock::time_point begin = Clock::now();
    std::vector<Call> asked(std::make_move_iterator(calls.begin()), std::make_move_iterator(calls.end()));
    calls.clear();
    std::erase_if(asked, [](const Call& call) { return !call.reply.connection().is_open(); });
    std::size_t done = 0;
    while (done < asked.size() && (done == 0 || Clock::now() - begin < longest)) {
        std::size_t end = done;
        while (end < asked.size() && is_setting_call(asked[end])) ++end;
        if (end == done) {
            run(asked[done++]);
            continue;
        }
        done += apply(std::span(asked).subspan(done, end - done));
        if (done < end) break;
    }
    calls.insert(calls.begin(), std::make_move_iterator(asked.begin() + static_cast<std::ptrdiff_t>(done)),
                 std::make_move_iterator(asked.end()));
}

// ---- The methods describe, get and set. Values that arrive between two turns are applied as one change, so a fast
// slider in another program costs no more than a slider in the window.

bool Control::Parts::is_setting_call(const Call& call) {
    return call.method->method == RpcMethod::set || call.method->method == RpcMethod::get;
}

// Applies values to the workspace. Values for documents opened later are stored after that, because this cannot fail.
bool Control::Parts::try_apply(const Values& values) {
    Values now;
    for (const auto& [key, value] : values) {
        if (settings.scope_of(key) == KnownSettings::SettingScope::now) now.emplace(key, value);
    }
    if (!now.empty()) {
        const std::string& first = now.begin()->first;
        const auto is_of_first = [&](const auto& entry) { return section_of(entry.first) == section_of(first); };
        // The title of the undo step.
        const std::string title = std::ranges::all_of(now, is_of_first) ? std::string(section_of(first)) : first;
        work.jobs().belong(new_user_request(), [&] { work.set(title, now, Edit::in_progress); });
        edited = Clock::now();
        for (const auto& [key, value] : now) {
            if (section_of(key) == "view") set_views.insert_or_assign(key, value);
        }
    }
    for (const auto& [key, value] : values) {
        if (settings.scope_of(key) != KnownSettings::SettingScope::now) settings.set_waiting(key, value);
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
        } catch (...) {
            return refusal_of_current_exception("set");
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
    } catch (...) {
        call.reply.refuse(refusal_of_current_exception(""));
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

// ---- Methods that open documents and control source, recording and calibration, like the buttons of the window.

namespace {

using Json = nlohmann::ordered_json;

LiveController& live_source(Workspace& work) {
    LiveController* live = work.viewer().live();
    if (live != nullptr && !live->is_recorded()) return *live;
    throw Error(ErrorCode::bad_setting, "no live source is open", "", "`open` one, for example sim");
}

Json running_object(Workspace& work) {
    return {{"is_running", work.viewer().live() != nullptr && work.viewer().live()->is_running()}};
}

// Settings applied after opening, because the view exists only then.
bool is_of_view(std::string_view key) {
    return section_of(key) == "view" || section_of(key) == "window" || is_tissue_section(section_of(key));
}

// Returns the settings for opening as command-line assignments. Simulation settings apply only to the simulator.
std::vector<std::string> assignments_of(const Values& values, bool simulates) {
    std::vector<std::string> list;
    for (const auto& [key, value] : values) {
        const std::string_view section = section_of(key);
        const bool is_of_it = section != "source" && section != "figure" && !is_of_view(key);
        if (is_of_it && (simulates || section != "simulation")) list.push_back(assignment_of(key, value));
    }
    return list;
}

SourceSettings source_settings(const Values& values) {
    SourceSettings wanted;
    Settings settings;
    settings.bind("source", wanted);
    for (const auto& [key, value] : values) {
        if (section_of(key) == "source") settings.take({{key, value, "settings"}});
    }
    return wanted;
}

Values of_view(const Values& values) {
    Values some;
    for (const auto& [key, value] : values) {
        if (is_of_view(key)) some.emplace(key, value);
    }
    return some;
}

// True for sessions and pictures, which contain their own view.
bool has_own_view(std::filesystem::path file) {
    try {
        return !file.empty() && kind_of_file(file) != FileKind::view_source;
    } catch (const Error&) {  // opening reports the error
        return false;
    }
}

// Sets values one by one. Values that do not apply to the open volume, such as a missing surface, are skipped.
void apply_valid(Workspace& work, const Values& values) {
    for (const auto& [key, value] : values) {
        try {
            work.set("view", {{key, value}});
        } catch (const Error& error) {
            if (error.code() == ErrorCode::device) throw;
        }
    }
}

// Returns a result that names the written file.
std::function<ResponseContent()> named(const std::filesystem::path& file) {
    return [name = file.string()]() -> ResponseContent { return {{{"file", name}}}; };
}

void require_in(std::int64_t value, std::int64_t count, const char* name) {
    if (value >= 0 && value < count) return;
    throw Error(ErrorCode::bad_setting, fmt::format("expected a number from 0 to {}, got {}", count - 1, value), name);
}

}  // namespace

// Settings come from earlier `set` requests, overridden by "values". View settings that were set before apply again,
// except to files with their own view.
void Control::Parts::open(Call& call) {
    const bool has_file = call.params.contains("file"), has_source = call.params.contains("source");
    if (has_file == has_source) {
        throw Refusal(RpcCode::invalid_params, Error(ErrorCode::bad_setting, "needs either a file or a source", "open",
                                                     "{\"file\": \"scan.toml\"} or {\"source\": \"sim\"}"));
    }
    Values values = settings.waiting();
    if (call.params.contains("values")) {
        for (const auto& [key, value] : settings.checked_values(call.params["values"], options.folders.get())) {
            values.insert_or_assign(key, value);
        }
    }
    const std::filesystem::path file = has_file ? file_of(call, "file") : std::filesystem::path();
    SourceRequest wanted;
    wanted.name = call.params.value("source", "");
    if (call.params.contains("scan")) wanted.scan = file_of(call, "scan");
    const bool simulates = wanted.name.substr(0, wanted.name.find(':')) == "sim";
    wanted.assignments = assignments_of(values, simulates);
    wanted.settings = source_settings(values);
    const auto begin = [&] {
        has_file ? work.open(file, wanted.assignments, Replacing::at_once)
                 : work.open_source(wanted, Replacing::at_once);
    };
    const Values earlier = has_own_view(file) ? Values() : set_views;
    operate(call, begin,
            [this, file, of = call.reply.shared_connection(), view = of_view(values), earlier]() -> Result {
                if (const RawProposal* raw = work.raw().proposal(); raw != nullptr && raw->file == file) {
                    work.raw().drop();
                    throw Error(ErrorCode::bad_file, "contains raw spectra without a description", file.string(),
                                "write its TOML first: echolux info --guess");
                }
                apply_valid(work, earlier);
                if (!view.empty()) work.set("view", view);
                return {state_object(work, of.get())};
            });
}

void Control::Parts::close(Call& call) {
    operate(
        call, [this] { work.close(Replacing::at_once); },
        [this]() -> Result {
            return {{{"is_open", work.viewer().is_open()}}};
        });
}

void Control::Parts::start(Call& call) {
    live_source(work);
    operate(
        call, [this] { work.start_source(); }, [this]() -> Result { return {running_object(work)}; });
}

void Control::Parts::stop(Call& call) {
    if (live_source(work).is_recording()) {
        throw Error(ErrorCode::bad_setting, "a recording is already running", "stop", "`stop_recording` first");
    }
    operate(
        call, [this] { work.stop_source(); }, [this]() -> Result { return {running_object(work)}; });
}

void Control::Parts::record(Call& call) {
    if (live_source(work).is_recording()) {
        throw Error(ErrorCode::bad_setting, "a recording is already running", "record", "`stop_recording` first");
    }
    const std::filesystem::path file =
        call.params.contains("file") ? file_of(call, "file") : work.new_name(UserFolder::videos, "", ".toml");
    operate(
        call, [&] { work.recordings().start(file); }, named(file));
}

void Control::Parts::stop_recording(Call& call) {
    if (!live_source(work).is_recording()) throw Error(ErrorCode::bad_setting, "nothing is recorded", "stop_recording");
    operate(
        call, [this] { work.recordings().stop(); },
        [this]() -> Result {
            const RecordingResult& kept = work.recordings().last().value();
            return {{{"file", kept.file.string()}, {"stats", stats_object(kept.stats)}}};
        });
}

void Control::Parts::calibrate(Call& call) {
    Calibrating& calibrating = work.calibrating();
    const std::string step = call.params.at("step");
    const nlohmann::json values = call.params.value("values", nlohmann::json::object());
    std::vector<std::pair<const BoundField*, Value>> wanted_values;  // applied only after all checks have passed
    for (const auto& [key, value] : values.items()) {
        const auto field = std::ranges::find_if(calibrating.fields(), [&, wanted = key](const BoundField& one) {
            return one.section == "mirrors" && one.key() == wanted;
        });
        if (field == calibrating.fields().end()) {
            throw Error(ErrorCode::bad_setting, "unknown key", key.substr(0, 100), "`describe` calibrate lists them");
        }
        const std::optional<Value> given = setting_value(value);
        if (!given) throw Error(ErrorCode::bad_setting, "expected one value", key);
        wanted_values.emplace_back(&*field, checked(*field, field->default_value, *given, key));
    }
    const auto set_values = [&] {
        for (const auto& [field, value] : wanted_values) field->set(value);
    };
    constexpr std::array spectra{"dark", "background", "mirror_1", "mirror_2"};
    const auto which = std::ranges::find(spectra, step);
    const auto result = [this]() -> Result {
        std::vector<std::string> keys = settings.keys_of("calibration");
        for (const char* key : {"recipe.dispersion", "recipe.a2_rad", "recipe.a3_rad"}) keys.emplace_back(key);
        return {{{"values", values_object(keys)}}};
    };
    if (which != spectra.end()) {
        if (!calibrating.can_take(work)) {
            throw Error(ErrorCode::bad_setting, "there are no raw spectra yet", step, "open a source and start it");
        }
        set_values();
        return operate(
            call, [&] { calibrating.take(static_cast<Spectrum>(which - spectra.begin()), work.jobs().request()); },
            result);
    }
    if (step == "apply") {
        set_values();
        return operate(
            call, [&] { calibrating.apply(work); }, result);
    }
    // Otherwise the step is "dispersion".
    if (!calibrating.can_search(work)) {
        throw Error(ErrorCode::bad_setting, "there are no raw spectra, or a search is already running", step,
                    "open a source and start it");
    }
    set_values();
    operate(
        call, [&] { calibrating.search_dispersion(work); }, result);
}

void Control::Parts::go_to(Call& call) {
    ViewSource& view_source = shown(work);
    Timeline* time = view_source.timeline();
    RecentTimeline* kept = view_source.recent_timeline();
    const bool has_time_point = call.params.contains("time_point");
    if (has_time_point) {
        if (time == nullptr && kept == nullptr)
            throw Error(ErrorCode::bad_setting, "the open data have no time points", "time_point");
        require_in(call.params["time_point"], time != nullptr ? time->steps() : std::ssize(kept->volumes()),
                   "time_point");
    }
    constexpr std::array names{"depth", "a_scan", "b_scan"};
    const std::optional<VolumeGrid> grid = view_source.grid();
    std::array<double, 3> cross = work.cross_um();
    for (std::size_t axis = 0; axis < names.size(); ++axis) {
        if (!call.params.contains(names.at(axis))) continue;
        if (!grid) throw Error(ErrorCode::output, "there is no volume yet", names.at(axis), "wait for the first");
        const std::int64_t count = std::array{grid->depth, grid->a_scans, grid->b_scans}.at(axis);
        const std::int64_t index = call.params[names.at(axis)];
        require_in(index, count, names.at(axis));
        // The cross-hair is in um from the centre of the volume; voxel_edges() is the voxel size.
        cross.at(axis) =
            (static_cast<double>(index) - 0.5 * static_cast<double>(count - 1)) * voxel_edges(*grid).at(axis);
    }
    if (has_time_point && time != nullptr) time->go_to(call.params["time_point"]);
    if (has_time_point && time == nullptr) kept->go_to(call.params["time_point"]);
    work.set_cross_um(cross);
    call.reply.result(state_object(work, &call.reply.connection()));
}

void Control::Parts::action(Call& call) {
    const std::string name = call.params.at("name");
    const Action* action = work.actions().find(name);
    if (action == nullptr) {
        std::vector<std::string_view> names;
        for (const Action& one : work.actions().all()) names.push_back(one.id);
        const std::string near = nearest_name(name, names);
        throw Error(ErrorCode::bad_setting, "is not an action", name.substr(0, 100),
                    near.empty() ? "`describe` lists them" : "did you mean \"" + near + "\"?");
    }
    if (!action->is_possible()) throw Error(ErrorCode::bad_setting, "is not possible now", name);
    operate(
        call, [&] { work.actions().run(name); },
        [this, name]() -> Result {
            Json json{{"name", name}};
            const Action* now = work.actions().find(name);
            if (now != nullptr && now->is_on) json["is_on"] = now->is_on();
            return {json};
        });
}

// A recording is completed before the response is sent; is_shut_down() ends the program afterwards.
void Control::Parts::shutdown(Call& call) {
    if (!options.may_shut_down) {
        throw Refusal(RpcCode::not_allowed,
                      Error(ErrorCode::bad_setting, "the program cannot be ended through this connection", "shutdown"));
    }
    const auto ends = [this, by = call.reply.shared_connection()]() -> Result {
        shut_down_by = by;
        shut_down_at = Clock::now();
        return {{{"ends", true}}};
    };
    const bool records = work.viewer().live() != nullptr && work.viewer().live()->is_recording();
    operate(
        call,
        [&] {
            if (records) work.recordings().stop();
        },
        ends);
}

// ---- Saving of the current view and volume to files in the allowed folders. Existing files are kept unless
// "overwrite" is true.

// Throws Error{output} if the name is in use and "overwrite" is not set.
static void require_new(const nlohmann::json& params, const std::filesystem::path& file) {
    std::error_code problem;
    if (params.value("overwrite", false) || !std::filesystem::exists(file, problem)) return;
    throw Error(ErrorCode::output, "already exists", file.string(), "choose another name, or set \"overwrite\": true");
}

// Returns the figure style from settings that were set by requests.
static FigureStyle figure_style(const Values& values) {
    FigureStyle style;
    Settings settings;
    settings.bind("figure", style);
    for (const auto& [key, value] : values) {
        if (section_of(key) == "figure") settings.take({{key, value, "settings"}});
    }
    return style;
}

// Converts a checked name to its enumerator. `names` are in the order of the enumerators.
template <class E>
static E enumerator(const nlohmann::json& params, const char* name, std::initializer_list<std::string_view> names) {
    const std::string wanted = params.value(name, "");
    int number = 0, found = 0;
    for (const std::string_view one : names) {
        if (one == wanted) found = number;
        ++number;
    }
    return static_cast<E>(found);
}

void Control::Parts::save(Call& call) {
    const std::filesystem::path file = file_of(call, "file");
    const std::string what = call.params.at("what");
    require_new(call.params, file);
    const auto begin = [&] {
        if (what == "volume") return work.exporting().save_volume(file);
        if (what == "kept") return work.exporting().save_kept(file, call.params.value("seconds", 0.0));
        if (what == "session") return work.save_session(file);
        if (what == "picture") return work.exporting().save_picture(file);
        if (what == "figure") return work.exporting().save_figure(file, {}, figure_style(settings.waiting()));
        work.exporting().save_table(file,
                                    what == "a_scan" ? Exporting::TableKind::a_scan : Exporting::TableKind::echoes);
    };
    operate(call, begin, named(file));
}

void Control::Parts::movie(Call& call) {
    const std::filesystem::path file = file_of(call, "file");
    require_new(call.params, file);
    MovieSpec spec;
    spec.path = allowed_parts(call.params.value("path", spec.path), *options.folders);
    spec.seconds = call.params.value("seconds", 0.0);
    if (call.params.contains("fps")) spec.fps = fmt::format("{:.6g}", call.params["fps"].get<double>());
    spec.along = call.params.contains("along")
                     ? enumerator<SweepAxis>(call.params, "along", {"depth", "a-scans", "b-scans"})
                     : spec.along;
    spec.plane = enumerator<SweptPlane>(call.params, "plane", {"slice", "clip"});
    operate(
        call, [&] { work.exporting().make_movie(file, spec); }, named(file));
}

// ---- Operations: they work on files in the allowed folders, independently of what is open.

void Control::Parts::run_operation(Call& call) {
    const std::shared_ptr<Operation> operation = requested_operation(call.params, settings, *options.folders);
    BackendChoice backend = work.viewer().backend();
    const bool has_backend = call.params.contains("backend");
    if (has_backend && operation->info().backend.empty()) {
        throw Error(ErrorCode::bad_setting, "has no effect on " + std::string(operation->info().name), "backend",
                    "leave it out");
    }
    if (has_backend) backend.backend = enumerator<Backend>(call.params, "backend", {"auto", "cpu", "cuda"});
    for (const OutputText& text : operation->info().outputs) {
        const std::filesystem::path& file = operation->output(text.name).file;
        if (!file.empty()) work.check_recent_name(file);
    }
    const auto result = std::make_shared<Json>();
    operate(
        call, [&] { operations.start(operation, backend, call.params.value("overwrite", false), result); },
        [result]() -> Result { return {*result}; });
}

void Control::Parts::cancel_operation(Call& call) {
    const std::int64_t job = call.params.value("job", std::int64_t{0});
    call.reply.result({{"jobs", operations.cancel(static_cast<std::uint64_t>(job))}});
}

// ---- Methods that return pictures and voxels. The data is read back only on request, packed by a job and sent after
// the response.

using Data = std::vector<std::byte>;

static bool wants_base64(const nlohmann::json& params) {
    return params.value("encoding", "binary") == "base64";
}

// Throws Error{bad_setting} if the index is out of range.
static std::int64_t index_of(const nlohmann::json& params, const char* name, std::int64_t otherwise,
                             std::int64_t count) {
    const std::int64_t index = params.contains(name) ? params.at(name).get<std::int64_t>() : otherwise;
    if (index >= 0 && index < count) return index;
    throw Error(ErrorCode::bad_setting, fmt::format("expected a number from 0 to {}, got {}", count - 1, index), name);
}

static Data bytes_between(const Volume& volume, std::int64_t from, std::int64_t count) {
    const auto begin = volume.voxels.begin() + from;
    return {begin, begin + count};
}

// ---- pictures

// The view is drawn at full quality; the window is returned as currently displayed. A job encodes the PNG.
void Control::Parts::snapshot(Call& call) {
    const auto image = std::make_shared<Image>();
    const auto packed = std::make_shared<Result>();
    const bool as_text = wants_base64(call.params);
    const auto pack = [this, packed, as_text](Image drawn) {
        Json json{{"type", "image/png"}, {"width", drawn.width}, {"height", drawn.height}};
        work.jobs().start(
            "sending a picture",
            [packed, as_text, json, picture = std::make_shared<const Image>(std::move(drawn))](Progress& progress) {
                // Compression level: small files, still fast.
                constexpr int small = 6;
                progress.begin("write", 0, "");
                Result result{json, std::make_shared<Data>(png_bytes(picture->pixels, picture->width, picture->height,
                                                                     Alpha::kept, small))};
                if (as_text) result.json["data"] = base64_of(*std::exchange(result.data, nullptr));
                return [packed, result] { *packed = result; };
            },
            [](const Error&) {});
    };
    const auto result = [packed]() -> Result { return *packed; };
    if (call.params.value("of", "view") == "window") {
        Image drawn = options.window_picture ? options.window_picture() : Image{};
        if (drawn.pixels.empty())
            throw Error(ErrorCode::device, "there is no window", "snapshot, of", "request the view");
        return operate(
            call, [&] { pack(std::move(drawn)); }, result);
    }
    View view = work.view();
    for (const auto& [name, size] : {std::pair{"width", &view.width}, std::pair{"height", &view.height}}) {
        if (!call.params.contains(name)) continue;
        const std::string key = std::string("view.") + name;
        *size = std::get<std::int64_t>(settings.checked_value(key, call.params[name], nullptr));
    }
    operate(
        call, [&] { work.exporting().draw_picture(view, pack); }, result);
}

// x and y are pixels of a picture of view.width by view.height.
void Control::Parts::probe(Call& call) {
    const std::optional<Probe> met = shown(work).probe(work.view(), call.params["x"], call.params["y"]);
    Json json{{"hit", met.has_value()}};
    if (met) {
        json.update({{"value", met->value}, {"unit", met->unit}, {"voxel", met->voxel}});
        if (met->has_spacing) json["place_um"] = met->place_um;
    }
    call.reply.result(std::move(json));
}

// ---- voxels

void Control::Parts::volume(Call& call) {
    read_voxels(call, [](const Volume& volume) -> Result {
        return {grid_object(volume.grid), std::make_shared<Data>(volume.voxels)};
    });
}

void Control::Parts::b_scan(Call& call) {
    const std::array<double, 3> cross = work.cross_um();
    read_voxels(call, [params = call.params, cross](const Volume& volume) -> Result {
        const VolumeGrid& grid = volume.grid;
        const std::int64_t b = index_of(params, "b_scan", voxel_index(cross[2], grid, 2), grid.b_scans);
        Json json = grid_object(grid);
        json["shape"] = {grid.a_scans, grid.depth};
        json["spacing_um"] = {grid.spacing_um[1], grid.spacing_um[0]};
        json["b_scan"] = b;
        return {json, std::make_shared<Data>(bytes_between(volume, b * grid.b_scan_bytes(), grid.b_scan_bytes()))};
    });
}

void Control::Parts::a_scan(Call& call) {
    const std::array<double, 3> cross = work.cross_um();
    read_voxels(call, [params = call.params, cross](const Volume& volume) -> Result {
        const VolumeGrid& grid = volume.grid;
        const std::int64_t a = index_of(params, "a_scan", voxel_index(cross[1], grid, 1), grid.a_scans);
        const std::int64_t b = index_of(params, "b_scan", voxel_index(cross[2], grid, 2), grid.b_scans);
        Json json = grid_object(grid);
        json["shape"] = {grid.depth};
        json["spacing_um"] = {grid.spacing_um[0]};
        json["a_scan"] = a;
        json["b_scan"] = b;
        const std::int64_t from = b * grid.b_scan_bytes() + a * grid.a_scan_bytes();
        return {json, std::make_shared<Data>(bytes_between(volume, from, grid.a_scan_bytes()))};
    });
}

// Reading starts once a volume is available. A job then waits for the device and packs the requested part.
void Control::Parts::read_voxels(Call& call, std::function<Result(const Volume&)> part) {
    shown(work);
    const auto packed = std::make_shared<Result>();
    if (wants_base64(call.params)) {
        part = [bytes = std::move(part)](const Volume& volume) {
            Result result = bytes(volume);
            result.json["data"] = base64_of(*std::exchange(result.data, nullptr));
            return result;
        };
    }
    deferred.push_back({call.reply, new_user_request(), [packed]() -> Result { return std::move(*packed); },
                        [this, part = std::move(part), packed] { return begin_reading(work, part, packed); }, true});
}

// ---- Interface

Control::Control(Workspace& work, ControlOptions options) : parts_(std::make_unique<Parts>(work, std::move(options))) {}
Control::~Control() = default;

void Control::handle(const ConnectionPtr& from, std::string_view text, const std::shared_ptr<void>& waiting) {
    Message message = parsed_message(text);
    const auto batch = message.is_batch ? std::make_shared<BatchAnswers>() : nullptr;
    if (batch) batch->waiting = message.requests.size();
    for (Request& request : message.requests) parts_->take(from, std::move(request), batch, waiting);
}

void Control::gone(std::uint64_t connection) {
    const auto is_its = [connection](const auto& one) { return one.reply.connection().id() == connection; };
    std::erase_if(parts_->calls, is_its);
    std::erase_if(parts_->deferred, is_its);
    parts_->subscriptions.erase(connection);
}

// A sequence of set requests with pauses of less than 0.5 s is one undo step.
void Control::update() {
    Parts& parts = *parts_;
    constexpr std::chrono::milliseconds edit_ends_after(500);
    parts.run_calls();
    if (parts.edited && Parts::Clock::now() - *parts.edited > edit_ends_after) {
        parts.edited.reset();
        parts.work.history().close();
    }
    parts.finish_deferred();
    parts.subscriptions.notify_all_clients();
}

// Pending work is polled every 5 ms, subscriptions every 20 ms.
double Control::timeout_s() const {
    if (!parts_->calls.empty() || !parts_->deferred.empty()) return 0.005;
    return parts_->subscriptions.empty() ? 0.25 : 0.02;
}

// Waits at most 1 s for the response to leave, so that the client sees it before the program ends.
bool Control::is_shut_down() const {
    constexpr std::chrono::seconds longest(1);
    const ConnectionPtr& by = parts_->shut_down_by;
    if (by == nullptr) return false;
    return !by->is_open() || by->waiting_bytes() == 0 || Parts::Clock::now() - parts_->shut_down_at > longest;
}

}  // namespace echolux
