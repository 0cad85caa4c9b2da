// Implementation of Control, shared by its source files: queued requests, requests whose work continues in jobs, and
// subscriptions.
#pragma once

#include <chrono>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "app/jobs/jobs.h"
#include "app/stage/exhibit.h"
#include "ui/control/control.h"
#include "ui/control/known_settings.h"
#include "ui/control/message.h"
#include "ui/control/methods.h"

namespace echolux {

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

    // Content of a response: JSON, and binary data that follows it.
    struct Result {
        Json json;
        std::shared_ptr<const Data> data{};  // nullptr without data
    };

    // A request whose work continues in jobs.
    struct Deferred {
        Reply reply;
        std::shared_ptr<Operation> operation;
        std::function<Result()> result;          // called when the work is done; may throw Error
        std::function<bool()> begins{};          // returns false to be called again later; empty once begun
        bool is_reading = false;                 // reads voxels; the number per connection is limited
        Clock::time_point since = Clock::now();  // start of the wait for `begins`
    };

    // Topics of one connection, and the values last sent to it.
    struct Subscription {
        ConnectionPtr to;
        std::set<std::string> topics;
        std::optional<double> every_s{};  // nullopt: default of the topic
        bool wants_voxels = false;
        std::map<std::string, Clock::time_point> told{};  // time of the last notification by topic
        Values settings{};                                // values last sent
        std::string state{};                              // last "state" notification
        std::pair<std::uint64_t, std::int64_t> notice{};  // number and repetitions of the last notice
        std::string volume{};                             // identifies the last volume
        std::shared_ptr<Operation> sending{};             // operation that packs voxels; its result is in `voxels`
        std::shared_ptr<Result> voxels{};
    };

    // Values computed once per turn for all subscribers, on first use.
    struct Current {
        std::optional<Values> settings{};
        std::optional<std::string> state{}, statistics{};
    };

    Parts(Workspace& workspace, ControlOptions wanted);

    // ---- control.cpp
    void take(const ConnectionPtr& from, Request request, const std::shared_ptr<BatchAnswers>& batch,
              const std::shared_ptr<void>& waiting);
    void run_calls();
    void run(Call& call);  // reports errors in the response, never throws
    void perform(Call& call);
    void finish_deferred();
    bool try_finish(Deferred& one);  // true if answered
    bool waits_for_others(const Deferred& one, const std::vector<Deferred>& all) const;
    void send(const Reply& reply, const Result& result) const;
    // Runs `begin` as part of an operation. The response is `result`, sent when the operation is complete.
    void operate(Call& call, const std::function<void()>& begin, std::function<Result()> result);
    std::shared_ptr<Operation> new_operation() const;
    std::filesystem::path file_of(const Call& call, const char* name) const;  // absolute path in an allowed folder

    // ---- setting_calls.cpp
    static bool is_setting_call(const Call& call);
    std::size_t apply(std::span<Call> asked);  // returns the number of answered requests
    bool try_apply(const Values& values);
    void answer_setting_call(const Call& call);
    void describe(Call& call);
    Json values_object(const std::vector<std::string>& keys) const;
    std::vector<std::string> keys_of(const Call& call) const;

    // ---- work_calls.cpp
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

    // ---- file_calls.cpp
    void save(Call& call);
    void movie(Call& call);

    // ---- voxel_calls.cpp
    void snapshot(Call& call);
    void volume(Call& call);
    void b_scan(Call& call);
    void a_scan(Call& call);
    void probe(Call& call);
    void read_voxels(Call& call, std::function<Result(const Volume&)> part);
    bool begin_reading(const std::function<Result(const Volume&)>& part, const std::shared_ptr<Result>& result);

    // ---- facts.cpp
    void state(Call& call);
    void statistics(Call& call);
    Json state_object(const Connection* of) const;
    Json statistics_object() const;

    // ---- subscriptions.cpp
    void subscribe(Call& call);
    void unsubscribe(Call& call);
    void tell_subscribers();
    Values settings_now() const;
    std::string state_line() const;
    void tell(Subscription& to, Current& current);
    void tell_settings(Subscription& to, Current& current);
    void tell_notices(Subscription& to, Current& current);
    void tell_state(Subscription& to, Current& current);
    void tell_statistics(Subscription& to, Current& current);
    void tell_volumes(Subscription& to, Current& current);
    void begin_sending(Subscription& to);
    void send_voxels(Subscription& to);

    Exhibit& shown() const;  // throws Error{bad_setting} if nothing is open

    Workspace& work;
    ControlOptions options;
    KnownSettings settings;
    Values set_views;  // view settings that were set; applied again to volumes opened later
    std::deque<Call> calls;
    std::vector<Deferred> deferred;
    std::map<std::uint64_t, Subscription> subscriptions;  // by connection id
    std::optional<Clock::time_point> edited;  // time of the last set, while the next one may join its undo step
    ConnectionPtr shut_down_by;               // nullptr unless the end was requested
    Clock::time_point shut_down_at;           // time of that request
};

// Describes type, shape and scaling of voxels. Defined in voxel_calls.cpp.
nlohmann::ordered_json grid_object(const VolumeGrid& grid);

std::vector<std::string> texts_of(const nlohmann::json& params, const char* name);  // empty if the parameter is absent

}  // namespace echolux
