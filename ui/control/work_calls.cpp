// Methods that open documents and control source, recording and calibration, like the buttons of the window.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "app/live/live_report.h"
#include "app/open/file_kind.h"
#include "app/stage/kept_time.h"
#include "app/stage/live_session.h"
#include "compute/plan/describe.h"
#include "render/camera.h"
#include "ui/control/control_parts.h"
#include "ui/workspace/calibrating.h"
#include "ui/workspace/raw_proposal.h"

namespace echolux {
namespace {

using Json = nlohmann::ordered_json;

LiveSession& live_source(Workspace& work) {
    LiveSession* live = work.live();
    if (live != nullptr && !live->is_recorded()) return *live;
    throw Error(ErrorCode::bad_setting, "no live source is open", "", "`open` one, for example sim");
}

Json running_object(Workspace& work) {
    return {{"is_running", work.live() != nullptr && work.live()->is_running()}};
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
        return !file.empty() && kind_of_file(file) != FileKind::exhibit;
    } catch (const Error&) {  // opening reports the error
        return false;
    }
}

// Sets values one by one. Values that do not apply to the open volume, such as a missing surface, are skipped.
void take_what_fits(Workspace& work, const Values& values) {
    for (const auto& [key, value] : values) {
        try {
            work.set("view", {{key, value}});
        } catch (const Error& error) {
            if (error.code() == ErrorCode::device) throw;
        }
    }
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
    SourceWanted wanted;
    wanted.name = call.params.value("source", "");
    if (call.params.contains("scan")) wanted.scan = file_of(call, "scan");
    const bool simulates = wanted.name.substr(0, wanted.name.find(':')) == "sim";
    wanted.assignments = assignments_of(values, simulates);
    wanted.settings = source_settings(values);
    const auto begin = [&] { has_file ? work.open(file, wanted.assignments) : work.open_source(wanted); };
    const Values earlier = has_own_view(file) ? Values() : set_views;
    operate(call, begin,
            [this, file, of = call.reply.shared_connection(), view = of_view(values), earlier]() -> Result {
                if (const Workspace::RawProposal* raw = work.raw_proposal(); raw != nullptr && raw->file == file) {
                    work.drop_raw_proposal();
                    throw Error(ErrorCode::bad_file, "is raw spectra that nothing describes", file.string(),
                                "write its TOML first: echolux info --guess");
                }
                take_what_fits(work, earlier);
                if (!view.empty()) work.set("view", view);
                return {state_object(of.get())};
            });
}

void Control::Parts::close(Call& call) {
    operate(
        call, [this] { work.close(); },
        [this]() -> Result {
            return {{{"is_open", work.is_open()}}};
        });
}

void Control::Parts::start(Call& call) {
    live_source(work);
    operate(
        call, [this] { work.start_source(); }, [this]() -> Result { return {running_object(work)}; });
}

void Control::Parts::stop(Call& call) {
    if (live_source(work).is_recording()) {
        throw Error(ErrorCode::bad_setting, "a recording is under way", "stop", "`stop_recording` first");
    }
    operate(
        call, [this] { work.stop_source(); }, [this]() -> Result { return {running_object(work)}; });
}

void Control::Parts::record(Call& call) {
    if (live_source(work).is_recording()) {
        throw Error(ErrorCode::bad_setting, "a recording is under way", "record", "`stop_recording` first");
    }
    const std::filesystem::path file =
        call.params.contains("file") ? file_of(call, "file") : work.new_name(UserFolder::videos, "", ".toml");
    operate(
        call, [&] { work.start_recording(file); },
        [file]() -> Result {
            return {{{"file", file.string()}}};
        });
}

void Control::Parts::stop_recording(Call& call) {
    if (!live_source(work).is_recording()) throw Error(ErrorCode::bad_setting, "nothing is recorded", "stop_recording");
    operate(
        call, [this] { work.stop_recording(); },
        [this]() -> Result {
            const KeptRecording& kept = work.last_recording().value();
            return {{{"file", kept.file.string()}, {"stats", object_of(kept.stats)}}};
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
            call, [&] { calibrating.take(static_cast<Spectrum>(which - spectra.begin()), work.jobs().operation()); },
            result);
    }
    if (step == "apply") {
        set_values();
        return operate(
            call, [&] { calibrating.apply(work); }, result);
    }
    // Otherwise the step is "dispersion".
    if (!calibrating.can_search(work)) {
        throw Error(ErrorCode::bad_setting, "there are no raw spectra to search in, or a search goes on", step,
                    "open a source and start it");
    }
    set_values();
    operate(
        call, [&] { calibrating.search_dispersion(work); }, result);
}

void Control::Parts::go_to(Call& call) {
    Exhibit& exhibit = shown();
    Timeline* time = exhibit.timeline();
    KeptTime* kept = exhibit.kept_time();
    const bool has_time_point = call.params.contains("time_point");
    if (has_time_point) {
        if (time == nullptr && kept == nullptr)
            throw Error(ErrorCode::bad_setting, "what is open has no time points", "time_point");
        require_in(call.params["time_point"], time != nullptr ? time->steps() : std::ssize(kept->volumes()),
                   "time_point");
    }
    constexpr std::array names{"depth", "a_scan", "b_scan"};
    const std::optional<VolumeGrid> grid = exhibit.grid();
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
    call.reply.result(state_object(&call.reply.connection()));
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
    const bool records = work.live() != nullptr && work.live()->is_recording();
    operate(
        call,
        [&] {
            if (records) work.stop_recording();
        },
        ends);
}

}  // namespace echolux
