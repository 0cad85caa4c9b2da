// Search order and manifests: "Driver Discovery on Linux" in LoaderDriverInterface.md of Vulkan-Loader.
#include "render/vk/driver_files.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>
#include <system_error>

namespace echolux::gpu {
namespace {

using std::filesystem::path;

constexpr std::size_t max_listed = 3;
constexpr const char* no_manifest = "does not exist";

std::string variable(const char* name, const std::string& otherwise) {
    const char* text = std::getenv(name);
    return text != nullptr && *text != '\0' ? text : otherwise;
}

void append_listed(std::vector<path>& paths, const std::string& list) {
    for (std::size_t begin = 0; begin < list.size();) {
        const std::size_t end = std::min(list.find(':', begin), list.size());
        if (end > begin) paths.emplace_back(list.substr(begin, end - begin));
        begin = end + 1;
    }
}

// Appends the manifests of a folder in the order of their names.
void append_manifests(std::vector<path>& manifests, const path& folder) {
    std::vector<path> found;
    std::error_code none;
    for (const auto& entry : std::filesystem::directory_iterator(folder, none)) {
        if (entry.path().extension() == ".json") found.push_back(entry.path());
    }
    std::ranges::sort(found);
    manifests.insert(manifests.end(), found.begin(), found.end());
}

// Returns the files and folders that the loader searches.
std::vector<path> searched_paths() {
    std::vector<path> paths;
    append_listed(paths, variable("VK_DRIVER_FILES", variable("VK_ICD_FILENAMES", "")));
    if (!paths.empty()) return paths;
    const std::string home = variable("HOME", "");
    std::vector<path> bases;
    append_listed(bases, variable("XDG_CONFIG_HOME", home + "/.config"));
    append_listed(bases, variable("XDG_CONFIG_DIRS", "/etc/xdg"));
    bases.emplace_back("/usr/local/etc");
    bases.emplace_back("/etc");
    append_listed(bases, variable("XDG_DATA_HOME", home + "/.local/share"));
    append_listed(bases, variable("XDG_DATA_DIRS", "/usr/local/share:/usr/share"));
    append_listed(paths, variable("VK_ADD_DRIVER_FILES", ""));
    for (const path& base : bases) paths.push_back(base / "vulkan/icd.d");
    return paths;
}

std::vector<path> driver_manifests() {
    std::vector<path> manifests;
    for (const path& one : searched_paths()) {
        std::error_code none;
        if (one.extension() == ".json" && !std::filesystem::is_directory(one, none))
            manifests.push_back(one);
        else
            append_manifests(manifests, one);
    }
    return manifests;
}

std::optional<std::string> library_of(const path& manifest) {
    std::error_code none;
    if (!std::filesystem::is_regular_file(manifest, none)) return {};  // opening a FIFO could block
    std::ifstream file(manifest);
    const auto content = nlohmann::json::parse(file, nullptr, false);
    if (!content.is_object() || !content.contains("ICD")) return {};
    const auto& driver = content["ICD"];
    if (!driver.is_object() || !driver.contains("library_path") || !driver["library_path"].is_string()) return {};
    return driver["library_path"].get<std::string>();
}

// Returns the message of the dynamic linker, or an empty string if the library can be opened.
std::string linker_refusal(const path& manifest, const std::string& library) {
    const bool is_relative = library.find('/') != std::string::npos && path(library).is_relative();
    const std::string opened = is_relative ? (manifest.parent_path() / library).string() : library;
    if (void* handle = dlopen(opened.c_str(), RTLD_LAZY | RTLD_LOCAL)) {
        dlclose(handle);
        return {};
    }
    const char* message = dlerror();
    return message != nullptr ? message : "the library cannot be opened";
}

// Returns the name of the missing library in a message of the dynamic linker, or an empty string.
std::string missing_library(const std::string& reason) {
    const std::size_t end = reason.find(": cannot open shared object file");
    return end == std::string::npos ? "" : reason.substr(0, end);
}

std::string description(const UnusableDriver& driver) {
    if (driver.library.empty()) return fmt::format("{} {}", driver.manifest, driver.reason);
    const std::string missing = missing_library(driver.reason);
    if (missing.empty())
        return fmt::format("{} of {} cannot be opened: {}", driver.library, driver.manifest, driver.reason);
    if (path(missing).filename() == path(driver.library).filename())
        return fmt::format("{} of {} is missing", driver.library, driver.manifest);
    return fmt::format("{} of {} needs {}, which is missing", driver.library, driver.manifest, missing);
}

// Prefers a missing library, which is the most useful of several reasons.
std::string remedy(const std::vector<UnusableDriver>& unusable) {
    for (const UnusableDriver& driver : unusable) {
        const std::string missing = missing_library(driver.reason);
        if (!missing.empty()) return "install the package with " + path(missing).filename().string();
    }
    return unusable.front().reason == no_manifest ? "correct VK_DRIVER_FILES" : "reinstall the graphics driver";
}

}  // namespace

std::vector<UnusableDriver> unusable_drivers() {
    std::vector<UnusableDriver> unusable;
    for (const path& manifest : driver_manifests()) {
        std::error_code none;
        if (!std::filesystem::exists(manifest, none)) {
            unusable.push_back({manifest.string(), "", no_manifest});
        } else if (const auto library = library_of(manifest); !library) {
            unusable.push_back({manifest.string(), "", "is not a driver manifest"});
        } else if (std::string reason = linker_refusal(manifest, *library); !reason.empty()) {
            unusable.push_back({manifest.string(), *library, std::move(reason)});
        }
    }
    return unusable;
}

Error no_driver(const std::string& problem, const std::vector<UnusableDriver>& unusable) {
    const std::string software = "Mesa's software renderer: package mesa-vulkan-drivers";
    if (unusable.empty()) return {ErrorCode::device, problem, "renderer", "install a graphics driver, or " + software};
    std::vector<std::string> listed;
    for (const UnusableDriver& driver : unusable) {
        if (listed.size() < max_listed) listed.push_back(description(driver));
    }
    if (unusable.size() > max_listed) listed.push_back(fmt::format("{} more", unusable.size() - max_listed));
    return {ErrorCode::device, fmt::format("{}: {}", problem, fmt::join(listed, "; ")), "renderer",
            fmt::format("{}, or install {}", remedy(unusable), software)};
}

}  // namespace echolux::gpu
