// What calibration is made of: B-scans of a scan in memory, and mean spectra from scans or files.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <vector>

#include "compute/calibrate/mean_profile.h"
#include "compute/calibrate/spectrum_survey.h"
#include "engine/progress.h"
#include "engine/scan/scan.h"

namespace echolux {

// A spectrum in a calibration file, or the mean of a scan's first volume.
using SpectrumSource = std::filesystem::path;

// Whether it is a file of numbers rather than a scan.
bool is_spectrum_file(const SpectrumSource& source);

// B-scan positions of the first volume, without what the file holds around their lines.
struct RawPart {
    std::vector<std::byte> bytes;
    Block block;
};

RawPart read_part(SpectraReader& reader, std::int64_t first, std::int64_t b_scans);

// Of the first volume. Throws Error{bad_file, cancelled}.
SpectrumSurvey survey_of(const Scan& scan, Progress& progress);

// The scan's first volume through a plan of one B-scan at a time. Throws what MeanProfile throws, Error{bad_file,
// cancelled}.
MeanProfile mean_profile(const Scan& scan, const ReconstructionSpec& plan, Progress& progress);

// Counts [samples]. `samples`: what it must have, as `like` has; 0: any. Throws Error{bad_file}, what open_scan()
// throws, Error{cancelled}.
std::vector<double> mean_spectrum(const SpectrumSource& source, const char* what, std::int64_t samples,
                                  const char* like, Progress& progress);

}  // namespace echolux
