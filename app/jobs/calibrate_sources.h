// Input of calibrations: B-scans of a scan in memory, and mean spectra from scans or files.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <vector>

#include "compute/calibrate/calibrate.h"
#include "engine/progress.h"
#include "engine/scan/scan.h"

namespace echolux {

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

// Surveys the first volume. Throws Error{bad_file, cancelled}.
SpectrumSurvey survey_of(const Scan& scan, Progress& progress);

// Averages the scan's first volume, reconstructed one B-scan at a time. Throws what MeanProfile throws and
// Error{bad_file, cancelled}.
MeanProfile mean_profile(const Scan& scan, const ReconstructionSpec& plan, Progress& progress);

// Returns counts [samples]. `samples`: required length, that of `like`; 0: any. Throws Error{bad_file, cancelled} and
// what open_scan() throws.
std::vector<double> mean_spectrum(const SpectrumSource& source, const char* what, std::int64_t samples,
                                  const char* like, Progress& progress);

}  // namespace echolux
