#include "app/open/open_volume.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <sstream>
#include <string>
#include <string_view>

#include "compute/error.h"
#include "compute/plan/describe.h"
#include "engine/io/file_name.h"
#include "engine/io/picture_file.h"
#include "engine/io/regular_file.h"
#include "engine/io/volume_file.h"
#include "engine/scan/foreign_scans.h"
#include "engine/scan/scan.h"
#include "engine/scan/settings.h"
#include "engine/scan/time_points.h"
#include "engine/simulate/simulator.h"

namespace echolux {

// ---- Volumes

namespace {

Volume time_point_of(const std::filesystem::path& path, std::int64_t time_point) {
    if (time_point == 0 && is_volume_name(path)) return read_volume(path);
    const TimePoints series(path);
    if (time_point >= 0 && time_point < series.count()) return series.read(time_point);
    throw Error(ErrorCode::bad_setting, fmt::format("there is no volume {}", time_point), "part.volume",
                fmt::format("there are volumes 0 to {}", series.count() - 1));
}

}  // namespace

bool is_scan_name(const std::filesystem::path& path) {
    std::error_code problem;
    return !is_volume_name(path) && !is_pattern(path) && !std::filesystem::is_directory(path, problem);
}

OpenedVolume open_volume(const VolumeSource& source, Progress& progress) {
    OpenedVolume opened;
    if (source.shown) {
        progress.begin("fetch the volume", 0, "");
        opened.volume = *source.shown();
        progress.end();
    } else {
        opened = open_volume(source.input, source.settings, source.part, progress);
    }
    state_quantity(opened.volume, source.stored_as);
    opened.chosen = source.chosen;
    return opened;
}

OpenedVolume open_volume(const std::filesystem::path& path, const std::vector<std::string>& settings,
                         const ScanPart& part, Progress& progress) {
    if (is_scan_name(path)) {
        Reconstruction reconstruction(open_scan(path, settings));
        if (reconstruction.grid(part).type == VoxelType::complex64) {
            throw Error(ErrorCode::bad_setting, "an image cannot show complex voxels", "recipe.quantity",
                        "choose db, intensity or amplitude");
        }
        FlowedVolume made = reconstruction.run_with_flow(part, progress);
        return {std::move(made.structure), std::move(made.flow),   reconstruction.scan().geometry,
                reconstruction.scan(),     reconstruction.stats(), reconstruction.warnings()};
    }
    if (!settings.empty()) {
        throw Error(ErrorCode::bad_setting, "has no effect on a volume file", settings.front(),
                    "open the scan instead, or remove the setting");
    }
    return {time_point_of(path, part.volume), {}, {}, {}, {}, {}};
}

// ---- Files that are read

using Path = std::filesystem::path;

template <class Work>
static void as_far_as_possible(const Work& work) {
    try {
        work();
    } catch (const Error&) {
    }
}

// Adds the files named in the text of a scan or of the simulator, without opening them.
static void add_files_of_scan(const Path& input, const std::vector<std::string>& settings, FileNames& files) {
    Scan scan;
    Simulation simulation;
    Settings book;
    bind(book, scan);
    book.bind("simulation", simulation);
    if (lower_ending(input) == ".toml") as_far_as_possible([&] { book.read_toml(input); });
    for (const std::string& assignment : settings) as_far_as_possible([&] { book.set_assignment(assignment); });
    for (const std::string& name : stripe_names(scan.file.stripes)) files.push_back(input.parent_path() / name);
    for (const BoundField& field : book.fields()) {
        const Value value = field.get();
        const auto* name = std::get_if<std::string>(&value);
        const bool is_of_scan = field.section != "simulation";
        const Path folder = is_of_scan ? input.parent_path() : Path();
        if (name != nullptr && is_file_name(field, *name, folder)) files.push_back(folder / *name);
    }
}

// Finds "data file: voxels.raw" of NRRD and "ElementDataFile = voxels.raw" of MetaImage.
static void add_voxels_apart(const Path& header, FileNames& files) {
    constexpr std::size_t max_header = 1 << 20;
    std::string text;
    as_far_as_possible([&] { text = start_of_file(header, max_header); });
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
        const std::string key = lower_case(line.substr(0, line.find_first_of(":=")));
        if (!key.starts_with("data file") && !key.starts_with("datafile") && !key.starts_with("elementdatafile"))
            continue;
        const std::size_t begin = line.find_first_not_of(" \t", line.find_first_of(":=") + 1);
        const std::size_t end = line.find_last_not_of(" \t\r");
        if (begin != std::string::npos && end >= begin) {
            files.push_back(header.parent_path() / line.substr(begin, end + 1 - begin));
        }
    }
}

