#include "engine/io/file_name.h"

#include <algorithm>
#include <utility>

#include "compute/error.h"

namespace echolux {

AllowedFolders::AllowedFolders(std::vector<std::filesystem::path> folders) {
    for (const std::filesystem::path& folder : folders) {
        std::error_code problem;
        if (!std::filesystem::is_directory(folder, problem)) {
            throw Error(ErrorCode::bad_setting, "is not a folder", folder.string(), "name one that exists");
        }
        folders_.push_back(std::filesystem::canonical(folder));
    }
}

bool AllowedFolders::hold(const std::filesystem::path& path) const {
    return std::ranges::any_of(folders_, [&](const auto& folder) { return lies_below(folder, path); });
}

std::filesystem::path AllowedFolders::within(const std::filesystem::path& path) const {
    // A relative path belongs in the first folder.
    const std::filesystem::path whole =
        path.is_absolute() || folders_.empty() ? path : (folders_.front() / path).lexically_normal();
    if (!folders_.empty() && hold(whole)) return whole;
    std::string names;
    for (const std::filesystem::path& folder : folders_) names += (names.empty() ? "" : ", ") + folder.string();
    throw Error(ErrorCode::bad_setting, "is outside the folders that remote clients may use", path.string(),
                names.empty() ? "none was allowed" : "use a file in " + names);
}

}  // namespace echolux
