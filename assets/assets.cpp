#include "assets/assets.h"

#include <algorithm>
#include <cstdlib>

#include "assets/embedded.h"

namespace echolux {
namespace {

// Follows the XDG base directory specification.
std::filesystem::path user_folder(const char* variable, const char* below_home) {
    if (const char* folder = std::getenv(variable); folder != nullptr && *folder != '\0') {
        return std::filesystem::path(folder) / "echolux";
    }
    const char* home = std::getenv("HOME");
    return home != nullptr ? std::filesystem::path(home) / below_home / "echolux" : std::filesystem::path();
}

std::string path_of(const AssetKind& kind, std::string_view name) {
    return std::string(kind.folder).append("/").append(name).append(kind.ending);
}

std::vector<Asset> shipped_of(const AssetKind& kind) {
    std::vector<Asset> assets;
    for (const EmbeddedFile* file : embedded_files()) {
        const std::filesystem::path path(file->path);
        if (path.parent_path() == kind.folder) assets.push_back({path.stem().string(), true});
    }
    return assets;
}

}  // namespace

std::string_view shipped_file(std::string_view path) {
    for (const EmbeddedFile* file : embedded_files()) {
        if (path == file->path) return {reinterpret_cast<const char*>(file->bytes), file->size};
    }
    return {};
}

std::filesystem::path config_folder() {
    return user_folder("XDG_CONFIG_HOME", ".config");
}

std::filesystem::path state_folder() {
    return user_folder("XDG_STATE_HOME", ".local/state");
}

std::vector<Asset> assets_of(const AssetKind& kind, const std::filesystem::path& config) {
    std::vector<Asset> assets = shipped_of(kind);
    const auto shipped = static_cast<std::ptrdiff_t>(assets.size());
    std::error_code problem;  // an unreadable folder counts as empty
    if (config.empty()) return assets;
    for (const auto& entry : std::filesystem::directory_iterator(config / kind.folder, problem)) {
        const std::filesystem::path& path = entry.path();
        if (path.extension() != kind.ending) continue;
        const auto found = std::ranges::find(assets, path.stem().string(), &Asset::name);
        if (found != assets.end())
            found->own = path;
        else
            assets.push_back({path.stem().string(), false, path});
    }
    std::ranges::sort(assets.begin() + shipped, assets.end(), {}, &Asset::name);
    return assets;
}

std::string origin_of(const Asset& asset) {
    if (asset.own.empty()) return "shipped";
    return asset.own.string() + (asset.is_shipped ? ", in place of the shipped one" : "");
}

std::vector<std::string> asset_names(const AssetKind& kind, const std::string& first) {
    std::vector<std::string> names;
    if (!first.empty()) names.push_back(first);
    for (const Asset& asset : assets_of(kind)) {
        if (asset.name != first) names.push_back(asset.name);
    }
    return names;
}

std::filesystem::path own_file(const AssetKind& kind, std::string_view name, const std::filesystem::path& config) {
    std::error_code problem;
    const std::filesystem::path path = config / path_of(kind, name);
    return !config.empty() && std::filesystem::is_regular_file(path, problem) ? path : std::filesystem::path();
}

std::string_view shipped_text(const AssetKind& kind, std::string_view name) {
    return shipped_file(path_of(kind, name));
}

}  // namespace echolux
