// The jobs behind `echolux calibrate`: backgrounds and noise floors from a scan, the k map and dispersion from two
// mirrors, dispersion by a search. Plots are figures (*.png, *.svg, *.pdf); an empty name makes none.
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
    std::vector<std::string> settings;  // "scan.channel=1"
    std::filesystem::path output;
    bool overwrites = false;  // replaces what is there, whoever made it
};

// The number of lines that were averaged. Throws Error{bad_file, bad_setting, output, cancelled}.
std::int64_t run(const MeanSpectrumJob& job, Progress& progress);

enum class NoiseMean { amplitude, power };  // power: the root of the mean power

struct NoiseJob {
    std::filesystem::path scan;  // recorded without a sample
    std::vector<std::string> settings;
    std::optional<NoiseMean> mean;  // nothing: as recipe.noise_floor subtracts it, of amplitudes where it does not
    std::filesystem::path output;   // as Calibration::noise_floor
    std::filesystem::path plot;
    bool overwrites = false;  // as above
};

struct NoiseFound {
    std::int64_t lines = 0;
    NoiseMean mean = NoiseMean::amplitude;
    double level_db = 0;  // median over depth past zero delay
    std::string unit;     // "dB of counts"; "dB" where recipe.shaping divides by the light
};

// Of the first volume, by the scan's own recipe. Throws as above.
NoiseFound run(const NoiseJob& job, Progress& progress);

struct MirrorJob {
    SpectrumSource mirror_1, mirror_2, background;
    SpectrumSource dark;  // empty: none
    MirrorSides sides = MirrorSides::same;
    bool k_falls = false;
    double displacement_um = 0;
    double centre_wavelength = 0;      // nm, or um or m where that is what it can be; 0: unknown
    std::filesystem::path k_map;       // output
    std::filesystem::path dispersion;  // output, the phase theta; empty: not written
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
    std::optional<std::int64_t> b_scan;  // of the first volume; nothing: the middle one
    Interval a_scans;                    // end 0: to the last
    Interval rows;                       // as recipe.depth_begin counts them; 0:0: as the recipe keeps
    DispersionSearch search;             // its lines and depths are those above
    std::filesystem::path output;        // the whole phase theta; empty: not written
    std::filesystem::path plot;
    bool overwrites = false;  // as above
};

struct DispersionOfScan : DispersionFound {
    std::vector<std::string> warnings;
};

DispersionOfScan run(const DispersionJob& job, Progress& progress);

// Throws Error{bad_file} with `where` for a search of `wanted` that found nothing sharp, or whose answer is not to be
// trusted.
void require_sharp(const DispersionFound& found, const DispersionSearch& wanted, const std::string& where);

// searched_dispersion() that tells how far it is, and is cancelled like other work.
DispersionFound searched_dispersion(const ReconstructionSpec& plan, const Block& block, const DispersionSearch& wanted,
                                    Progress& progress);

}  // namespace echolux
