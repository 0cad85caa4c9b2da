#include "ui/control/control.h"

#include <algorithm>
#include <array>
#include <utility>

#include "compute/error.h"
#include "engine/io/allowed_folders.h"
#include "ui/control/control_parts.h"

namespace echolux {
namespace {

constexpr std::size_t max_calls = 20'000;  // of all connections, between two turns
constexpr std::size_t max_deferred = 64;   // of one connection

Refusal too_many(const std::string& what) {
    return {RpcCode::too_many,
            Error(ErrorCode::bad_setting, what, "request", "wait for answers before asking for more")};
}

}  // namespace

Control::Parts::Parts(Workspace& workspace, ControlOptions wanted)
    : work(workspace), options(std::move(wanted)), settings(workspace) {
    if (options.folders == nullptr) options.folders = std::make_shared<const AllowedFolders>(AllowedFolders({}));
}

void Control::Parts::take(const ConnectionPtr& from, Request request, const std::shared_ptr<BatchAnswers>& batch) {
    const Reply reply(from, request, batch);
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
                          Error(ErrorCode::bad_setting, "bytes cannot follow the answer of a batch",
                                std::string(method.name) + ", encoding", "ask by itself, or for base64"));
        }
        if (calls.size() >= max_calls) throw too_many("comes faster than it can be answered");
        if (method.name == "set") {
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

void Control::Parts::run(Call& call) {
    using Handler = void (Parts::*)(Call&);
    static const std::map<std::string_view, Handler> handlers{
        {"describe", &Parts::describe}, {"state", &Parts::state},         {"statistics", &Parts::statistics},
        {"open", &Parts::open},         {"close", &Parts::close},         {"start", &Parts::start},
        {"stop", &Parts::stop},         {"record", &Parts::record},       {"stop_recording", &Parts::stop_recording},
        {"snapshot", &Parts::snapshot}, {"volume", &Parts::volume},       {"b_scan", &Parts::b_scan},
        {"a_scan", &Parts::a_scan},     {"probe", &Parts::probe},         {"save", &Parts::save},
        {"movie", &Parts::movie},       {"calibrate", &Parts::calibrate}, {"go_to", &Parts::go_to},
        {"action", &Parts::action},     {"subscribe", &Parts::subscribe}, {"unsubscribe", &Parts::unsubscribe},
        {"shutdown", &Parts::shutdown},
    };
    try {
        const std::uint64_t asks = call.reply.connection().id();
        const auto waits = [asks](const Deferred& one) { return one.reply.connection().id() == asks; };
        if (std::ranges::count_if(deferred, waits) >= static_cast<std::ptrdiff_t>(max_deferred)) {
            throw too_many("has 64 requests under way");
        }
        (this->*handlers.at(call.method->name))(call);
    } catch (const Refusal& refusal) {
        call.reply.refuse(refusal);
    } catch (const Error& error) {
        call.reply.refuse(error);
    } catch (const std::exception& error) {  // of the standard library: no memory
        call.reply.refuse(
            {RpcCode::internal_error, Error(ErrorCode::device, error.what(), std::string(call.method->name))});
    }
}

std::shared_ptr<Operation> Control::Parts::new_operation() const {
    return std::make_shared<Operation>(Operation{std::nullopt, options.folders});
}

void Control::Parts::operate(Call& call, const std::function<void()>& begin, std::function<Result()> result) {
    const std::shared_ptr<Operation> operation = new_operation();
    work.perform(operation, begin);
    deferred.push_back({call.reply, operation, std::move(result)});
}

void Control::Parts::send(const Reply& reply, const Result& result) const {
    if (result.data == nullptr) return reply.result(result.json);
    reply.result(result.json, *result.data);
}

void Control::Parts::finish_deferred() {
    constexpr std::chrono::seconds longest_wait(60);  // to begin
    std::vector<Deferred> going_on;
    for (Deferred& one : std::exchange(deferred, {})) {
        try {
            if (one.begins && !one.operation->error) {
                if (Clock::now() - one.since > longest_wait) {
                    throw Error(ErrorCode::output, "there is no volume yet", "",
                                "start the source, or wait for its first");
                }
                bool has_begun = false;
                work.perform(one.operation, [&] { has_begun = one.begins(); });
                if (has_begun) one.begins = nullptr;
            }
            const bool goes_on = one.begins != nullptr || one.operation.use_count() > 1;
            if (one.operation->error && !goes_on) throw Error(*one.operation->error);
            if (!goes_on) {
                send(one.reply, one.result());
                continue;
            }
            going_on.push_back(std::move(one));
        } catch (const Error& error) {
            one.reply.refuse(error);
        }
    }
    deferred.insert(deferred.begin(), std::make_move_iterator(going_on.begin()),
                    std::make_move_iterator(going_on.end()));
}

std::filesystem::path Control::Parts::file_of(const Call& call, const char* name) const {
    return options.folders->within(call.params.at(name).get<std::string>());
}

Exhibit& Control::Parts::shown() const {
    if (Exhibit* exhibit = work.stage().exhibit()) return *exhibit;
    throw Error(ErrorCode::bad_setting, "nothing is open", "", "`open` a file or a source first");
}

std::vector<std::string> texts_of(const nlohmann::json& params, const char* name) {
    const auto found = params.find(name);
    if (found == params.end()) return {};
    if (found->is_string()) return {found->get<std::string>()};
    return found->get<std::vector<std::string>>();
}

Control::Control(Workspace& work, ControlOptions options) : parts_(std::make_unique<Parts>(work, std::move(options))) {}
Control::~Control() = default;

void Control::handle(const ConnectionPtr& from, std::string_view text) {
    Message message = parsed_message(text);
    const auto batch = message.is_batch ? std::make_shared<BatchAnswers>() : nullptr;
    if (batch) batch->waiting = message.requests.size();
    for (Request& request : message.requests) parts_->take(from, std::move(request), batch);
}

void Control::gone(std::uint64_t connection) {
    const auto is_its = [connection](const auto& one) { return one.reply.connection().id() == connection; };
    std::erase_if(parts_->calls, is_its);
    std::erase_if(parts_->deferred, is_its);
    parts_->subscriptions.erase(connection);
}

void Control::update() {
    Parts& parts = *parts_;
    constexpr std::chrono::milliseconds edit_ends_after(500);
    std::vector<Parts::Call> calls(std::make_move_iterator(parts.calls.begin()),
                                   std::make_move_iterator(parts.calls.end()));
    parts.calls.clear();
    std::size_t done = 0;
    while (done < calls.size()) {
        std::size_t end = done;
        while (end < calls.size() && Parts::is_setting_call(calls[end])) ++end;
        if (end == done) {
            parts.run(calls[done++]);
            continue;
        }
        done += parts.apply(std::span(calls).subspan(done, end - done));
        if (done < end) break;  // no time left: the others come with the next turn
    }
    parts.calls.insert(parts.calls.begin(), std::make_move_iterator(calls.begin() + static_cast<std::ptrdiff_t>(done)),
                       std::make_move_iterator(calls.end()));
    if (parts.edited && Parts::Clock::now() - *parts.edited > edit_ends_after) {
        parts.edited.reset();
        parts.work.end_edit();
    }
    parts.finish_deferred();
    parts.tell_subscribers();
}

bool Control::is_busy() const {
    return !parts_->calls.empty() || !parts_->deferred.empty();
}

// Once the answer has left, so that whoever asked knows.
bool Control::is_shut_down() const {
    constexpr std::chrono::seconds longest(1);
    const ConnectionPtr& by = parts_->shut_down_by;
    if (by == nullptr) return false;
    return !by->is_open() || by->waiting_bytes() == 0 || Parts::Clock::now() - parts_->shut_down_at > longest;
}

}  // namespace echolux
