#include "ui/workspace/recordings.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <system_error>
#include <utility>

#include "compute/error.h"
#include "compute/plan/describe.h"
#include "compute/plural.h"
#include "engine/live/recording_files.h"
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

// Only the folder of the recording itself is made: a missing folder for recordings may be a disk that is not mounted.
void make_folder(const std::filesystem::path& folder) {
    std::error_code problem;
    std::filesystem::create_directory(folder, problem);
    if (problem)
        throw Error(ErrorCode::output, problem.message(), folder.string(),
                    "create the folder for recordings or mount its disk, or choose another (window.record_folder)");
}

void remove_if_empty(const std::filesystem::path& folder) {
    std::error_code has_files;
    std::filesystem::remove(folder, has_files);
}

// The losses of an unfinished recording are counted in its index, which open_scan() reads.
std::string lack_of_unfinished(const std::filesystem::path& file) {
    try {
        return lack_of(open_scan(file).recording);
    } catch (const Error&) {
        return "was not finished";  // opening it reports the reason
    }
}

bool is_note(const std::string& key) {
    return section_of(key) == "recording";
}

}  // namespace

std::vector<ListedRecording> recordings_in(const std::filesystem::path& folder, std::size_t max_count) {
    std::vector<std::pair<std::filesystem::file_time_type, std::filesystem::path>> found;
    std::error_code problem;
    std::filesystem::directory_iterator entry(folder, problem);
    for (; !problem && entry != std::filesystem::directory_iterator(); entry.increment(problem)) {
        const std::filesystem::path file = entry->path() / (entry->path().filename().string() + ".toml");
        std::error_code is_none;
        const auto written = std::filesystem::last_write_time(file, is_none);
        if (!is_none) found.emplace_back(written, file);
    }
    std::ranges::sort(found, std::greater());
    std::vector<ListedRecording> listed;
    for (const auto& [written, file] : found) {
        if (listed.size() == max_count) break;
        try {
            const Scan scan = scan_of_keys(file, is_note);
            if (scan.recording.index.empty()) continue;  // another scan
            listed.push_back({file, scan.recording.was_cut() ? lack_of_unfinished(file) : lack_of(scan.recording)});
        } catch (const std::exception&) {  // damaged; opening it reports the reason
        }
    }
    return listed;
}

std::string name_of_recording(const std::string& subject, const std::string& protocol, std::time_t begun) {
    constexpr std::size_t max_bytes = 80;
    std::size_t bytes = std::min(subject.size(), max_bytes);
    const auto is_within_character = [&] {  // of UTF-8
        return bytes < subject.size() && (static_cast<unsigned char>(subject[bytes]) & 0xC0) == 0x80;
    };
    while (bytes > 0 && is_within_character()) --bytes;
    std::string name = subject.substr(0, bytes);
    for (char& c : name) {
        const auto byte = static_cast<unsigned char>(c);
        if (byte < 0x80 && std::isalnum(byte) == 0 && c != '_' && c != '-') c = '-';
    }
    return fmt::format("{}-{}-{:%Y-%m-%d-%H%M%S}", name.empty() ? "recording" : name, protocol, fmt::localtime(begun));
}

std::vector<std::filesystem::path> Recordings::folders() const {
    std::vector<std::filesystem::path> all{work_.keeping_folder(UserFolder::videos)};
    const auto stripes = stripe_folders(state_.book.window());
    all.insert(all.end(), stripes.begin(), stripes.end());
    return all;
}

// A number is appended to a name in use.
std::filesystem::path Recordings::new_name() const {
    const Scan& scan = state_.viewer.live()->scan();
    const std::string protocol = std::get<std::string>(value_of(scan.geometry, "protocol"));
    const std::string stem = name_of_recording(state_.book.window().record_subject, protocol, std::time(nullptr));
    const std::filesystem::path place = work_.keeping_folder(UserFolder::videos);
    std::string name = stem;
    std::error_code problem;
    for (int i = 2; std::filesystem::exists(place / name, problem); ++i) name = fmt::format("{}-{}", stem, i);
    return place / name / (name + ".toml");
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
        RecordingRequest wanted =
            live->recording_of_now(scan_toml.empty() ? new_name() : scan_toml, state_.look_text());
        const WindowSettings& window = state_.book.window();
        wanted.stripe_folders = stripe_folders(window);
        for (const std::filesystem::path& folder : wanted.stripe_folders) state_.require_allowed(folder);
        wanted.subject = window.record_subject;
        wanted.note = window.record_note;
        wanted.volumes = wanted_volumes_ = window.record_volumes;
        wanted_s_ = window.record_s;
        begin(std::move(wanted), scan_toml.empty());
    });
}

void Recordings::begin(RecordingRequest wanted, bool has_own_folder) {
    const std::shared_ptr<LiveController> live = state_.viewer.view_source()->shared_live();
    begun_s_.reset();
    starting_ = state_.jobs.start(
        "starting the recording",
        [this, live, has_own_folder, wanted = std::move(wanted)](Progress& progress) {
            progress.begin("write", 0, "");
            const std::filesystem::path folder = wanted.scan_toml.parent_path();
            if (has_own_folder) make_folder(folder);
            try {
                live->record(wanted);
            } catch (...) {
                if (has_own_folder) remove_if_empty(folder);
                throw;
            }
            return [this, has_own_folder, path = wanted.scan_toml] {
                file_ = path;
                has_own_folder_ = has_own_folder;
                begun_s_ = state_.now_s;
                state_.notices.note("source", "recording to " + short_path(path));
            };
        },
        state_.to("source"), LateCancel::keeps_result);
}

void Recordings::update() {
    const LiveController* live = state_.viewer.live();
    if (!begun_s_ || live == nullptr || !live->is_recording() || is_running(ending_)) return;
    const std::optional<RecorderStats> stats = live->stats().recorder;
    const bool has_volumes = stats && stats->has_all_volumes;
    if (has_volumes || (wanted_s_ > 0 && seconds() >= wanted_s_)) stop();
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
        [this, live = state_.viewer.view_source()->shared_live(),
         own_folder = has_own_folder_ ? file_.parent_path() : std::filesystem::path()](Progress& progress) {
            progress.begin("write", 0, "");
            const RecorderStats stats = live->stop_recording();
            if (stats.blocks == 0 && !own_folder.empty()) remove_if_empty(own_folder);
            return [this, stats] { note_end(stats); };
        },
        state_.to("source"), LateCancel::keeps_result);
}

void Recordings::note_end(const RecorderStats& stats) {
    last_ = RecordingResult{file_, stats};
    begun_s_.reset();
    listed_folder_.clear();
    if (stats.blocks > 0) work_.change("window.record_note", std::string());
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

const std::vector<ListedRecording>& Recordings::recent() {
    const std::filesystem::path folder = work_.keeping_folder(UserFolder::videos);
    if (folder == listed_folder_ || is_active()) return recent_;
    listed_folder_ = folder;
    state_.jobs.start(
        "reading the list of recordings",
        [this, folder](Progress&) -> Jobs::LastStep {
            return [this, found = recordings_in(folder, max_listed)] { recent_ = found; };
        },
        state_.to("source"));
    return recent_;
}

}  // namespace echolux
