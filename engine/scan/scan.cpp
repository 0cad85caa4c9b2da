#include "engine/scan/scan.h"

#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <fstream>
#include <iterator>
#include <optional>
#include <string_view>

#include "compute/error.h"
#include "compute/indexing.h"
#include "compute/methods/k_jitter.h"
#include "compute/plan/choices.h"
#include "compute/plan/describe.h"
#include "compute/plural.h"
#include "engine/build.h"
#include "engine/geometry/beam_geometry.h"
#include "engine/io/atomic_file.h"
#include "engine/io/file_name.h"
#include "engine/io/number_file.h"
#include "engine/io/regular_file.h"
#include "engine/io/volume_file.h"
#include "engine/scan/foreign_scans.h"
#include "engine/scan/raw_spectra.h"
#include "engine/scan/recording.h"
#include "engine/scan/scan_checks.h"
#include "engine/scan/scan_pattern.h"
#include "engine/scan/settings.h"
#include "engine/scan/time_points.h"

namespace echolux {

template <>
const std::vector<Field<SpectraFile>>& describe<SpectraFile>() {
    using S = SpectraFile;
    constexpr Effect effect = Effect::file;
    constexpr std::int64_t max = std::int64_t{1} << 50;
    static const std::vector<Field<S>> fields{
        text("file", &S::file, effect, "the raw spectra, relative to the TOML file").file(),
        text("stripes", &S::stripes, effect,
             "further files with stripes of the spectra, on other disks: names separated by semicolons"),
        integer("stripe_bytes", &S::stripe_bytes, 512, max_stripe_bytes, "bytes", effect,
                "length of a stripe; stripes alternate between `file` and `stripes`"),
        integer("offset_bytes", &S::offset_bytes, 0, max, "bytes", effect, "header before the first acquired B-scan"),
        integer("frame_offset_bytes", &S::frame_offset_bytes, 0, max, "bytes", effect,
                "header before the lines of each acquired B-scan"),
        integer("trailer_bytes", &S::trailer_bytes, 0, max, "bytes", effect, "footer after the last line"),
    };
    return fields;
}

const std::vector<CalibrationPart>& calibration_parts() {
    using S = CalibrationFiles;
    using C = Calibration;
    using enum CalibrationPart::Length;
    const auto file = [](std::string_view name, std::string S::*member, Effect effect, std::string_view help) {
        return text(name, member, effect, help).file({".txt", ".csv", ".f32", ".f64"});
    };
    static const std::vector<CalibrationPart> parts{
        {"background", &C::background, samples, 1,
         file("background", &S::background, Effect::table, "file: spectrum with the sample arm blocked, in counts")
             .in("Background")
             .called("background file")},
        {"dark", &C::dark, samples, 1,
         file("dark", &S::dark, Effect::table, "file: spectrum without light, in counts")
             .in("Background")
             .called("dark file")},
        {"k_positions", &C::k_positions, samples, 1,
         file("k_map", &S::k_map, Effect::table, "file: sample position of each point of the uniform k grid")
             .in("Spectrum")},
        {"wavelengths_nm", &C::wavelengths_nm, samples, 1,
         file("wavelengths", &S::wavelengths, Effect::table,
              "file: wavelength of each sample in nm (um, m and Angstrom are noticed), instead of k_map")
             .in("Spectrum")},
        {"dispersion_rad", &C::dispersion_rad, samples, 1,
         file("dispersion", &S::dispersion, Effect::table, "file: phase in rad at each point of the uniform k grid")
             .in("Dispersion")
             .called("phase file")
             .only_while("recipe.dispersion", {"true"})},
        {"noise_floor", &C::noise_floor, any, 1,
         file("noise_floor", &S::noise_floor, Effect::table, "file: mean amplitude of each depth bin without a sample")
             .in("Levels")
             .called("floor file")
             .unless("recipe.noise_floor", {"none"})},
        {"fast_axis", &C::fast_axis, lines, 1,
         file("fast_axis", &S::fast_axis, Effect::plan,
              "file: beam position at each line of a B-scan, in any unit, for scan.fast_axis = file")
             .only_while("scan.fast_axis", {"file"})},
        {"mask", &C::mask, samples, 1,
         file("mask", &S::mask, Effect::plan,
              "file: 1 for each sample that is used, 0 for the others, for compressive.mask = file")
             .in("Method")
             .called("mask file")
             .only_while("compressive.mask", {"file"})},
        // Other kinds of resampling refuse a file, so that it must be possible to remove it.
        {"k_jitter", &C::k_jitter, any, 2,
         file("k_jitter", &S::k_jitter, Effect::plan,
              "file: offset and stretch of the samples on the k grid, for each A-scan or acquired B-scan")
             .in("Spectrum")
             .only_while("recipe.resample", {"nufft"})
             .or_unless("calibration.k_jitter", {""})},
    };
    return parts;
}

template <>
const std::vector<Field<CalibrationFiles>>& describe<CalibrationFiles>() {
    static const std::vector<Field<CalibrationFiles>> fields = [] {
        std::vector<Field<CalibrationFiles>> list;
        for (const CalibrationPart& part : calibration_parts()) list.push_back(part.file);
        return list;
    }();
    return fields;
}

namespace {

// The error names the scan, because file names are relative to its folder.
void require_calibration_file(const Scan& scan, const std::filesystem::path& file, const std::string& key) {
    std::error_code problem;
    if (std::filesystem::exists(file, problem)) return;
    const std::string where = scan.path.empty() ? "" : scan.path.string() + ", ";
    throw Error(ErrorCode::bad_file, file.string() + " does not exist", where + key,
                "correct the name, which is relative to the folder of the scan's TOML file, or leave the key out");
}

void to_nanometres(std::vector<double>& wavelengths, const std::string& where, std::vector<std::string>& remarks) {
    const std::optional<WavelengthUnit> unit = wavelength_unit_of(wavelengths);
    if (!unit || unit->nm == 1) return;
    for (double& wavelength : wavelengths) wavelength *= unit->nm;
    remarks.push_back(fmt::format("{}: wavelengths interpreted as {}, {:.1f} to {:.1f} nm", where, unit->name,
                                  wavelengths.front(), wavelengths.back()));
}

void load_part(Scan& scan, const CalibrationPart& part) {
    using Length = CalibrationPart::Length;
    const std::string name = part.file_name(scan.calibration_files);
    if (name.empty()) return;
    const std::filesystem::path file = scan.path.parent_path() / name;
    const std::string key = "calibration." + std::string(part.key());
    require_calibration_file(scan, file, key);
    const std::int64_t length = part.length == Length::samples ? scan.geometry.samples
                                : part.length == Length::lines ? scan.geometry.lines_per_b_scan()
                                                               : 0;
    scan.calibration.*part.numbers = read_calibration(file, length, key, part.columns);
}

}  // namespace

void load_calibration(Scan& scan) {
    const CalibrationFiles& files = scan.calibration_files;
    Calibration& calibration = scan.calibration;
    const int k_maps = !files.k_map.empty() + !files.wavelengths.empty() + !calibration.k_polynomial.empty();
    if (k_maps > 1) {
        throw Error(ErrorCode::bad_setting, "k_map, wavelengths and k_polynomial exclude each other",
                    scan.path.string() + ", calibration",
                    "keep the right one; clear the others with an empty value: calibration.wavelengths=");
    }
    if (k_maps == 1) calibration.k_positions.clear();  // replaces those of a self-describing format
    const std::filesystem::path folder = scan.path.parent_path();
    for (const CalibrationPart& part : calibration_parts()) load_part(scan, part);
    scan.remarks.clear();
    to_nanometres(calibration.wavelengths_nm, (folder / files.wavelengths).string(), scan.remarks);
    check_k_positions(calibration.k_positions, scan.geometry.samples,
                      (folder / files.k_map).string() + ", calibration.k_map");
    check_wavelengths(calibration.wavelengths_nm, (folder / files.wavelengths).string() + ", calibration.wavelengths");
    check_k_jitter(calibration.k_jitter, scan.geometry, (folder / files.k_jitter).string() + ", calibration.k_jitter");
    std::ranges::move(implausible_settings(scan), std::back_inserter(scan.remarks));
}

namespace {

// Formats that need no TOML file.
struct ForeignScan {
    bool (*owns)(const std::filesystem::path& path);
    void (*describe)(const std::filesystem::path& path, Scan& scan);
};

bool is_thorlabs(const std::filesystem::path& path) {
    return lower_ending(path) == ".oct";
}

void describe_thorlabs_if_built(const std::filesystem::path& path, Scan& scan) {
    if constexpr (has(Part::thorlabs)) return describe_thorlabs(path, scan);
    refuse_missing(Part::thorlabs, path.string());
}

constexpr std::array<ForeignScan, 4> foreign_scans{{{is_sd01raw2, describe_sd01raw2},
                                                    {is_thorlabs, describe_thorlabs_if_built},
                                                    {is_octproz_scan, describe_octproz},
                                                    {is_unp, describe_unp}}};

// Returns null for other formats.
const ForeignScan* foreign_scan(const std::filesystem::path& path) {
    const auto found =
        std::ranges::find_if(foreign_scans, [&](const ForeignScan& format) { return format.owns(path); });
    return found == foreign_scans.end() ? nullptr : &*found;
}

// Users may pass a picture or a volume by mistake. A parser error would not help them.
void refuse_results(const std::filesystem::path& path) {
    std::error_code problem;
    const std::filesystem::file_status status = std::filesystem::status(path, problem);
    if (std::filesystem::exists(status) && !is_regular_file(status) && !is_directory(status))
        throw Error(ErrorCode::bad_file, "is not a file", path.string(), "use the scan's TOML file");
    constexpr std::array pictures{std::string_view("\x89PNG"), std::string_view("\xff\xd8\xff")};
    constexpr std::array volumes{
        std::string_view("NRRD"),     std::string_view("ObjectType"),
        std::string_view("II*"),      std::string_view("MM\0*", 4),
        std::string_view("\x1f\x8b"), std::string_view("\x5c\x01\0\0", 4)};  // 348: header size of NIfTI
    std::array<char, 16> start{};
    regular_stream(path).read(start.data(), start.size());
    const std::string_view bytes(start.data(), start.size());
    const auto begins_with = [bytes](std::string_view magic) { return bytes.starts_with(magic); };
    if (std::ranges::any_of(pictures, begins_with)) {
        throw Error(ErrorCode::bad_file, "is an image, not a scan", path.string(), "use the scan's TOML file");
    }
    if (!is_volume_name(path) && begins_with("\x1f\x8b")) {
        throw Error(ErrorCode::bad_file, "is compressed with gzip", path.string(),
                    "unpack it with gunzip; NRRD, MetaImage and NIfTI files can hold compressed voxels");
    }
    const bool is_named_volume = is_volume_name(path) && foreign_scan(path) == nullptr;
    if (is_named_volume || std::ranges::any_of(volumes, begins_with)) {
        throw Error(ErrorCode::bad_file, "is a volume, not a scan", path.string(),
                    "volumes can be shown and converted; to reconstruct, use the scan's TOML file");
    }
}

// Returns whether a line begins with a bracket, such as [scan].
bool has_section(std::string_view text) {
    for (std::size_t at = text.find('['); at != text.npos; at = text.find('[', at + 1)) {
        const std::size_t line = text.find_last_of('\n', at) + 1;  // npos + 1 is 0
        if (text.substr(line, at - line).find_first_not_of(" \t\xef\xbb\xbf") == text.npos) return true;
    }
    return false;
}

// Explains inputs that are not text, or text of another kind, for the same reason.
void refuse_binary(const std::filesystem::path& path) {
    std::error_code problem;
    if (std::filesystem::is_directory(path, problem)) {
        throw Error(ErrorCode::bad_file, "is a folder, not a scan", path.string(),
                    remedy_for_folder(path, "use the scan's TOML file"));
    }
    if (!std::filesystem::exists(path, problem))
        throw Error(ErrorCode::bad_file, "does not exist", path.string(), "check the name");
    std::array<char, 4096> start{};
    std::ifstream file = regular_stream(path);
    file.read(start.data(), start.size());
    const std::string_view bytes(start.data(), index(file.gcount()));
    const std::size_t first = std::min(bytes.find_first_not_of("\xef\xbb\xbf \t\r\n"), bytes.size());
    if (bytes.substr(first).starts_with('<') || bytes.substr(first).starts_with('{')) {
        const std::string kind = bytes[first] == '<' ? "XML" : "JSON";
        throw Error(ErrorCode::bad_file, "is " + kind + ", not a scan's TOML file", path.string(),
                    "use the scan's TOML file; for raw spectra without one, `guess` proposes one");
    }
    if (bytes.find('\0') == bytes.npos) {
        if (lower_ending(path) == ".toml" || has_section(bytes)) return;
        throw Error(ErrorCode::bad_file, "is a text file without a [section], not a scan's TOML file", path.string(),
                    "use the scan's TOML file");
    }
    throw Error(ErrorCode::bad_file, "is neither a scan's TOML file nor a known raw format", path.string(),
                "for raw spectra, `guess` proposes a description");
}

// Ignores the sections [view] and [transfer], which only the display uses, and checks [geometry], which only positions
// in mm use.
void read_scan_toml(Settings& settings, const std::filesystem::path& path) {
    std::vector<TomlEntry> entries = toml_entries(path), of_geometry;
    std::erase_if(entries, [&](const TomlEntry& entry) {
        const std::string_view section = section_of(entry.name);
        if (section == "geometry") of_geometry.push_back(entry);
        return section == "view" || section == "transfer" || section == "geometry";
    });
    settings.take(entries);
    BeamGeometry geometry;
    Settings checks;
    checks.bind("geometry", geometry);
    checks.take(of_geometry);
}

// `which` describes the part of a striped file in messages.
std::filesystem::path located(const Scan& scan, const std::string& name, const std::string& where,
                              const std::string& which) {
    const auto path = std::filesystem::absolute(scan.path.parent_path() / name).lexically_normal();
    std::error_code problem;
    if (!std::filesystem::exists(path, problem)) {
        throw Error(ErrorCode::bad_file, path.string() + " does not exist" + which, where,
                    which.empty() ? "names are relative to the TOML file" : "mount its disk, or correct the name");
    }
    if (!std::filesystem::is_regular_file(path, problem))
        throw Error(ErrorCode::bad_file, path.string() + " is not a file", where);
    return path;
}

void require_different_files(const std::vector<std::filesystem::path>& files, const std::string& where) {
    for (auto file = files.begin(); file != files.end(); ++file) {
        const auto is_same = [&](const std::filesystem::path& other) {
            std::error_code problem;
            return std::filesystem::equivalent(*file, other, problem);
        };
        if (std::any_of(files.begin(), file, is_same))
            throw Error(ErrorCode::bad_setting, "names " + file->string() + " twice", where, "correct the names");
    }
}

void locate_spectra(Scan& scan) {
    const std::string where = scan.path.string() + ", scan.file";
    if (scan.file.file.empty()) {
        throw Error(ErrorCode::bad_setting, "is missing", where, "name the file that holds the raw spectra");
    }
    scan.spectra = located(scan, scan.file.file, where, "");
    const std::string stripes_key = scan.path.string() + ", scan.stripes";
    const std::vector<std::string> stripes = stripe_names(scan.file.stripes);
    if (stripes.size() >= max_parts) {
        throw Error(ErrorCode::bad_setting, "names " + plural(stripes.size(), "files"), stripes_key,
                    fmt::format("name at most {}", max_parts - 1));
    }
    scan.stripes.clear();
    for (const std::string& name : stripes) {
        const std::string which =
            fmt::format(", which holds part {} of {} of the spectra", scan.stripes.size() + 2, stripes.size() + 1);
        scan.stripes.push_back(located(scan, name, stripes_key, which));
    }
    require_different_files(raw_files(scan), stripes_key);
}

}  // namespace

VolumeGrid planned_grid(const Scan& scan) {
    try {
        return planned_grid(scan.spec(1));
    } catch (const Error& error) {
        throw Error(error.code(), error.problem(), scan.path.string() + ", " + error.where(), error.remedy());
    }
}

ReconstructionSpec Scan::spec(std::int64_t block_b_scans) const {
    return {*this, block_b_scans};
}

bool is_recipe_section(std::string_view section) {
    return std::ranges::count(recipe_sections, section) > 0;
}

void bind_recipe(Settings& settings, RecipeSections& sections) {
    settings.bind("recipe", sections.recipe);
    settings.bind("flow", sections.flow);
    settings.bind("nufft", sections.nufft);
    settings.bind("defr", sections.defr);
    settings.bind("compressive", sections.compressive);
}

void bind(Settings& settings, Scan& scan) {
    settings.bind("scan", scan.file);
    settings.bind("scan", scan.format);
    settings.bind("scan", scan.geometry);
    settings.bind("calibration", scan.calibration_files);
    settings.bind("calibration", scan.calibration);
    bind_recipe(settings, scan);
    settings.bind("recording", scan.recording);
}

Scan open_scan(const std::filesystem::path& path, std::span<const std::string> assignments) {
    Scan scan;
    scan.path = path;
    Settings settings;
    bind(settings, scan);
    refuse_results(path);
    if (const ForeignScan* foreign = foreign_scan(path)) {
        foreign->describe(path, scan);
    } else {
        refuse_binary(path);
        read_scan_toml(settings, path);
    }
    for (const std::string& assignment : assignments) settings.set_assignment(assignment);
    SpectraLayout layout = spectra_layout(scan.file, scan.format, scan.geometry, path.string());
    check_protocol(scan.geometry, path.string());
    locate_spectra(scan);
    if (scan.recording.was_cut()) {
        end_at_last_whole_block(scan);
        layout = spectra_layout(scan.file, scan.format, scan.geometry, path.string());
    }
    check_size(scan, layout, RawBytes(scan));
    check_stripes(scan);
    load_calibration(scan);
    find_missing(scan);
    std::ranges::move(unused_settings(settings, assignments), std::back_inserter(scan.remarks));
    return scan;
}

Scan describe_scan(const std::filesystem::path& path, std::span<const std::string> assignments,
                   const std::function<void(Scan&)>& on_scan) {
    Scan scan;
    scan.path = path;
    Settings settings;
    bind(settings, scan);
    if (!path.empty()) {
        refuse_results(path);
        refuse_binary(path);
        read_scan_toml(settings, path);
    }
    for (const std::string& assignment : assignments) settings.set_assignment(assignment);
    on_scan(scan);
    const std::string where = path.empty() ? "the scan" : path.string();
    spectra_layout(scan.file, scan.format, scan.geometry, where);
    check_protocol(scan.geometry, where);
    load_calibration(scan);
    return scan;
}

bool describes_itself(const std::filesystem::path& path) {
    return foreign_scan(path) != nullptr;
}

std::string scan_toml(const Scan& scan) {
    Scan copy = scan;
    Settings settings;
    bind(settings, copy);
    return settings.toml();
}

void write_scan_toml(const Scan& scan) {
    write_text(scan.path, scan_toml_heading + ("\n" + scan_toml(scan)));
}

// The costs in the shipped recipes are processor times for 2048 samples on one core, relative to a plain reconstruction
// without dispersion.
template <>
const std::vector<Field<NamedRecipe>>& describe<NamedRecipe>() {
    static const std::vector<Field<NamedRecipe>> fields{
        text("method", &NamedRecipe::method, Effect::file, "method and cost, in one line"),
        text("use", &NamedRecipe::use, Effect::file, "when to use it, in one line"),
    };
    return fields;
}

NamedRecipe recipe_of(const Asset& asset) {
    NamedRecipe recipe;
    Scan scan;
    Settings settings;
    settings.bind("about", recipe);
    bind(settings, scan);
    const std::vector<TomlEntry> entries = toml_entries_of(recipe_files, asset);
    settings.take(entries);
    for (const TomlEntry& entry : entries) {
        if (section_of(entry.name) != "about") recipe.assignments.push_back(assignment_of(entry.name, entry.value));
    }
    return recipe;
}

std::vector<std::string> assignments_of_recipe(std::string_view name) {
    if (name.ends_with(recipe_files.ending)) {
        const std::filesystem::path file(name);
        return recipe_of({file.stem().string(), false, file}).assignments;
    }
    const std::vector<Asset> recipes = assets_of(recipe_files);
    std::vector<std::string_view> names;
    std::string list;
    for (const Asset& asset : recipes) {
        if (asset.name == name) return recipe_of(asset).assignments;
        names.push_back(asset.name);
        list += (list.empty() ? "" : ", ") + asset.name;
    }
    const std::string near = nearest_name(name, names);
    throw Error(ErrorCode::bad_setting, "there is no recipe '" + std::string(name) + "'", "recipe",
                near.empty() ? "choose one of " + list : "did you mean \"" + near + "\"?");
}

namespace {

// Volumes carry [geometry] of their scan file, so that they can be dewarped without it.
void add_geometry(const std::filesystem::path& path, std::map<std::string, std::string>& lines) {
    std::error_code problem;
    if (lower_ending(path) != ".toml" || !std::filesystem::is_regular_file(path, problem)) return;
    std::vector<TomlEntry> entries = toml_entries(path);
    std::erase_if(entries, [](const TomlEntry& entry) { return section_of(entry.name) != "geometry"; });
    BeamGeometry geometry;
    Settings settings;
    settings.bind("geometry", geometry);
    settings.take(entries);
    for (const BoundField& field : settings.fields()) {
        const Value value = field.get();
        if (value != field.default_value) lines[field.key()] = spelled(value);
    }
}

}  // namespace

std::map<std::string, std::string> provenance_of(const Scan& scan, const std::string& backend) {
    Scan described = scan;
    Settings settings;
    bind(settings, described);
    std::map<std::string, std::string> lines{
        {"echolux", version}, {"backend", backend}, {"source", scan.path.filename().string()}};
    for (const BoundField& field : settings.fields()) {
        const Value value = field.get();
        if (value != field.default_value) lines[field.key()] = spelled(value);
        const auto* file = std::get_if<std::string>(&value);
        const bool names_calibration = field.section == "calibration" && file != nullptr && field.choices.empty();
        if (names_calibration && !file->empty()) {
            lines[field.key() + "_fnv1a64"] = file_hash(scan.path.parent_path() / *file);
        }
    }
    add_geometry(scan.path, lines);
    return lines;
}

}  // namespace echolux
