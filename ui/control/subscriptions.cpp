// News for those who asked for them. A client that does not take what it is sent is told less often, and then of what
// holds by then: nothing piles up.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "ui/control/control_parts.h"

namespace echolux {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::array<const char*, 5> topics{"settings", "statistics", "notices", "state", "volumes"};
constexpr std::size_t behind = 1 << 20;  // bytes that a client has not taken
constexpr double statistics_every_s = 0.2;

std::vector<std::string> checked_topics(const nlohmann::json& params) {
    std::vector<std::string> wanted = texts_of(params, "topics");
    for (const std::string& topic : wanted) {
        if (std::ranges::count(topics, topic) > 0) continue;
        const std::vector<std::string_view> names(topics.begin(), topics.end());
        const std::string near = nearest_name(topic, names);
        throw Refusal(RpcCode::invalid_params,
                      Error(ErrorCode::bad_setting, "is not a topic", topic.substr(0, 100),
                            near.empty() ? "there are settings, statistics, notices, state, volumes"
                                         : "did you mean \"" + near + "\"?"));
    }
    return wanted;
}

Json object_of(const Notice& notice) {
    Json json{{"number", notice.number}, {"time_s", notice.time_s}, {"trouble", notice.is_trouble},
              {"place", notice.place},   {"line", notice.line},     {"times", notice.times}};
    if (!notice.file.path.empty()) json["file"] = notice.file.path.string();
    return json;
}

}  // namespace

// What is so already is not news.
void Control::Parts::subscribe(Call& call) {
    const std::vector<std::string> wanted = checked_topics(call.params);
    Subscription& to = subscriptions[call.reply.connection().id()];
    to.to = call.reply.shared_connection();
    for (const std::string& topic : wanted) to.topics.insert(topic);
    if (call.params.contains("every_s")) {
        to.every_s = call.params["every_s"];
        to.wants_every_s = true;
        if (!(to.every_s >= 0 && to.every_s <= 3600)) {
            to.wants_every_s = false;
            throw Error(ErrorCode::bad_setting, "expected a number from 0 to 3600 s", "subscribe, every_s");
        }
    }
    to.wants_voxels = call.params.value("voxels", to.wants_voxels);
    for (const BoundField& field : work.fields()) to.settings[field.key()] = field.get();
    to.state = line_of(state_object(nullptr));
    if (!work.notices().all().empty()) {
        const Notice& newest = work.notices().all().back();
        to.notice = {newest.number, newest.times};
    }
    call.reply.result({{"topics", to.topics}});
}

void Control::Parts::unsubscribe(Call& call) {
    const std::vector<std::string> wanted = checked_topics(call.params);
    Subscription& to = subscriptions[call.reply.connection().id()];
    for (const std::string& topic : wanted) to.topics.erase(topic);
    if (wanted.empty()) to.topics.clear();
    call.reply.result({{"topics", to.topics}});
    if (to.topics.empty()) subscriptions.erase(call.reply.connection().id());
}

void Control::Parts::tell_subscribers() {
    std::erase_if(subscriptions,
                  [](const auto& entry) { return entry.second.to == nullptr || !entry.second.to->is_open(); });
    for (auto& [connection, to] : subscriptions) {
        try {
            send_voxels(to);
            if (to.to->waiting_bytes() < behind) tell(to);
        } catch (const std::exception&) {  // no memory, or the device is lost: the others are told, it comes back
            to.sending.reset();
            to.voxels.reset();
        }
    }
}

void Control::Parts::tell(Subscription& to) {
    using Tells = void (Parts::*)(Subscription&);
    constexpr std::array<Tells, topics.size()> tells{&Parts::tell_settings, &Parts::tell_statistics,
                                                     &Parts::tell_notices, &Parts::tell_state, &Parts::tell_volumes};
    const Clock::time_point now = Clock::now();
    for (std::size_t i = 0; i < topics.size(); ++i) {
        const std::string topic = topics.at(i);
        if (!to.topics.contains(topic)) continue;
        const double every_s = to.wants_every_s ? to.every_s : topic == "statistics" ? statistics_every_s : 0;
        const auto last = to.told.find(topic);
        if (last != to.told.end() && std::chrono::duration<double>(now - last->second).count() < every_s) continue;
        to.told[topic] = now;
        (this->*tells.at(i))(to);
    }
}

void Control::Parts::tell_settings(Subscription& to) {
    Values now;
    for (const BoundField& field : work.fields()) now.emplace(field.key(), field.get());
    Json changed = Json::object();
    for (const auto& [key, value] : now) {
        const auto before = to.settings.find(key);
        if (before == to.settings.end() || before->second != value) changed[key] = echolux::object_of(value);
    }
    if (changed.empty()) return;
    to.settings = std::move(now);
    to.to->send_text(line_of(notification("settings", {{"values", std::move(changed)}})));
}

void Control::Parts::tell_notices(Subscription& to) {
    for (const Notice& notice : work.notices().all()) {
        const std::pair is(notice.number, notice.times);
        if (is <= to.notice) continue;
        to.notice = is;
        to.to->send_text(line_of(notification("notices", object_of(notice))));
    }
}

void Control::Parts::tell_state(Subscription& to) {
    Json state = state_object(nullptr);
    std::string text = line_of(state);
    if (text == to.state) return;
    to.state = std::move(text);
    to.to->send_text(line_of(notification("state", std::move(state))));
}

void Control::Parts::tell_statistics(Subscription& to) {
    to.to->send_text(line_of(notification("statistics", statistics_object())));
}

// The number of the volume or of the time point; with voxels, those of the newest one, and no other before they left.
void Control::Parts::tell_volumes(Subscription& to) {
    Exhibit* exhibit = work.stage().exhibit();
    if (exhibit == nullptr || !exhibit->grid() || to.sending) return;
    const std::optional<VolumeStamp> stamp = exhibit->stamp();
    std::string now =
        fmt::format("{} {} {}", static_cast<const void*>(exhibit), exhibit->news(), stamp ? stamp->volume : -1);
    if (now == to.volume || (to.wants_voxels && to.to->waiting_bytes() > 0)) return;
    to.volume = std::move(now);
    if (to.wants_voxels) return begin_sending(to);
    Json json = grid_object(*exhibit->grid());
    if (stamp) json.update({{"volume", stamp->volume}, {"time_s", stamp->time_s}});
    to.to->send_text(line_of(notification("volumes", std::move(json))));
}

void Control::Parts::begin_sending(Subscription& to) {
    to.voxels = std::make_shared<Result>();
    to.sending = new_operation();
    const auto whole = [](const Volume& volume) -> Result {
        return {grid_object(volume.grid), std::make_shared<const Data>(volume.voxels)};
    };
    work.perform(to.sending, [&] {
        if (!begin_reading(whole, to.voxels)) to.volume.clear();
    });
}

void Control::Parts::send_voxels(Subscription& to) {
    if (!to.sending || to.sending.use_count() > 1) return;
    to.sending.reset();
    const std::shared_ptr<Result> packed = std::exchange(to.voxels, nullptr);
    if (packed->data == nullptr) return;  // it failed, or there was none yet
    packed->json["bytes"] = packed->data->size();
    to.to->send_both(line_of(notification("volumes", std::move(packed->json))), packed->data);
}

}  // namespace echolux