static void add_files_of_pattern(const Path& pattern, FileNames& files) {
    as_far_as_possible([&] {
        const FileNames fitting = volumes_of(pattern);
        files.insert(files.end(), fitting.begin(), fitting.end());
    });
}

FileNames files_read(const Path& input, const std::vector<std::string>& settings) {
    FileNames files;
    if (input.empty()) {
        if (!settings.empty()) add_files_of_scan(input, settings, files);
        return files;
    }
    files.push_back(input);
    const std::string ending = lower_ending(input);
    std::error_code problem;
    const bool is_folder = std::filesystem::is_directory(input, problem) && !is_volume_name(input);
    if (is_folder || is_pattern(input)) {
        add_files_of_pattern(input, files);
    } else if (ending == ".nhdr" || ending == ".mhd") {
        add_voxels_apart(input, files);
    } else if (!is_volume_name(input)) {
        add_files_of_scan(input, settings, files);
    }
    return files;
}

FileNames files_of(const FileNames& inputs) {
    FileNames all;
    for (const Path& input : inputs) {
        const FileNames files = files_read(input);
        all.insert(all.end(), files.begin(), files.end());
    }
    return all;
}

FileNames files_read(const VolumeSource& source) {
    return files_read(source.input, source.settings);
}

void add_files_of_view(const View& view, FileNames& files) {
    for (const Field<View>& field : describe<View>()) {
        const Value value = field.get(view);
        const auto* name = std::get_if<std::string>(&value);
        if (name != nullptr && is_file_name(field, *name, "")) files.emplace_back(*name);
    }
}

// ---- Kinds of files

constexpr std::array<std::string_view, 8> raw_endings{".raw", ".bin", ".dat", ".spectra",
                                                      ".u8",  ".u16", ".i16", ".f32"};
constexpr std::array<std::string_view, 3> other_endings{".toml", ".json", ".png"};

template <std::size_t N>
static bool is_one_of(const std::string& ending, const std::array<std::string_view, N>& endings) {
    return std::ranges::find(endings, ending) != endings.end();
}

static FileKind kind_of_toml(const std::filesystem::path& path) {
    std::set<std::string, std::less<>> sections;
    for (const TomlEntry& entry : toml_entries(path)) sections.emplace(section_of(entry.name));
    if (sections.contains("session") || sections.contains("window")) return FileKind::session;
    if (sections.contains("scan")) return FileKind::view_source;
    if (sections == std::set<std::string, std::less<>>{"transfer"}) return FileKind::transfer;
    if (sections.contains("view") || std::ranges::any_of(sections, is_recipe_section)) return FileKind::preset;
    throw Error(ErrorCode::bad_file, "has no section that Echolux knows", path.string(),
                "[scan] describes spectra, [session] a session, [view] a view, [transfer] a transfer "
                "function");
}

FileKind kind_of_file(std::filesystem::path& path) {
    if (is_pattern(path)) return FileKind::view_source;
    std::error_code problem;
    if (!std::filesystem::exists(file_part(path).file, problem)) {
        throw Error(ErrorCode::bad_file, "does not exist", path.string(), "check the name");
    }
    if (has_session(path)) return FileKind::picture;  // takes precedence over other kinds
    if (std::filesystem::is_directory(path, problem) || is_volume_name(path)) return FileKind::view_source;
    const std::string ending = lower_ending(path);
    if (ending == ".toml") return kind_of_toml(path);
    if (ending == ".json") return FileKind::transfer;
    if (ending == ".png") return FileKind::picture;
    if (is_sd01raw2(path)) return FileKind::view_source;
    if (ending.empty() || is_one_of(ending, raw_endings)) {
        const std::filesystem::path description = std::filesystem::path(path).replace_extension(".toml");
        const bool is_described = std::filesystem::exists(description, problem);
        if (!is_described) return is_octproz_scan(path) ? FileKind::view_source : FileKind::spectra;
        path = description;
        return kind_of_toml(path);
    }
    if (is_octproz_scan(path)) return FileKind::view_source;
    throw Error(
        ErrorCode::bad_file, "is not a file that Echolux can open", path.string(),
        "volumes (.nrrd .nii .tif .mha .h5 .zarr .npy .dcm .oct .vol .mat ...), folders of them or of pictures, scans "
        "and sessions (.toml), raw spectra (.raw .bin .dat), pictures saved by Echolux (.png), transfer functions "
        "(.toml .json)");
}

bool may_open(const std::filesystem::path& name) {
    const std::string ending = lower_ending(name);
    return is_volume_name(name) || is_one_of(ending, raw_endings) || is_one_of(ending, other_endings);
}

}  // namespace echolux
