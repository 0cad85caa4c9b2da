// Jobs of `echolux calibrate`: backgrounds and noise floors from a scan, k map and dispersion from two mirrors,
// dispersion from a search, roll-off from mirrors at several depths. Plots are figures (*.png, *.svg, *.pdf); an empty
// name means none.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "compute/calibrate/calibrate.h"
#include "compute/calibrate/dispersion_search.h"
#include "compute/calibrate/mirrors.h"
#include "engine/interval.h"
#include "engine/progress.h"
#include "engine/scan/scan.h"

namespace echolux {

// A calibration file with a spectrum, or a scan whose first volume is averaged.
using SpectrumSource = std::filesystem::path;

// ---- Backgrounds, mirrors, dispersion

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

struct NoiseResult {
    std::int64_t lines = 0;
    NoiseMean mean = NoiseMean::amplitude;
    double level_db = 0;  // median over the depths beyond zero delay
    std::string unit;     // "dB of counts", or "dB" if recipe.shaping divides by the light
};

// Measures the first volume with the scan's own recipe. Throws as above.
NoiseResult run(const NoiseJob& job, Progress& progress);

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

struct MirrorResult : MirrorCalibration {
    std::vector<std::string> warnings;
};

MirrorResult run(const MirrorJob& job, Progress& progress);

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

struct DispersionOfScan : DispersionResult {
    std::vector<std::string> warnings;
};

DispersionOfScan run(const DispersionJob& job, Progress& progress);

// Throws Error{bad_file} with `where` if a search of `wanted` found nothing sharp or an implausible result.
void require_sharp(const DispersionResult& found, const DispersionSearch& wanted, const std::string& where);

// Runs searched_dispersion() with progress and cancelling.
DispersionResult searched_dispersion(const ReconstructionSpec& plan, const Block& block, const DispersionSearch& wanted,
                                     Progress& progress);

// ---- Job of `echolux calibrate rolloff`: level, SNR, sensitivity and width of a mirror at several depths, and the
// depth at which 6 dB are lost.

// Unit of the input that contains one mirror.
enum class MirrorPer { source, b_scan, a_scan };

struct RollOffJob {
    std::vector<SpectrumSource> mirrors;
    MirrorPer mirror_per = MirrorPer::source;  // otherwise mirror i uses B-scan or A-scan i of the background
    DepthWindow depths;                        // depths to search for mirrors
    std::filesystem::path scan;                // its calibration and recipe are used; empty: each mirror's own
    std::vector<std::string> settings;         // of that scan, or of each mirror
    SpectrumSource background;                 // without the mirror; empty: calibration.background, or none
    bool leaves_out_outliers = false;      // fits the fall-off without mirrors that do not follow that of the others
    std::optional<double> attenuation_db;  // of the power in the sample arm, both ways together; std::nullopt: unknown
    std::filesystem::path output;          // *.csv; empty: not written
    std::filesystem::path plot;            // *.png, *.svg, *.pdf; empty: not drawn
    bool overwrites = false;               // replaces any existing file
};

// Depths are in air. Bins are counted without zero padding.
struct RolledMirror {
    std::string name;
    std::int64_t lines = 0;  // averaged in power; a mean spectrum counts as one line
    MirrorReading reading;
    bool is_opposite = false;              // sharpened by dispersion with inverted sign, so beyond zero delay
    std::optional<double> sensitivity_db;  // SNR plus attenuation
    std::vector<double> profile_db;        // of |A|, with points_per_bin points per bin
};

struct RollOffResult {
    std::vector<RolledMirror> mirrors;  // sorted by depth
    std::int64_t bins = 0;              // in the one-sided range
    double bin_um = 0;                  // if 0, unknown
    std::optional<FallOff> fall_off;    // std::nullopt: mirrors cover less than a tenth of the range
    std::optional<double> six_db_bin;   // std::nullopt: beyond the range
    std::vector<std::string> warnings;

    // "(extrapolated; deepest mirror at 120.0 um)", with lengths multiplied by `of_bin`. "" if 6 dB are lost between
    // the mirrors.
    std::string extrapolation(double of_bin, const std::string& unit) const;
};

// Throws Error{bad_file, bad_setting, output, cancelled}.
RollOffResult run(const RollOffJob& job, Progress& progress);

}  // namespace echolux
