// The job behind `echolux calibrate rolloff`: level, SNR, sensitivity and width of a mirror at several depths, and the
// depth at which 6 dB are lost.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "app/jobs/calibrate_sources.h"
#include "compute/calibrate/roll_off.h"
#include "engine/progress.h"

namespace echolux {

// What stands at one depth each.
enum class MirrorPer { source, b_scan, a_scan };

struct RollOffJob {
    std::vector<SpectrumSource> mirrors;
    MirrorPer mirror_per =
        MirrorPer::source;              // else the background's B-scan or A-scan of the same number belongs to it
    DepthWindow depths;                 // where mirrors are looked for
    std::filesystem::path scan;         // whose calibration and recipe are used; empty: each mirror's own
    std::vector<std::string> settings;  // of that scan, or of each mirror
    SpectrumSource background;          // without the mirror; empty: calibration.background, or nothing is subtracted
    std::optional<double> attenuation_db;  // of the power in the sample arm, there and back together; nothing: unknown
    std::filesystem::path output;          // *.csv; empty: not written
    std::filesystem::path plot;            // *.png, *.svg, *.pdf; empty: not drawn
    bool overwrites = false;               // replaces what is there, whoever made it
};

// Depths are in air. Bins are those without zero padding.
struct RolledMirror {
    std::string name;
    std::int64_t lines = 0;  // whose power was averaged; a mean spectrum is one line
    MirrorReading reading;
    bool is_opposite = false;              // dispersion with its sign turned sharpens it: beyond zero delay
    std::optional<double> sensitivity_db;  // SNR and the attenuation
    std::vector<double> profile_db;        // of |A|, points_per_bin points a bin
};

struct RollOffFound {
    std::vector<RolledMirror> mirrors;  // by depth
    std::int64_t bins = 0;              // of the one-sided range
    double bin_um = 0;                  // 0: unknown
    std::optional<FallOff> fall_off;    // nothing: mirrors over less than a tenth of the range
    std::optional<double> six_db_bin;   // nothing: not within the range
    std::vector<std::string> warnings;

    // "(extrapolated; deepest mirror at 120.0 um)", lengths times `of_bin`; "": 6 dB are lost between the mirrors.
    std::string extrapolation(double of_bin, const std::string& unit) const;
};

// Throws Error{bad_file, bad_setting, output, cancelled}.
RollOffFound run(const RollOffJob& job, Progress& progress);

}  // namespace echolux
