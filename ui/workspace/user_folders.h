// The folders that a desktop keeps for its user's pictures, videos and documents, as xdg-user-dirs names them: what is
// saved without a name of its own goes there, never into whatever folder the program was started in.
#pragma once

#include <filesystem>
#include <string>

namespace echolux {

enum class UserFolder { pictures, videos, documents };

// Where that is not there: the home folder. Looks at the disk.
std::filesystem::path user_folder(UserFolder which);
std::filesystem::path home_folder();

// "~/Pictures" of a folder below the home folder; others as they are.
std::string short_path(const std::filesystem::path& path);

}  // namespace echolux
