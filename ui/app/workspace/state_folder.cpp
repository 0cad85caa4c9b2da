#include "ui/app/workspace/state_folder.h"

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

}  // namespace

void write_text(const std::filesystem::path& path, const std::string& text) {
    AtomicFile file(path);
    if (!(std::ofstream(file.temporary(), std::ios::binary) << text).flush()) {
        throw Error(ErrorCode::output, "cannot be written", path.string(), "is the disk full?");
    }
    file.commit();
}

StateFolder::StateFolder(std::filesystem::path folder) : folder_(std::move(folder)) {
    if (!is_there()) return;
    std::error_code problem;
    if (std::filesystem::exists(running_session(), problem)) {
        last_ended_in_order_ = false;
        std::filesystem::rename(running_session(), ended_session(), problem);
    }
    read_recent();
    find_presets();
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
    write_text(folder_ / "recent.txt", text);
}

std::filesystem::path StateFolder::last_session() const {
    std::error_code problem;
    return is_there() && std::filesystem::exists(ended_session(), problem) ? ended_session() : std::filesystem::path();
}

void StateFolder::end_session(const std::string& toml) {
    if (!is_there()) return;
    write_text(ended_session(), toml);
    std::error_code problem;
    std::filesystem::remove(running_session(), problem);
}

std::filesystem::path StateFolder::preset(const std::string& name) const {
    if (!is_there()) throw Error(ErrorCode::bad_setting, "there is no folder to keep presets in", name);
    if (!is_file_name(name)) {
        throw Error(ErrorCode::bad_setting, "cannot be the name of a preset", "\"" + name + "\"",
                    "take letters, digits, spaces, - and _");
    }
    return folder_ / "presets" / (name + ".toml");
}

void StateFolder::save_preset(const std::string& name, const std::string& toml) {
    write_text(preset(name), toml);
    find_presets();
}

}  // namespace echolux
