#include "engine/live/recording_names.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "compute/counted.h"
#include "compute/error.h"
#include "engine/io/file_lock.h"
#include "engine/scan/scan.h"
#include "engine/scan/settings.h"

namespace echolux {
namespace {

using Path = std::filesystem::path;

// Throws if the path exists.
void refuse_existing(const Path& path) {
    std::error_code unknown;
    if (!std::filesystem::exists(path, unknown)) return;
    refuse_running_recording(path);
    throw Error(ErrorCode::output, "already exists", path.string(),
                "choose another name, or replace it with `overwrite`");
}

std::string beginning_of_name(const Path& scan_toml) {
    return scan_toml.stem().string() + ".stripe-";
}

// Returns NAME.stripe-2.raw for number 1, then NAME.stripe-2-2.raw and so on.
Path stripe_name(const Path& folder, const Path& scan_toml, std::size_t part, int number) {
    const std::string which = number == 1 ? "" : fmt::format("-{}", number);
    return folder / fmt::format("{}{}{}.raw", beginning_of_name(scan_toml), part, which);
}

// Returns the absolute path of an existing folder. Throws if it does not exist.
Path checked_folder(const Path& folder) {
    std::error_code problem;
    Path whole = std::filesystem::absolute(folder, problem).lexically_normal();
    if (!std::filesystem::is_directory(whole, problem)) {
        throw Error(ErrorCode::output, "there is no folder " + whole.string(), "stripes",
                    "make the folder first, or mount the disk that it is on");
    }
    return whole;
}

// Rejects a folder that is named twice, since its stripes would compete for one disk, and too many folders.
void check_named_once(const std::vector<Path>& folders) {
    if (folders.size() >= max_parts) {
        throw Error(ErrorCode::bad_setting, "names " + counted(folders.size(), "folders"), "stripes",
                    fmt::format("name at most {}", max_parts - 1));
    }
    for (auto folder = folders.begin(); folder != folders.end(); ++folder) {
        const auto is_same = [&](const Path& other) {
            std::error_code missing;
            return std::filesystem::equivalent(*folder, other, missing);
        };
        if (std::any_of(folders.begin(), folder, is_same))
            throw Error(ErrorCode::bad_setting, "is named twice", folder->string(), "name a folder on each disk once");
    }
}

// scan.stripes separates names by semicolons.
void check_can_stand_in_toml(const Path& stripe) {
    if (stripe.string().find(';') == std::string::npos) return;
    throw Error(ErrorCode::bad_setting, "has a semicolon in its name", stripe.string(), "choose another name");
}

// Returns whether a recording would use this name for a stripe.
bool is_stripe_name(const Path& path, const Path& scan_toml) {
    const std::string stem = path.stem().string(), beginning = beginning_of_name(scan_toml);
    return path.extension() == ".raw" && stem.starts_with(beginning) && stem.size() > beginning.size() &&
           stem.find_first_not_of("0123456789-", beginning.size()) == std::string::npos;
}

}  // namespace

bool is_taken(const Path& path) {
    std::error_code unknown;
    return std::filesystem::exists(std::filesystem::symlink_status(path, unknown));
}

Scan scan_of_keys(const Path& scan_toml, bool (*is_wanted)(const std::string& key)) {
    Scan scan;
    Settings settings;
    bind(settings, scan);
    std::vector<TomlEntry> entries = toml_entries(scan_toml);
    std::erase_if(entries, [&](const TomlEntry& entry) { return !is_wanted(entry.name); });
    settings.take(entries);
    return scan;
}

Path file_of_recording(const Path& scan_toml, const std::string& ending) {
    return scan_toml.parent_path() / (scan_toml.stem().string() + ending);
}

Path truth_of_recording(const Path& scan_toml) {
    return file_of_recording(scan_toml, ".truth");
}

std::vector<Path> files_of_recording(const Path& scan_toml) {
    return {scan_toml, file_of_recording(scan_toml, ".raw"), file_of_recording(scan_toml, ".index.csv"),
            truth_of_recording(scan_toml)};
}

void check_recording_name(const Path& scan_toml, bool replace, const std::vector<Path>& stripe_folders) {
    std::error_code problem;
    const Path folder = std::filesystem::absolute(scan_toml, problem).parent_path();
    if (!std::filesystem::is_directory(folder, problem)) {
        throw Error(ErrorCode::output, "there is no folder " + folder.string(), scan_toml.string(),
                    "make the folder first, or mount the disk that it is on");
    }
    const std::vector<Path> stripes = stripes_of_recording(scan_toml, stripe_folders);
    for (const Path& path : files_of_recording(scan_toml)) refuse_running_recording(path);
    if (replace) return;
    for (const Path& path : files_of_recording(scan_toml)) refuse_existing(path);
    for (const Path& path : stripes) refuse_existing(path);
}

std::vector<Path> stripes_of_recording(const Path& scan_toml, const std::vector<Path>& folders, bool takes_free_names) {
    check_named_once(folders);
    std::vector<Path> names;
    for (const Path& folder : folders) {
        const Path whole = checked_folder(folder);
        const std::size_t part = names.size() + 2;
        int number = 1;
        while (takes_free_names && is_taken(stripe_name(whole, scan_toml, part, number))) ++number;
        names.push_back(stripe_name(whole, scan_toml, part, number));
        check_can_stand_in_toml(names.back());
    }
    return names;
}

NamedStripes stripes_named_by(const Path& scan_toml) {
    NamedStripes stripes;
    try {
        const Scan scan = scan_of_keys(scan_toml, [](const std::string& key) {
            return key == "recording.index" || key == "recording.folder" || key == "scan.stripes";
        });
        if (scan.recording.index.empty()) return {};
        for (const std::string& name : stripe_names(scan.file.stripes)) {
            if (is_stripe_name(name, scan_toml)) stripes.files.push_back(scan_toml.parent_path() / name);
        }
        std::error_code missing;
        stripes.are_its_own = std::filesystem::equivalent(
            scan.recording.folder, std::filesystem::absolute(scan_toml, missing).parent_path(), missing);
    } catch (const Error&) {
        return {};
    }
    return stripes;
}

}  // namespace echolux
