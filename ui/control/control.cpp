#include "ui/control/control.h"

#include <algorithm>
#include <array>
#include <utility>

#include "compute/error.h"
#include "engine/io/allowed_folders.h"
#include "ui/control/control_parts.h"

namespace echolux {
namespace {

constexpr std::size_t max_calls = 20'000;  // per connection
constexpr std::size_t max_deferred = 64;   // per connection

Refusal too_many(const std::string& what) {
    return {RpcCode::too_many,
            Error(ErrorCode::bad_setting, what, "request", "wait for answers before asking for more")};
}

}  // namespace

Control::Parts::Parts(Workspace& workspace, ControlOptions wanted)
    : work(workspace), options(std::move(wanted)), settings(workspace) {
    if (options.folders == nullptr) options.folders = std::make_shared<const AllowedFolders>(AllowedFolders({}));
}

// Checks a request and queues it for the next update(). A refused request is answered at once. Settings are checked
// here, so that update() can merge the values of several requests.
void Control::Parts::take(const ConnectionPtr& from, Request request, const std::shared_ptr<BatchAnswers>& batch,
                          const std::shared_ptr<void>& waiting) {
    const Reply reply(from, request, batch, waiting);
    try {
        if (request.refusal) throw Refusal(*request.refusal);
        const ControlMethod& method = method_named(request.method);
        if (method.who == Who::steer && !from->may_steer()) {
            throw Refusal(RpcCode::not_allowed,
                          Error(ErrorCode::bad_setting, "needs the right to steer", std::string(method.name),
                                "show a token that steers; over OpenIGTLink, start with `--igtl-steer`"));
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
    } catch (const Refusal& refusal) {
        call.reply.refuse(refusal);
    } catch (const Error& error) {
        call.reply.refuse(error);
    } catch (const std::exception& error) {  // from the standard library: out of memory
        call.reply.refuse(
            {RpcCode::internal_error, Error(ErrorCode::device, error.what(), std::string(call.method->name))});
    }
}

void Control::Parts::perform(Call& call) {
    switch (call.method->method) {
        case RpcMethod::describe: return describe(call);
        case RpcMethod::state: return state(call);
        case RpcMethod::statistics: return statistics(call);
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
        case RpcMethod::subscribe: return subscribe(call);
        case RpcMethod::unsubscribe: return unsubscribe(call);
        case RpcMethod::shutdown: return shutdown(call);
        case RpcMethod::get:
        case RpcMethod::set: return;  // handled by apply()
    }
}

// The operation restricts the files that its jobs may name.
std::shared_ptr<Operation> Control::Parts::new_operation() const {
    return std::make_shared<Operation>(Operation{std::nullopt, options.folders});
}

// Answers when `begin` and all jobs that it started are done.
void Control::Parts::operate(Call& call, const std::function<void()>& begin, std::function<Result()> result) {
    const std::shared_ptr<Operation> operation = new_operation();
    work.perform(operation, begin);
    deferred.push_back({call.reply, operation, std::move(result)});
}

void Control::Parts::send(const Reply& reply, const Result& result) const {
    if (result.data == nullptr) return reply.result(result.json);
    reply.result(result.json, result.data);
}

// Limits how much voxel data is copied per connection: at most two requests are read at a time, and none while the
// client is more than 1 MiB behind.
bool Control::Parts::waits_for_others(const Deferred& one, const std::vector<Deferred>& all) const {
    constexpr std::ptrdiff_t at_a_time = 2;
    constexpr std::size_t behind = 1 << 20;  // bytes not yet received by the client
    const Connection& asks = one.reply.connection();
    const auto reads = [&](const Deferred& other) {
        return other.is_reading && !other.begins && other.reply.connection().id() == asks.id();
    };
    return one.is_reading && (asks.waiting_bytes() > behind || std::ranges::count_if(all, reads) >= at_a_time);
}

// Returns true if the request has been answered. The operation is complete when no job holds it.
bool Control::Parts::try_finish(Deferred& one) {
    constexpr std::chrono::seconds longest_wait(60);  // until it begins
    if (one.begins && !one.operation->error) {
        if (Clock::now() - one.since > longest_wait) {
            throw Error(ErrorCode::output, "there is no volume yet", "", "start the source, or wait for its first");
        }
        bool has_begun = false;
        work.perform(one.operation, [&] { has_begun = one.begins(); });
        if (has_begun) one.begins = nullptr;
    }
    if (one.begins != nullptr || one.operation.use_count() > 1) return false;
    if (one.operation->error) throw Error(*one.operation->error);
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
        } catch (const Error& error) {
            one.reply.refuse(error);
        } catch (const std::exception& error) {  // from the standard library: out of memory
            one.reply.refuse({RpcCode::internal_error, Error(ErrorCode::device, error.what(), "")});
        }
        return true;
    });
    deferred.insert(deferred.begin(), std::make_move_iterator(all.begin()), std::make_move_iterator(all.end()));
}

// Throws Error if the name in parameter `name` is outside the allowed folders.
std::filesystem::path Control::Parts::file_of(const Call& call, const char* name) const {
    return options.folders->within(call.params.at(name).get<std::string>());
}

Exhibit& Control::Parts::shown() const {
    if (Exhibit* exhibit = work.stage().exhibit()) return *exhibit;
    throw Error(ErrorCode::bad_setting, "nothing is open", "", "`open` a file or a source first");
}

std::vector<std::string> texts_of(const nlohmann::json& params, const char* name) {
    const auto found = params.find(name);
    return found == params.end() ? std::vector<std::string>() : texts_of(*found);
}

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

// A sequence of set requests with pauses of less than 0.5 s is one undo step.
void Control::update() {
    Parts& parts = *parts_;
    constexpr std::chrono::milliseconds edit_ends_after(500);
    parts.run_calls();
    if (parts.edited && Parts::Clock::now() - *parts.edited > edit_ends_after) {
        parts.edited.reset();
        parts.work.end_edit();
    }
    parts.finish_deferred();
    parts.tell_subscribers();
}

// Pending work is polled every 5 ms, subscriptions every 20 ms.
double Control::patience_s() const {
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
