// What Control is made of, for its own files: requests that wait for the next turn, those whose work goes on, and what
// connections want to be told.
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
#include "ui/control/methods.h"
#include "ui/control/reply.h"

namespace echolux {

struct Control::Parts {
    using Clock = std::chrono::steady_clock;
    using Json = nlohmann::ordered_json;
    using Data = std::vector<std::byte>;

    // A request that is one, and may be asked for by who asks.
    struct Call {
        const ControlMethod* method;
        nlohmann::json params;
        Reply reply;
        Values values{};                   // of `set`: checked
        std::optional<Refusal> refusal{};  // of `set`
        bool is_applied = false;           // of `set`: only its answer is missing
    };

    // What goes with an answer: bytes beside the JSON, or in it.
    struct Result {
        Json json;
        std::shared_ptr<const Data> data{};  // nullptr: none
    };

    // A request whose work goes on in jobs.
    struct Deferred {
        Reply reply;
        std::shared_ptr<Operation> operation;
        std::function<Result()> result;          // once the work is done. Throws Error
        std::function<bool()> begins{};          // false: not yet, to be asked again; empty: it has begun
        bool is_reading = false;                 // of voxels: a few of a connection at a time
        Clock::time_point since = Clock::now();  // that it waits to begin
    };

    struct Subscription {
        ConnectionPtr to;
        std::set<std::string> topics;
        std::optional<double> every_s{};  // nothing: as usual for the topic
        bool wants_voxels = false;
        std::map<std::string, Clock::time_point> told{};  // by topic
        Values settings{};                                // as they were told
        std::string state{};                              //
        std::pair<std::uint64_t, std::int64_t> notice{};  // number and times of the last one
        std::string volume{};                             // what was told of it
        std::shared_ptr<Operation> sending{};             // of voxels, which lie here when it is done
        std::shared_ptr<Result> voxels{};
    };

    // What holds in one turn, made once for all subscribers.
    struct Current {
        std::optional<Values> settings{};
        std::optional<std::string> state{}, statistics{};
    };

    Parts(Workspace& workspace, ControlOptions wanted);

    // ---- control.cpp
    void take(const ConnectionPtr& from, Request request, const std::shared_ptr<BatchAnswers>& batch,
              const std::shared_ptr<void>& waiting);
    void run_calls();
    void run(Call& call);  // never an error
    void perform(Call& call);
    void finish_deferred();
    bool try_finish(Deferred& one);  // whether it is answered
    bool waits_for_others(const Deferred& one, const std::vector<Deferred>& all) const;
    void send(const Reply& reply, const Result& result) const;
    // Does `begin` as part of one operation; answered with `result` when all of it is done.
    void operate(Call& call, const std::function<void()>& begin, std::function<Result()> result);
    std::shared_ptr<Operation> new_operation() const;
    std::filesystem::path file_of(const Call& call, const char* name) const;  // whole, in an allowed folder

    // ---- setting_calls.cpp
    static bool is_setting_call(const Call& call);
    std::size_t apply(std::span<Call> asked);  // how many are done
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

    Exhibit& shown() const;  // Throws Error{bad_setting}: nothing is open

    Workspace& work;
    ControlOptions options;
    KnownSettings settings;
    Values set_views;  // of the view, that were set: what is opened next has them as well
    std::deque<Call> calls;
    std::vector<Deferred> deferred;
    std::map<std::uint64_t, Subscription> subscriptions;  // by connection
    std::optional<Clock::time_point> edited;              // an edit that may be joined by the next
    ConnectionPtr shut_down_by;                           // nullptr: nobody asked for the end
    Clock::time_point shut_down_at;                       //
};

// Voxels of a volume or a part of it, with what they mean. In voxel_calls.cpp.
nlohmann::ordered_json grid_object(const VolumeGrid& grid);

std::vector<std::string> texts_of(const nlohmann::json& params, const char* name);  // none: there is no such parameter

}  // namespace echolux
