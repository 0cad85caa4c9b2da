#include "ui/workspace/recordings.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include "compute/error.h"
#include "compute/plural.h"
#include "ui/workspace/user_folders.h"

namespace echolux {
namespace {

std::vector<std::filesystem::path> stripe_folders(const WindowSettings& window) {
    std::vector<std::filesystem::path> all;
    for (const std::string& name : stripe_names(window.stripe_folders)) {
        if (!name.empty()) all.emplace_back(name);
    }
    return all;
}

}  // namespace

std::vector<std::filesystem::path> Recordings::folders() const {
    std::vector<std::filesystem::path> all{work_.keeping_folder(UserFolder::videos)};
    const auto stripes = stripe_folders(state_.book.window());
    all.insert(all.end(), stripes.begin(), stripes.end());
    return all;
}

void Recordings::start(const std::filesystem::path& scan_toml) {
    state_.attempt("source", [&] {
        const LiveController* live = state_.viewer.live();
        if (live == nullptr || live->is_recorded()) {
            throw Error(ErrorCode::bad_setting, "there is no running source to record", "recording",
                        "open the simulator, a camera or a replay");
        }
        if (is_active()) return;
        if (!scan_toml.empty()) state_.check_recent_name(scan_toml);
        const std::filesystem::path path =
            scan_toml.empty() ? work_.new_name(UserFolder::videos, "", ".toml") : scan_toml;
        RecordingRequest wanted = live->recording_of_now(path, state_.look_text());
        wanted.stripe_folders = stripe_folders(state_.book.window());
        for (const std::filesystem::path& folder : wanted.stripe_folders) state_.require_allowed(folder);
        begin(std::move(wanted));
    });
}

void Recordings::begin(RecordingRequest wanted) {
    const std::shared_ptr<LiveController> live = state_.viewer.view_source()->shared_live();
    starting_ = state_.jobs.start(
        "starting the recording",
        [this, live, wanted = std::move(wanted)](Progress& progress) {
            progress.begin("write", 0, "");
            live->record(wanted);
            return [this, path = wanted.scan_toml] {
                file_ = path;
                state_.notices.note("source", "recording to " + short_path(path));
            };
        },
        state_.to("source"));
}

bool Recordings::is_running(std::uint64_t job) const {
    return std::ranges::any_of(state_.jobs.states(), [job](const JobState& one) { return one.id == job; });
}

bool Recordings::is_active() const {
    if (is_running(starting_) || is_running(ending_)) return true;
    return state_.viewer.live() != nullptr && state_.viewer.live()->is_recording();
}

void Recordings::refuse_while_active() const {
    if (!is_active()) return;
    throw Error(ErrorCode::bad_setting, "a recording is already running", "recording", "stop it first (Ctrl+R)");
}

// Received data is still being written, so a job waits for the disk.
void Recordings::stop() {
    if (state_.viewer.live() == nullptr || !state_.viewer.live()->is_recording() || is_running(ending_)) return;
    ending_ = state_.jobs.start(
        "stopping the recording",
        [this, live = state_.viewer.view_source()->shared_live()](Progress& progress) {
            progress.begin("write", 0, "");
            return [this, stats = live->stop_recording()] { note_end(stats); };
        },
        state_.to("source"));
}

void Recordings::note_end(const RecorderStats& stats) {
    last_ = RecordingResult{file_, stats};
    const std::int64_t blocks = stats.blocks_not_in_it();
    const std::string missing = blocks > 0 ? fmt::format(", {} missing", blocks)
                                : stats.lost_b_scans > 0
                                    ? ", " + plural(stats.lost_b_scans, "B-scans") + " never arrived"
                                    : "";
    const std::string line = fmt::format("recorded {}, {:.4g} MB{}: {}", plural(stats.blocks, "blocks"),
                                         1e-6 * static_cast<double>(stats.bytes), missing, short_path(file_));
    state_.notices.note("recording", line,
                        stats.blocks > 0 ? NoticeFile{file_, NoticeFile::Opener::echolux} : NoticeFile{});
}

}  // namespace echolux
