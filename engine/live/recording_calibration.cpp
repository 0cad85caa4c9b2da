#include "engine/live/recording_calibration.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>
#include <string>

#include "compute/error.h"
#include "engine/io/output_file.h"
#include "engine/live/recording_names.h"
#include "engine/scan/settings.h"

namespace echolux {
namespace {

using Path = std::filesystem::path;

// A calibration vector and its setting.
struct CalibrationCopy {
    const char* kind;
    std::string CalibrationFiles::*file;
    std::vector<double> Calibration::*numbers;
};
constexpr std::array<CalibrationCopy, 9> copies{{
    {"background", &CalibrationFiles::background, &Calibration::background},
    {"dark", &CalibrationFiles::dark, &Calibration::dark},
    {"k_map", &CalibrationFiles::k_map, &Calibration::k_positions},
    {"wavelengths", &CalibrationFiles::wavelengths, &Calibration::wavelengths_nm},
    {"dispersion", &CalibrationFiles::dispersion, &Calibration::dispersion_rad},
    {"noise_floor", &CalibrationFiles::noise_floor, &Calibration::noise_floor},
    {"fast_axis", &CalibrationFiles::fast_axis, &Calibration::fast_axis},
    {"mask", &CalibrationFiles::mask, &Calibration::mask},
    {"k_jitter", &CalibrationFiles::k_jitter, &Calibration::k_jitter},
}};

// Returns NAME.k_map.f64 for number 1, then NAME.k_map-2.f64 and so on.
Path copy_name(const Path& scan_toml, const char* kind, int number) {
    const std::string which = number == 1 ? "" : fmt::format("-{}", number);
    return scan_toml.parent_path() / fmt::format("{}.{}{}.f64", scan_toml.stem().string(), kind, which);
}

// Returns the first unused name of a calibration copy.
Path free_name(const Path& scan_toml, const char* kind) {
    std::error_code unknown;
    for (int number = 1;; ++number) {
        Path name = copy_name(scan_toml, kind, number);
        if (!std::filesystem::exists(std::filesystem::symlink_status(name, unknown))) return name;
    }
}

// Returns whether a recording would use this name, so that only its own copies are removed later.
bool is_copy_name(const Path& name, const Path& scan_toml, const char* kind) {
    const std::string begins = copy_name(scan_toml, kind, 1).stem().string(), stem = name.stem().string();
    if (name.has_parent_path() || name.extension() != ".f64" || !stem.starts_with(begins)) return false;
    const std::string number = stem.substr(begins.size());
    const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
    return number.empty() ||
           (number.size() > 1 && number[0] == '-' && std::all_of(number.begin() + 1, number.end(), is_digit));
}

}  // namespace

void copy_calibration(Scan& scan, std::vector<Path>& made) {
    for (const CalibrationCopy& copy : copies) {
        std::string& name = scan.calibration_files.*copy.file;
        const std::vector<double>& numbers = scan.calibration.*copy.numbers;
        name.clear();
        if (numbers.empty()) continue;
        const Path path = free_name(scan.path, copy.kind);
        OutputFile file(path);
        file.write(std::as_bytes(std::span(numbers)));
        made.push_back(path);
        file.commit();
        name = path.filename().string();
    }
}

std::vector<Path> calibration_made_by(const Path& scan_toml) {
    std::vector<Path> files;
    try {
        const Scan scan = scan_of_keys(scan_toml, [](const std::string& key) {
            return key.starts_with("recording.") || key.starts_with("calibration.");
        });
        if (scan.recording.index.empty()) return {};
        for (const CalibrationCopy& copy : copies) {
            const Path name = scan.calibration_files.*copy.file;
            if (is_copy_name(name, scan_toml, copy.kind)) files.push_back(scan_toml.parent_path() / name);
        }
    } catch (const Error&) {
        return {};
    }
    return files;
}

}  // namespace echolux
