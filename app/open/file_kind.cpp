#include "app/open/file_kind.h"

#include <algorithm>
#include <array>
#include <set>
#include <string>
#include <string_view>

#include "compute/error.h"
#include "engine/io/file_name.h"
#include "engine/io/picture_file.h"
#include "engine/io/volume_file.h"
#include "engine/scan/foreign_scans.h"
#include "engine/scan/scan.h"
#include "engine/scan/settings.h"
#include "engine/scan/time_points.h"

namespace echolux {
namespace {

constexpr std::array<std::string_view, 8> raw_endings{".raw", ".bin", ".dat", ".spectra",
                                                      ".u8",  ".u16", ".i16", ".f32"};
constexpr std::array<std::string_view, 3> other_endings{".toml", ".json", ".png"};

template <std::size_t N>
bool is_one_of(const std::string& ending, const std::array<std::string_view, N>& endings) {
    return std::ranges::find(endings, ending) != endings.end();
}

FileKind kind_of_toml(const std::filesystem::path& path) {
    std::set<std::string, std::less<>> sections;
    for (const TomlEntry& entry : toml_entries(path)) sections.emplace(section_of(entry.name));
    if (sections.contains("session") || sections.contains("window")) return FileKind::session;
    if (sections.contains("scan")) return FileKind::exhibit;
    if (sections == std::set<std::string, std::less<>>{"transfer"}) return FileKind::transfer;
    if (sections.contains("view") || std::ranges::any_of(sections, is_recipe_section)) return FileKind::preset;
    throw Error(ErrorCode::bad_file, "has none of the sections of Echolux", path.string(),
                "[scan] describes spectra, [session] a session, [view] how something looks, [transfer] a transfer "
                "function");
}

}  // namespace

FileKind kind_of_file(std::filesystem::path& path) {
    if (is_pattern(path)) return FileKind::exhibit;
    std::error_code problem;
    if (!std::filesystem::exists(file_part(path).file, problem)) {
        throw Error(ErrorCode::bad_file, "does not exist", path.string(), "check the name");
    }
    if (has_session(path)) return FileKind::picture;  // takes precedence over other kinds
    if (std::filesystem::is_directory(path, problem) || is_volume_name(path)) return FileKind::exhibit;
    const std::string ending = lower_ending(path);
    if (ending == ".toml") return kind_of_toml(path);
    if (ending == ".json") return FileKind::transfer;
    if (ending == ".png") return FileKind::picture;
    if (is_sd01raw2(path)) return FileKind::exhibit;
    if (ending.empty() || is_one_of(ending, raw_endings)) {
        const std::filesystem::path description = std::filesystem::path(path).replace_extension(".toml");
        const bool is_described = std::filesystem::exists(description, problem);
        if (!is_described) return is_octproz_scan(path) ? FileKind::exhibit : FileKind::spectra;
        path = description;
        return kind_of_toml(path);
    }
    if (is_octproz_scan(path)) return FileKind::exhibit;
    throw Error(
        ErrorCode::bad_file, "is not a kind of file that Echolux can open", path.string(),
        "volumes (.nrrd .nii .tif .mha .h5 .zarr .npy .dcm .oct .vol .mat ...), folders of them or of pictures, scans "
        "and sessions (.toml), raw spectra (.raw .bin .dat), pictures saved by Echolux (.png), transfer functions "
        "(.toml .json)");
}

bool may_open(const std::filesystem::path& name) {
    const std::string ending = lower_ending(name);
    return is_volume_name(name) || is_one_of(ending, raw_endings) || is_one_of(ending, other_endings);
}

}  // namespace echolux
