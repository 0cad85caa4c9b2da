// Parts shared by calibrations (app/operations/calibrate_*.cpp, the window, the library): B-scans of a scan in memory,
// mean spectra of scans and files, and the search of the dispersion with progress.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "compute/calibrate/calibrate.h"
#include "compute/calibrate/dispersion_search.h"
#include "compute/calibrate/mirrors.h"
#include "engine/progress.h"
#include "engine/scan/scan.h"

namespace echolux {

// Distance of the points of a mirror profile, in bins.
inline constexpr double fine_bin = 1.0 / points_per_bin;

// ---- B-scans and mean spectra. Reading throws Error{bad_file, cancelled}.

// A calibration file with a spectrum, or a scan whose first volume is averaged.
using SpectrumSource = std::filesystem::path;

// Returns true for a file of numbers, false for a scan.
bool is_spectrum_file(const SpectrumSource& source);

// B-scan positions of the first volume, without headers and gaps of the file.
struct RawPart {
    std::vector<std::byte> bytes;
    Block block;
};

RawPart read_part(SpectraReader& reader, std::int64_t first, std::int64_t b_scans);

// Throws Error{bad_file} if this B-scan of the first volume is missing in the recording.
void require_data(const Scan& scan, std::int64_t b_scan);

// Surveys the first volume.
SpectrumSurvey survey_of(const Scan& scan, Progress& progress);

// Averages the scan's first volume, reconstructed one B-scan at a time. Also throws what MeanProfile throws.
MeanProfile mean_profile(const Scan& scan, const ReconstructionSpec& plan, Progress& progress);

// Returns counts [samples]. `settings`: of a scan. `samples`: required length, that of `like`; 0: any. Also throws what
// open_scan() throws.
std::vector<double> mean_spectrum(const SpectrumSource& source, const std::vector<std::string>& settings,
                                  const char* what, std::int64_t samples, const char* like, Progress& progress);

// ---- Dispersion

// Throws Error{bad_file} with `where` if a search of `wanted` found nothing sharp or an implausible result.
void require_sharp(const DispersionResult& found, const DispersionSearch& wanted, const std::string& where);

// Runs searched_dispersion() with progress and cancelling.
DispersionResult searched_dispersion(const ReconstructionSpec& plan, const Block& block, const DispersionSearch& wanted,
                                     Progress& progress);

}  // namespace echolux
