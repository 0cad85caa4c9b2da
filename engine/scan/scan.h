// A scan: raw spectra on disk, acquisition parameters, calibration, and reconstruction settings. It is described by a
// TOML file beside the raw data (docs/scan-files.md), by a self-describing raw file (SD01RAW2, Thorlabs .oct), or by a
// file of another program beside it (OCTproZ, AO-OCT .unp).
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "assets/assets.h"
#include "compute/plan/params.h"
#include "compute/reconstructor.h"
#include "engine/scan/raw_spectra.h"
#include "engine/scan/recording.h"
#include "engine/scan/settings.h"

namespace echolux {

class ScratchFile;

// Files named in [calibration], relative to the TOML file. Text files have one number per line (CSV: the last column),
// k_jitter two. Files named *.f32 and *.f64 are raw little-endian numbers.
struct CalibrationFiles {
    std::string background;
    std::string dark;
    std::string k_map;        // -> Calibration::k_positions
    std::string wavelengths;  // -> Calibration::wavelengths_nm
    std::string dispersion;   // -> Calibration::dispersion_rad
    std::string noise_floor;
    std::string fast_axis;
    std::string mask;      // for recipe.method = compressive
    std::string k_jitter;  // offset and stretch per A-scan or acquired B-scan
};

// A calibration array and the file that it may be loaded from.
struct CalibrationPart {
    enum class Length { samples, lines, any };  // numbers in the file: samples of a spectrum, lines of a B-scan

    std::string_view array;  // name of the array in the C interface and in Python
    std::vector<double> Calibration::*numbers;
    Length length;
    std::int64_t columns;
    Field<CalibrationFiles> file;  // the setting that names the file

    std::string_view key() const { return file.name; }  // in [calibration]
    std::string file_name(const CalibrationFiles& files) const { return std::get<std::string>(file.get(files)); }
};

// Returns all parts, in the order of CalibrationFiles.
const std::vector<CalibrationPart>& calibration_parts();

struct Scan : ReconstructionInputs {
    std::filesystem::path path;     // path that was opened
    std::filesystem::path spectra;  // absolute path of the raw file
    // Further raw files of a striped scan; empty if all bytes are in `spectra`.
    std::vector<std::filesystem::path> stripes;
    SpectraFile file;
    CalibrationFiles calibration_files;           // loaded into `calibration`
    std::shared_ptr<const ScratchFile> unpacked;  // decompressed raw file, removed with the last copy
    RecordingNotes recording;            // of live recordings; one that was cut off opens up to its last whole block
    std::vector<MissingBScans> missing;  // of recordings: B-scans whose spectra are missing
    // Messages about input that was reinterpreted or has no effect, one line each.
    std::vector<std::string> remarks;

    // Returns the specification for blocks of this many B-scans.
    ReconstructionSpec spec(std::int64_t block_b_scans) const;
};

// Sections of RecipeSections.
inline constexpr std::array<std::string_view, 5> recipe_sections{"recipe", "flow", "nufft", "defr", "compressive"};

bool is_recipe_section(std::string_view section);

// Binds the structs of these sections, in a scan or a spec.
void bind_recipe(Settings& settings, RecipeSections& sections);

// Copies these structs between scans and specs.
inline void take_recipe(const RecipeSections& from, RecipeSections& to) {
    to = from;
}

// Binds all structs of `scan`, which must outlive `settings`: sections scan, calibration, recipe, flow, nufft, defr,
// compressive and recording.
void bind(Settings& settings, Scan& scan);

// Opens the TOML file of a scan or a self-describing raw file. Applies `assignments` ("recipe.window=hann"), loads
// calibration files and checks everything against the size of the raw file. No memory is allocated from unchecked
// numbers. Throws Error{bad_file, bad_setting} naming file, key and expected value; for a truncated raw file, the
// A-scan at which it ends.
Scan open_scan(const std::filesystem::path& path, std::span<const std::string> assignments = {});

// Describes the scan of an instrument: as open_scan(), without a raw file. `path` may be empty if assignments suffice.
// `on_scan` is called before calibration is loaded and sizes are checked, so that the instrument can override the
// sample count and format. Its exceptions are passed on.
Scan describe_scan(const std::filesystem::path& path, std::span<const std::string> assignments,
                   const std::function<void(Scan&)>& on_scan);

// Loads the files in scan.calibration_files into scan.calibration. Entries without a file are kept. Throws
// Error{bad_file, bad_setting}.
void load_calibration(Scan& scan);

// Returns planned_grid() of the scan's spec. Errors also name the scan's file.
VolumeGrid planned_grid(const Scan& scan);

// Returns whether the raw file needs no TOML file, because it or a file of another program describes it.
bool describes_itself(const std::filesystem::path& path);

// Returns all settings that differ from their defaults, as TOML.
std::string scan_toml(const Scan& scan);

// Writes the TOML file scan.path atomically. Throws Error{output}.
void write_scan_toml(const Scan& scan);

// ---- First line of each scan TOML file written by this program, used to recognise our own files.

inline constexpr const char* scan_toml_heading = "# A scan for Echolux: keys that are left out have their defaults.\n";

// ---- Recipes: named sets of settings for a purpose. They are TOML files with a section [about], followed by sections
// of scan files. Some are shipped with the program (assets/recipes); users can add their own.

struct NamedRecipe {
    std::string method;                    // how it works and what it costs, in one line
    std::string use;                       // when to use it, in one line
    std::vector<std::string> assignments;  // "recipe.method=defr", in file order
};

// Reads a recipe. Throws Error{bad_file, bad_setting}, naming file and key, if it contains invalid settings.
NamedRecipe recipe_of(const Asset& asset);

// Returns the assignments of a recipe. `name` is that of the user's own or of a shipped recipe, or a path that ends in
// .toml. Throws as recipe_of(), and Error{bad_setting} for an unknown name, suggesting the nearest or listing all.
std::vector<std::string> assignments_of_recipe(std::string_view name);

// ---- Origin of voxels, stored with them in files so that they can be reproduced.

// Returns program version, backend, source, all settings that differ from their defaults, and hashes of calibration
// files, by key. A missing calibration file has the hash "missing".
std::map<std::string, std::string> provenance_of(const Scan& scan, const std::string& backend);

}  // namespace echolux
