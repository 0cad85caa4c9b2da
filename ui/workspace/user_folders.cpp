#include "ui/workspace/user_folders.h"

#include <array>
#include <cstdlib>
#include <fstream>

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

}  // namespace echolux
