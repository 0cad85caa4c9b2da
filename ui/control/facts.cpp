// Responses about the current state and the statistics.
#include <algorithm>

#include "app/live/live_report.h"
#include "app/stage/kept_time.h"
#include "app/stage/live_session.h"
#include "engine/version.h"
#include "ui/control/control_parts.h"

namespace echolux {

void Control::Parts::state(Call& call) {
    call.reply.result(state_object(&call.reply.connection()));
}

void Control::Parts::statistics(Call& call) {
    call.reply.result(statistics_object());
}

// `of` is the client that asks; without one (notifications), its rights are omitted.
Control::Parts::Json Control::Parts::state_object(const Connection* of) const {
    Json json{{"program", "echolux"}, {"version", version}};
    if (of != nullptr) json["may_steer"] = of->may_steer();
    Exhibit* exhibit = work.stage().exhibit();
    json["is_open"] = exhibit != nullptr;
    if (exhibit != nullptr) {
        json["name"] = exhibit->name();
        json["way"] = exhibit->way();
        const std::optional<VolumeGrid> grid = exhibit->grid();
        json["grid"] = grid ? grid_object(*grid) : Json(nullptr);
        // Series and live sources both have time points, with different members.
        if (const Timeline* time = exhibit->timeline()) {
            json["time_point"] = time->step();
            json["time_points"] = time->steps();
            json["plays"] = time->plays();
        } else if (const KeptTime* kept = exhibit->kept_time()) {
            json["time_point"] = kept->step();
            json["time_points"] = std::ssize(kept->volumes());
            json["max_time_points"] = kept->max_volumes();
            json["plays"] = !kept->is_paused();
            json["ago_s"] = kept->ago_s();
        }
    }
    const LiveSession* live = work.live();
    json["is_live"] = live != nullptr && !live->is_recorded();
    json["is_running"] = live != nullptr && live->is_running();
    json["is_recording"] = live != nullptr && live->is_recording();
    json["cross_um"] = work.cross_um();
    json["jobs"] = Json::array();
    for (const JobState& job : work.jobs().states()) {
        json["jobs"].push_back(
            {{"title", job.title}, {"task", job.task}, {"done", job.done}, {"total", job.total}, {"unit", job.unit}});
    }
    json["troubles"] = Json::array();
    for (const Notice& notice : work.notices().all()) {
        if (notice.is_trouble && notice.stands)
            json["troubles"].push_back({{"place", notice.place}, {"line", notice.line}});
    }
    return json;
}

// Same keys as `echolux live --json`, without those that describe a complete run.
Control::Parts::Json Control::Parts::statistics_object() const {
    Json json = Json::object();
    if (const LiveSession* live = work.live()) {
        LiveReport report;
        report.source = work.stage().exhibit()->name();
        report.way = work.stage().exhibit()->way();
        report.session = live->stats();
        report.recorder = report.session.recorder;
        json = object_of(report);
        json.erase("cut_short");
        json.erase("events");
        json["acquired_a_scans_per_s"] = report.session.acquired_a_scans_per_s;
        json["processed_a_scans_per_s"] = report.session.processed_a_scans_per_s;
        json["ring"] = object_of(live->ring());
    }
    if (work.stage().has_renderer()) {
        const CastStats casts = work.stage().renderer().cast_stats();
        json["casts"] = {{"timed", casts.timed}, {"seconds", casts.seconds}};
        json["bytes_read_back"] = work.stage().renderer().bytes_read_back();
        json["device"] = work.stage().renderer().device_name();
    }
    return json;
}

}  // namespace echolux
