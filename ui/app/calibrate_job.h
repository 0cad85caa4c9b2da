// The jobs behind `echolux calibrate`: a background from a scan, the k map and dispersion from two mirrors, dispersion
// by a search.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "compute/calibrate/dispersion_search.h"
#include "compute/calibrate/mirrors.h"
#include "engine/progress.h"

namespace echolux {

// A spectrum in a calibration file, or the mean of a scan's first volume.
using SpectrumSource = std::filesystem::path;

struct MeanSpectrumJob {
    std::filesystem::path scan;
    std::vector<std::string> settings;  // "scan.channel=1"
    std::filesystem::path output;
};

// The number of lines that were averaged. Throws Error{bad_file, bad_setting, output, cancelled}.
std::int64_t run(const MeanSpectrumJob& job, Progress& progress);

struct MirrorJob {
    SpectrumSource mirror_1, mirror_2, background;
    SpectrumSource dark;  // empty: none
    MirrorSides sides = MirrorSides::same;
    bool k_falls = false;
    double displacement_um = 0;
    double centre_wavelength_nm = 0;
    std::filesystem::path k_map;       // output
    std::filesystem::path dispersion;  // output, the phase theta; empty: not written
};

MirrorCalibration run(const MirrorJob& job, Progress& progress);

struct DispersionJob {
    std::filesystem::path scan;
    std::vector<std::string> settings;
    std::optional<std::int64_t> b_scan;  // of the first volume; nothing: the middle one
    DispersionSearch search;             // depth 0: as the recipe keeps
};

DispersionFound run(const DispersionJob& job, Progress& progress);

// searched_dispersion() that tells how far it is, and is cancelled like other work.
DispersionFound searched_dispersion(const ReconstructionPlan& plan, const Block& block, const DispersionSearch& wanted,
                                    Progress& progress);

}  // namespace echolux
