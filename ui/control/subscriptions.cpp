#include "ui/control/subscriptions.h"

#include <algorithm>
#include <array>
#include <utility>

#include "compute/error.h"
#include "ui/control/known_settings.h"
#include "ui/control/methods.h"

namespace echolux {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t behind = 1 << 20;  // bytes not yet received by the client
constexpr double statistics_every_s = 0.2;

Json object_of(const Notice& notice) {
    Json json{{"number", notice.number}, {"time_s", notice.time_s}, {"trouble", notice.is_problem},
              {"place", notice.place},   {"line", notice.line},     {"times", notice.times}};
    if (!notice.file.path.empty()) json["file"] = notice.file.path.string();
    return json;
}

}  // namespace

// Changes are reported from now on: current values count as known to the client.
void Subscriptions::subscribe(const nlohmann::json& params, const Reply& reply) {
    std::optional<double> every_s;
    if (params.contains("every_s")) {
        every_s = params["every_s"].get<double>();
        if (!(*every_s >= 0 && *every_s <= 3600))
            throw Error(ErrorCode::bad_setting, "expected a number from 0 to 3600 s", "subscribe, every_s");
    }
    Subscription& to = by_connection_[reply.connection().id()];
    to.to = reply.shared_connection();
    for (const std::string& topic : texts_of(params, "topics")) to.topics.insert(topic);
    if (every_s) to.every_s = every_s;
    to.wants_voxels = params.value("voxels", to.wants_voxels);
    to.settings = settings_now();
    to.revision = work_.settings().revision();
    to.state = state_line();
    if (!work_.notices().all().empty()) {
        const Notice& newest = work_.notices().all().back();
        to.notice = {newest.number, newest.times};
    }
    reply.result({{"topics", to.topics}});
}

void Subscriptions::unsubscribe(const nlohmann::json& params, const Reply& reply) {
    const std::vector<std::string> wanted = texts_of(params, "topics");
    Subscription& to = by_connection_[reply.connection().id()];
    for (const std::string& topic : wanted) to.topics.erase(topic);
    if (wanted.empty()) to.topics.clear();
    reply.result({{"topics", to.topics}});
    if (to.topics.empty()) by_connection_.erase(reply.connection().id());
}

void Subscriptions::notify_all_clients() {
    std::erase_if(by_connection_,
                  [](const auto& entry) { return entry.second.to == nullptr || !entry.second.to->is_open(); });
    Current current;
    for (auto& [connection, to] : by_connection_) {
        try {
            send_voxels(to);
            if (to.to->waiting_bytes() < behind) notify(to, current);
            // out of memory or device lost: continue with other subscribers, as both may pass
        } catch (const std::exception&) {
            to.sending.reset();
            to.voxels.reset();
        }
    }
}

// Sends the topics whose interval has passed.
void Subscriptions::notify(Subscription& to, Current& current) {
    using NotifyFunction = void (Subscriptions::*)(Subscription&, Current&);
    constexpr std::array<NotifyFunction, control_topics.size()> notify_functions{
        &Subscriptions::notify_settings, &Subscriptions::notify_statistics, &Subscriptions::notify_notices,
        &Subscriptions::notify_state, &Subscriptions::notify_volumes};
    const Clock::time_point now = Clock::now();
    for (std::size_t i = 0; i < control_topics.size(); ++i) {
        const std::string topic(control_topics.at(i));
        if (!to.topics.contains(topic)) continue;
        const double every_s = to.every_s.value_or(topic == "statistics" ? statistics_every_s : 0);
        const auto last = to.sent_at.find(topic);
        if (last != to.sent_at.end() && std::chrono::duration<double>(now - last->second).count() < every_s) continue;
        to.sent_at[topic] = now;
        (this->*notify_functions.at(i))(to, current);
    }
}

Values Subscriptions::settings_now() const {
    Values now;
    for (const BoundField& field : work_.settings().fields()) now.emplace(field.key(), field.get());
    return now;
}

// Sends only changed values.
void Subscriptions::notify_settings(Subscription& to, Current& current) {
    if (std::exchange(to.revision, work_.settings().revision()) == work_.settings().revision()) return;
    if (!current.settings) current.settings = settings_now();
    Json changed = Json::object();
    for (const auto& [key, value] : *current.settings) {
        const auto before = to.settings.find(key);
        if (before == to.settings.end() || before->second != value) changed[key] = echolux::object_of(value);
    }
    to.settings = *current.settings;
    if (changed.empty()) return;
    to.to->send_text(line_of(notification("settings", {{"values", std::move(changed)}})));
}

void Subscriptions::notify_notices(Subscription& to, Current&) {
    for (const Notice& notice : work_.notices().all()) {
        const std::pair is(notice.number, notice.times);
        if (is <= to.notice) continue;
        to.notice = is;
        to.to->send_text(line_of(notification("notices", object_of(notice))));
    }
}

std::string Subscriptions::state_line() const {
    return line_of(notification("state", state_object(work_, nullptr)));
}

void Subscriptions::notify_state(Subscription& to, Current& current) {
    if (!current.state) current.state = state_line();
    if (*current.state == to.state) return;
    to.state = *current.state;
    to.to->send_text(to.state);
}

void Subscriptions::notify_statistics(Subscription& to, Current& current) {
    if (!current.statistics) current.statistics = line_of(notification("statistics", statistics_object(work_)));
    to.to->send_text(*current.statistics);
}

// Sends the number of the volume or time point. With voxels, only the newest volume is sent, and only after the
// previous one has left.
void Subscriptions::notify_volumes(Subscription& to, Current&) {
    ViewSource* view_source = work_.viewer().view_source();
    if (view_source == nullptr || !view_source->grid() || to.sending) return;
    const std::optional<VolumeStamp> stamp = view_source->stamp();
    const ShownVolume now{view_source, view_source->revision()};
    if (now == to.volume || (to.wants_voxels && to.to->waiting_bytes() > 0)) return;
    to.volume = now;
    if (to.wants_voxels) return begin_sending(to);
    Json json = grid_object(*view_source->grid());
    if (stamp) json.update({{"volume", stamp->volume}, {"time_s", stamp->time_s}});
    to.to->send_text(line_of(notification("volumes", std::move(json))));
}

// Starts to read and pack the volume in a job. If none is available, the next turn tries again.
void Subscriptions::begin_sending(Subscription& to) {
    to.voxels = std::make_shared<ResponseContent>();
    to.sending = std::make_shared<UserRequest>(UserRequest{std::nullopt, folders_});
    const auto whole = [](const Volume& volume) -> ResponseContent {
        return {grid_object(volume.grid), std::make_shared<const std::vector<std::byte>>(volume.voxels)};
    };
    work_.jobs().belong(to.sending, [&] {
        if (!begin_reading(work_, whole, to.voxels)) to.volume.reset();
    });
}

// Sends the voxels once the job has packed them.
void Subscriptions::send_voxels(Subscription& to) {
    if (!to.sending || to.sending.use_count() > 1) return;
    to.sending.reset();
    const std::shared_ptr<ResponseContent> packed = std::exchange(to.voxels, nullptr);
    if (packed->data == nullptr) return;  // the job failed, or no volume was available
    packed->json["bytes"] = packed->data->size();
    to.to->send_both(line_of(notification("volumes", std::move(packed->json))), packed->data);
}

}  // namespace echolux
