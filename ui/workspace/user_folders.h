// The user's folders for pictures, videos and documents, as defined by xdg-user-dirs. Files with generated names go
// there instead of to the current folder.
#pragma once

#include <filesystem>
#include <string>

namespace echolux {

enum class UserFolder { pictures, videos, documents };

// Returns the home folder if the folder does not exist. Accesses the disk.
std::filesystem::path user_folder(UserFolder which);
std::filesystem::path home_folder();

// Abbreviates paths below the home folder: "~/Pictures".
std::string short_path(const std::filesystem::path& path);

}  // namespace echolux
