// Data files found by name: shipped files, which are embedded in the program, and a user's own files of the same
// format. Any part of the program may include this header. It does not parse files; the caller does.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace echolux {

// A kind of data file: its folder below assets/ and config_folder(), and its extension.
struct AssetKind {
    std::string_view folder, ending;
};
inline constexpr AssetKind colour_map_files{"colour_maps", ".txt"};
inline constexpr AssetKind transfer_files{"transfer", ".toml"};
inline constexpr AssetKind recipe_files{"recipes", ".toml"};
inline constexpr AssetKind scene_files{"scenes", ".toml"};
inline constexpr AssetKind layer_files{"layers", ".toml"};

struct Asset {
    std::string name;             // of the file, without extension
    bool is_shipped = false;      // a file of this name is shipped
    std::filesystem::path own{};  // the user's file, which takes precedence; may be empty
};

// Returns the bytes of a file in assets/CMakeLists.txt, such as "transfer/tissue.toml"; empty if it is not listed.
std::string_view shipped_file(std::string_view path);

// Folder of the user's own files: $XDG_CONFIG_HOME/echolux, otherwise ~/.config/echolux. Empty if neither is set.
std::filesystem::path config_folder();

// Folder for persistent state: $XDG_STATE_HOME/echolux, otherwise ~/.local/state/echolux. Empty if neither is set.
std::filesystem::path state_folder();

// Returns the shipped files in their order, followed by the user's other files sorted by name.
std::vector<Asset> assets_of(const AssetKind& kind, const std::filesystem::path& config = config_folder());

// Returns the origin: "shipped", a path, or both.
std::string origin_of(const Asset& asset);

// Returns `first`, followed by the names of assets_of().
std::vector<std::string> asset_names(const AssetKind& kind, const std::string& first = {});

// Returns the user's file of that name; empty if it does not exist.
std::filesystem::path own_file(const AssetKind& kind, std::string_view name,
                               const std::filesystem::path& config = config_folder());

// Returns the text of the shipped file of that name; empty if it does not exist.
std::string_view shipped_text(const AssetKind& kind, std::string_view name);

}  // namespace echolux
