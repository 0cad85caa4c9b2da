// Notifications for subscribers. A slow client receives fewer of them, always with current values, so no queue builds
// up.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "app/jobs/jobs.h"
#include "app/viewer/view_source.h"
#include "compute/plan/describe.h"
#include "ui/control/facts.h"
#include "ui/control/message.h"

namespace echolux {

class Subscriptions {
  public:
    // Jobs may read and write files in `folders`.
    Subscriptions(Workspace& work, std::shared_ptr<const AllowedFolders> folders)
        : work_(work), folders_(std::move(folders)) {}

    // Answer the methods of these names.
    void subscribe(const nlohmann::json& params, const Reply& reply);
    void unsubscribe(const nlohmann::json& params, const Reply& reply);

    // Sends what is due. Call it once per turn.
    void notify_all_clients();

    void erase(std::uint64_t connection) { by_connection_.erase(connection); }
    bool empty() const { return by_connection_.empty(); }

  private:
    using Clock = std::chrono::steady_clock;

    using ShownVolume = std::pair<const ViewSource*, std::optional<VolumeRevision>>;

    // Topics of one connection, and the values last sent to it.
    struct Subscription {
        ConnectionPtr to;
        std::set<std::string> topics;
        std::optional<double> every_s{};  // nullopt: default of the topic
        bool wants_voxels = false;
        std::map<std::string, Clock::time_point> sent_at{};  // time of the last notification by topic
        Values settings{};                                   // values last sent
        std::uint64_t revision = 0;                          // of these
        std::string state{};                                 // last "state" notification
        std::pair<std::uint64_t, std::int64_t> notice{};     // number and repetitions of the last notice
        std::optional<ShownVolume> volume{};                 // of the last notification
        std::shared_ptr<UserRequest> sending{};              // request that packs voxels; its result is in `voxels`
        std::shared_ptr<ResponseContent> voxels{};
    };

    // Values computed once per turn for all subscribers, on first use.
    struct Current {
        std::optional<Values> settings{};
        std::optional<std::string> state{}, statistics{};
    };

    Values settings_now() const;
    std::string state_line() const;
    void notify(Subscription& to, Current& current);
    void notify_settings(Subscription& to, Current& current);
    void notify_notices(Subscription& to, Current& current);
    void notify_state(Subscription& to, Current& current);
    void notify_statistics(Subscription& to, Current& current);
    void notify_volumes(Subscription& to, Current& current);
    void begin_sending(Subscription& to);
    void send_voxels(Subscription& to);

    Workspace& work_;
    std::shared_ptr<const AllowedFolders> folders_;
    std::map<std::uint64_t, Subscription> by_connection_;  // by id
};

}  // namespace echolux
