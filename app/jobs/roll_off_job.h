// Job of `echolux calibrate rolloff`: level, SNR, sensitivity and width of a mirror at several depths, and the depth at
// which 6 dB are lost.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "app/jobs/calibrate_sources.h"
#include "compute/calibrate/mirrors.h"
#include "engine/progress.h"

namespace echolux {

// Unit of the input that contains one mirror.
enum class MirrorPer { source, b_scan, a_scan };

struct RollOffJob {
    std::vector<SpectrumSource> mirrors;
    MirrorPer mirror_per = MirrorPer::source;  // otherwise mirror i uses B-scan or A-scan i of the background
    DepthWindow depths;                        // depths to search for mirrors
    std::filesystem::path scan;                // its calibration and recipe are used; empty: each mirror's own
    std::vector<std::string> settings;         // of that scan, or of each mirror
    SpectrumSource background;                 // without the mirror; empty: calibration.background, or none
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

struct RollOffFound {
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
RollOffFound run(const RollOffJob& job, Progress& progress);

}  // namespace echolux
