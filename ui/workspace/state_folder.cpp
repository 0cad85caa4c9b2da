#include "ui/workspace/state_folder.h"

#include <algorithm>
#include <fstream>
#include <utility>

#include "compute/error.h"
#include "engine/io/atomic_file.h"

namespace echolux {
namespace {

constexpr std::size_t most_recent = 20;

bool is_file_name(const std::string& name) {
    return !name.empty() && name.size() <= 100 && name.front() != '.' &&
           name.find_first_of("/\\:*?\"<>|\n\r\t") == std::string::npos;
}

constexpr std::string_view running_stem = "running-";  // followed by the process id

std::filesystem::path process_folder(const std::string& which) {
    return std::filesystem::path("/proc") / which;
}

// Returns the id of this process. Without /proc it is "0", and other processes count as ended.
std::string own_process() {
    std::error_code problem;
    const std::string number = std::filesystem::read_symlink(process_folder("self"), problem).string();
    return problem ? "0" : number;
}

// Returns true if another process is still writing this file.
bool is_in_use(const std::filesystem::path& running) {
    const std::string process = running.stem().string().substr(running_stem.size());
    std::error_code problem;
    return !process.empty() && process != own_process() && std::filesystem::exists(process_folder(process), problem);
}

}  // namespace

StateFolder::StateFolder(std::filesystem::path folder) : folder_(std::move(folder)) {
    if (!is_there()) return;
    find_crashed();
    read_recent();
    find_presets();
}

// A session file of a process that has ended is left over from a crash.
void StateFolder::find_crashed() {
    std::vector<std::filesystem::path> crashed;
    std::error_code problem;
    for (const auto& entry : std::filesystem::directory_iterator(folder_, problem)) {
        const std::string name = entry.path().filename().string();
        const bool is_running = name.starts_with(running_stem) && name.ends_with(".toml");
        if (is_running && !is_in_use(entry.path())) crashed.push_back(entry.path());
    }
    std::ranges::sort(crashed, {}, [](const auto& path) {
        std::error_code ignored;
        return std::filesystem::last_write_time(path, ignored);
    });
    // the newest file remains as the last session
    for (const auto& path : crashed) std::filesystem::rename(path, ended_session(), problem);
    last_ended_in_order_ = crashed.empty();
}

std::filesystem::path StateFolder::running_session() const {
    return folder_ / (std::string(running_stem) + own_process() + ".toml");
}

void StateFolder::read_recent() {
    std::ifstream file(folder_ / "recent.txt", std::ios::binary);
    for (std::string line; std::getline(file, line) && recent_.size() < most_recent;) {
        if (!line.empty()) recent_.emplace_back(line);
    }
}

void StateFolder::find_presets() {
    presets_.clear();
    std::error_code problem;
    for (const auto& entry : std::filesystem::directory_iterator(folder_ / "presets", problem)) {
        if (entry.path().extension() == ".toml") presets_.push_back(entry.path().stem().string());
    }
    std::ranges::sort(presets_);
}

void StateFolder::add_recent(const std::filesystem::path& path) {
    if (path.string().find('\n') != std::string::npos) return;
    std::erase(recent_, path);
    recent_.insert(recent_.begin(), path);
    if (recent_.size() > most_recent) recent_.resize(most_recent);
    if (!is_there()) return;
    std::string text;
    for (const std::filesystem::path& one : recent_) text += one.string() + "\n";
    writer_.write(folder_ / "recent.txt", text);
}

std::filesystem::path StateFolder::last_session() const {
    std::error_code problem;
    return is_there() && std::filesystem::exists(ended_session(), problem) ? ended_session() : std::filesystem::path();
}

void StateFolder::end_session(const std::string& toml) {
    if (!is_there()) return;
    writer_.finish();  // the running session, which is removed below
    std::error_code problem;
    if (!toml.empty()) {
        std::filesystem::create_directories(folder_, problem);  // if this fails, writing reports the error
        write_text(ended_session(), toml);
    }
    std::filesystem::remove(running_session(), problem);
}

std::filesystem::path StateFolder::preset(const std::string& name) const {
    if (!is_there()) throw Error(ErrorCode::bad_setting, "there is no folder to keep presets in", name);
    if (!is_file_name(name)) {
        throw Error(ErrorCode::bad_setting, "cannot be the name of a preset", "\"" + name + "\"",
                    "use letters, digits, spaces, - and _");
    }
    return folder_ / "presets" / (name + ".toml");
}

void StateFolder::save_preset(const std::string& name, const std::string& toml) {
    writer_.write(preset(name), toml);
    const auto place = std::ranges::lower_bound(presets_, name);
    if (place == presets_.end() || *place != name) presets_.insert(place, name);
}

void StateFolder::keep_running_session(const std::string& toml) {
    if (is_there()) writer_.write(running_session(), toml);
}

}  // namespace echolux
