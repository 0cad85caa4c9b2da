#include "ui/control/facts.h"

#include <cstdlib>
#include <optional>

#include "app/live/session_run.h"
#include "app/viewer/live_source.h"
#include "app/viewer/view_source.h"
#include "compute/error.h"
#include "engine/build.h"

namespace echolux {
namespace {

using Json = nlohmann::ordered_json;

const char* name_of(VoxelType type) {
    switch (type) {
        case VoxelType::u8: return "u8";
        case VoxelType::u16: return "u16";
        case VoxelType::i16: return "i16";
        case VoxelType::f16: return "f16";
        case VoxelType::f32: return "f32";
        case VoxelType::complex64: return "complex64";
        case VoxelType::phasor8: return "phasor8";
    }
    return "";
}

// Number of the volume in its source, if known.
std::optional<std::int64_t> number_of(const Volume& volume) {
    const auto found = volume.provenance.find("volume");
    if (found == volume.provenance.end()) return {};
    return std::atoll(found->second.c_str());
}

}  // namespace

ViewSource& shown(Workspace& work) {
    if (ViewSource* view_source = work.viewer().view_source()) return *view_source;
    throw Error(ErrorCode::bad_setting, "nothing is open", "", "`open` a file or a source first");
}

Json grid_object(const VolumeGrid& grid) {
    return {{"type", name_of(grid.type)},
            {"shape", {grid.b_scans, grid.a_scans, grid.depth}},
            {"spacing_um", {grid.spacing_um[2], grid.spacing_um[1], grid.spacing_um[0]}},
            {"first_depth_um", grid.first_depth_um},
            {"scale", grid.scale},
            {"offset", grid.offset},
            {"unit", grid.unit},
            {"quantity", grid.quantity},
            {"byte_order", "little"}};
}

Json state_object(Workspace& work, const Connection* of) {
    Json json{{"program", "echolux"}, {"version", version}};
    if (of != nullptr) json["may_steer"] = of->may_steer();
    ViewSource* view_source = work.viewer().view_source();
    json["is_open"] = view_source != nullptr;
    if (view_source != nullptr) {
        json["name"] = view_source->name();
        json["way"] = view_source->backend_description();
        const std::optional<VolumeGrid> grid = view_source->grid();
        json["grid"] = grid ? grid_object(*grid) : Json(nullptr);
        // Series and live sources both have time points, with different members.
        if (const Timeline* time = view_source->timeline()) {
            json["time_point"] = time->step();
            json["time_points"] = time->steps();
            json["plays"] = time->plays();
            json["incomplete_time_points"] = view_source->incomplete_steps();
        } else if (const RecentTimeline* kept = view_source->recent_timeline()) {
            json["time_point"] = kept->step();
            json["time_points"] = std::ssize(kept->volumes());
            json["max_time_points"] = kept->max_volumes();
            json["plays"] = !kept->is_paused();
            json["ago_s"] = kept->ago_s();
        }
    }
    const LiveController* live = work.viewer().live();
    json["is_live"] = live != nullptr && !live->is_recorded();
    json["is_running"] = live != nullptr && live->is_running();
    json["is_recording"] = live != nullptr && live->is_recording();
    json["cross_um"] = work.cross_um();
    json["jobs"] = Json::array();
    for (const JobState& job : work.jobs().states()) {
        json["jobs"].push_back({{"id", job.id},
                                {"title", job.title},
                                {"task", job.task},
                                {"done", job.done},
                                {"total", job.total},
                                {"unit", job.unit}});
    }
    json["troubles"] = Json::array();
    for (const Notice& notice : work.notices().all()) {
        if (notice.is_problem && notice.stands)
            json["troubles"].push_back({{"place", notice.place}, {"line", notice.line}});
    }
    return json;
}

Json statistics_object(Workspace& work) {
    Json json = Json::object();
    if (const LiveController* live = work.viewer().live()) {
        LiveReport report;
        report.source = work.viewer().view_source()->name();
        report.backend_description = work.viewer().view_source()->backend_description();
        report.session = live->stats();
        report.recorder = report.session.recorder;
        json = stats_object(report);
        json["ring"] = stats_object(live->ring());
    }
    if (work.viewer().has_renderer()) {
        const CastStats casts = work.viewer().renderer().cast_stats();
        json["casts"] = {{"timed", casts.timed}, {"seconds", casts.seconds}};
        json["bytes_read_back"] = work.viewer().renderer().bytes_read_back();
        json["device"] = work.viewer().renderer().device_name();
    }
    return json;
}

bool begin_reading(Workspace& work, const std::function<ResponseContent(const Volume&)>& part,
                   const std::shared_ptr<ResponseContent>& result) {
    ViewSource& view_source = shown(work);
    const PendingVolume coming = view_source.begin_reading();
    if (!coming) return false;
    work.jobs().start(
        "sending voxels",
        [coming, part, result, stamp = view_source.stamp()](Progress& progress) {
            progress.begin("read", 0, "");
            const std::shared_ptr<const Volume> volume = coming();
            ResponseContent packed = part(*volume);
            const std::optional<std::int64_t> number = number_of(*volume);
            if (number) packed.json["volume"] = *number;
            if (stamp && stamp->volume == number.value_or(stamp->volume)) {
                packed.json["volume"] = stamp->volume;
                packed.json["time_s"] = stamp->time_s;
            }
            return
                [done = std::make_shared<ResponseContent>(std::move(packed)), result] { *result = std::move(*done); };
        },
        [](const Error&) {});
    return true;
}

}  // namespace echolux
