// Data that is not code, found by name: what came with the program (embedded when it is built) and a user's own files
// of the same form. A leaf that every room may include: it knows no format, who asks reads.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace echolux {

// Files of one form: a folder of assets/, and of config_folder(), and their ending.
struct AssetKind {
    std::string_view folder, ending;
};
inline constexpr AssetKind colour_map_files{"colour_maps", ".txt"};
inline constexpr AssetKind transfer_files{"transfer", ".toml"};
inline constexpr AssetKind recipe_files{"recipes", ".toml"};
inline constexpr AssetKind scene_files{"scenes", ".toml"};
inline constexpr AssetKind layer_files{"layers", ".toml"};

struct Asset {
    std::string name;             // of the file, without its ending
    bool is_shipped = false;      // one of this name came with the program
    std::filesystem::path own{};  // the user's, which wins; empty: there is none
};

// Bytes of a file of assets/CMakeLists.txt, e.g. "transfer/tissue.toml"; empty: it is not among them.
std::string_view shipped_file(std::string_view path);

// Where a user's own files are: $XDG_CONFIG_HOME/echolux, else ~/.config/echolux. Empty: nowhere.
std::filesystem::path config_folder();

// What programs leave behind: $XDG_STATE_HOME/echolux, else ~/.local/state/echolux. Empty: nowhere.
std::filesystem::path state_folder();

// The shipped ones in their order, then the user's others by name.
std::vector<Asset> assets_of(const AssetKind& kind, const std::filesystem::path& config = config_folder());

// Where it comes from: "shipped", a path, or both.
std::string origin_of(const Asset& asset);

// Their names: `first`, then those of assets_of().
std::vector<std::string> asset_names(const AssetKind& kind, const std::string& first = {});

// The user's file of that name; empty: there is none.
std::filesystem::path own_file(const AssetKind& kind, std::string_view name,
                               const std::filesystem::path& config = config_folder());

// Text of the shipped file of that name; empty: there is none.
std::string_view shipped_text(const AssetKind& kind, std::string_view name);

}  // namespace echolux
