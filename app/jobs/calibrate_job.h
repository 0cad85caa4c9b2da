// Jobs of `echolux calibrate`: backgrounds and noise floors from a scan, k map and dispersion from two mirrors,
// dispersion from a search. Plots are figures (*.png, *.svg, *.pdf); an empty name means none.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "app/jobs/calibrate_sources.h"
#include "compute/calibrate/dispersion_search.h"
#include "compute/calibrate/mirrors.h"
#include "engine/interval.h"
#include "engine/progress.h"

namespace echolux {

struct MeanSpectrumJob {
    std::filesystem::path scan;
    std::vector<std::string> settings;  // such as "scan.channel=1"
    std::filesystem::path output;
    bool overwrites = false;  // replaces any existing file
};

// Returns the number of lines that were averaged. Throws Error{bad_file, bad_setting, output, cancelled}.
std::int64_t run(const MeanSpectrumJob& job, Progress& progress);

enum class NoiseMean { amplitude, power };  // power: square root of the mean power

struct NoiseJob {
    std::filesystem::path scan;  // recorded without a sample
    std::vector<std::string> settings;
    std::optional<NoiseMean> mean;  // std::nullopt: the mean that recipe.noise_floor subtracts, or else of amplitudes
    std::filesystem::path output;   // in the format of Calibration::noise_floor
    std::filesystem::path plot;
    bool overwrites = false;  // as above
};

struct NoiseFound {
    std::int64_t lines = 0;
    NoiseMean mean = NoiseMean::amplitude;
    double level_db = 0;  // median over the depths beyond zero delay
    std::string unit;     // "dB of counts", or "dB" if recipe.shaping divides by the light
};

// Measures the first volume with the scan's own recipe. Throws as above.
NoiseFound run(const NoiseJob& job, Progress& progress);

struct MirrorJob {
    SpectrumSource mirror_1, mirror_2, background;
    SpectrumSource dark;  // empty: none
    MirrorSides sides = MirrorSides::same;
    bool k_falls = false;
    double displacement_um = 0;
    double centre_wavelength = 0;      // in nm; um or m are also recognised by magnitude; 0 if unknown
    std::filesystem::path k_map;       // output file
    std::filesystem::path dispersion;  // output file with the phase theta; empty: none
    std::filesystem::path plot;
    bool overwrites = false;  // as above
};

struct MirrorsFound : MirrorCalibration {
    std::vector<std::string> warnings;
};

MirrorsFound run(const MirrorJob& job, Progress& progress);

struct DispersionJob {
    std::filesystem::path scan;
    std::vector<std::string> settings;
    std::optional<std::int64_t> b_scan;  // of the first volume; std::nullopt: the middle one
    Interval a_scans;                    // `end` 0: to the last
    Interval rows;                       // counted like recipe.depth_begin; 0:0: the depths that the recipe keeps
    DispersionSearch search;             // its lines and depths are replaced by those above
    std::filesystem::path output;        // output file with the whole phase theta; empty: none
    std::filesystem::path plot;
    bool overwrites = false;  // as above
};

struct DispersionOfScan : DispersionFound {
    std::vector<std::string> warnings;
};

DispersionOfScan run(const DispersionJob& job, Progress& progress);

// Throws Error{bad_file} with `where` if a search of `wanted` found nothing sharp or an implausible result.
void require_sharp(const DispersionFound& found, const DispersionSearch& wanted, const std::string& where);

// Runs searched_dispersion() with progress and cancelling.
DispersionFound searched_dispersion(const ReconstructionSpec& plan, const Block& block, const DispersionSearch& wanted,
                                    Progress& progress);

}  // namespace echolux
