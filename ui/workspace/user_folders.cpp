#include "ui/workspace/user_folders.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <fstream>
#include <utility>

#include "compute/error.h"
#include "engine/io/atomic_file.h"

namespace echolux {
namespace {

namespace fs = std::filesystem;

struct NamedFolder {
    std::string_view variable, usual;
};
constexpr std::array<NamedFolder, 3> folders{
    {{"XDG_PICTURES_DIR", "Pictures"}, {"XDG_VIDEOS_DIR", "Videos"}, {"XDG_DOCUMENTS_DIR", "Documents"}}};

// Returns a folder from user-dirs.dirs, such as XDG_PICTURES_DIR="$HOME/Bilder", or an empty path.
fs::path configured(std::string_view variable) {
    const char* config = std::getenv("XDG_CONFIG_HOME");
    std::ifstream file((config != nullptr ? fs::path(config) : home_folder() / ".config") / "user-dirs.dirs");
    const std::string begin = std::string(variable) + "=\"";
    for (std::string line; std::getline(file, line);) {
        if (!line.starts_with(begin) || !line.ends_with('"')) continue;
        std::string value = line.substr(begin.size(), line.size() - begin.size() - 1);
        constexpr std::string_view home = "$HOME";
        if (value.starts_with(home)) value = home_folder().string() + value.substr(home.size());
        return value;
    }
    return {};
}

}  // namespace

fs::path home_folder() {
    const char* folder = std::getenv("HOME");
    return folder != nullptr ? fs::path(folder) : fs::path("/");
}

// Prefers the configured folder, then the usual name, then the home folder.
fs::path user_folder(UserFolder which) {
    const NamedFolder& named = folders.at(static_cast<std::size_t>(which));
    std::error_code problem;
    for (const fs::path& folder : {configured(named.variable), home_folder() / named.usual}) {
        if (!folder.empty() && fs::is_directory(folder, problem)) return folder;
    }
    return home_folder();
}

std::string short_path(const fs::path& path) {
    const std::string home = home_folder().string(), text = path.string();
    const bool is_below =
        home.size() > 1 && text.starts_with(home) && (text.size() == home.size() || text[home.size()] == '/');
    return is_below ? "~" + text.substr(home.size()) : text;
}

// ---- State folder

constexpr std::size_t most_recent = 20;

static bool is_file_name(const std::string& name) {
    return !name.empty() && name.size() <= 100 && name.front() != '.' &&
           name.find_first_of("/\\:*?\"<>|\n\r\t") == std::string::npos;
}

constexpr std::string_view running_stem = "running-";  // followed by the process id

static std::filesystem::path process_folder(const std::string& which) {
    return std::filesystem::path("/proc") / which;
}

// Returns the id of this process. Without /proc it is "0", and other processes count as ended.
static std::string own_process() {
    std::error_code problem;
    const std::string number = std::filesystem::read_symlink(process_folder("self"), problem).string();
    return problem ? "0" : number;
}

// Returns true if another process is still writing this file.
static bool is_in_use(const std::filesystem::path& running) {
    const std::string process = running.stem().string().substr(running_stem.size());
    std::error_code problem;
    return !process.empty() && process != own_process() && std::filesystem::exists(process_folder(process), problem);
}

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
