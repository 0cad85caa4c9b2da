// Single A-scans as numbers: values along depth, and the sharpness of the strongest echo.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/interval.h"
#include "engine/io/volume_file.h"

namespace echolux {

struct DepthProfile {
    bool is_um = false;         // `depth` is in um from zero delay; otherwise in rows
    std::vector<double> depth;  //
    std::vector<double> values;
    std::string unit;  // unit of the values; empty if unknown
};

// Returns one A-scan. Throws Error{bad_setting} if it is not in the volume, and for complex voxels.
DepthProfile depth_profile(const Volume& volume, std::int64_t a_scan, std::int64_t b_scan);

// The strongest echo of an A-scan, measured on amplitudes; dB and intensities are converted.
struct StrongestEcho {
    std::int64_t b_scan = 0;
    std::int64_t a_scan = 0;
    double depth = 0;   // in the unit of DepthProfile, interpolated between rows
    double height = 0;  // in the volume's unit
    double fwhm = 0;    // width of the amplitude in the unit of `depth`; 0 if it does not fall to half on both sides
    // Largest amplitude outside the main lobe, which ends at the first minimum on each side; minus infinity if there is
    // none.
    double side_lobe_db = 0;
};

// Returns the strongest echo of every A-scan, optionally only of some B-scans and depth rows. An end of 0 means the
// last one. Throws Error{bad_setting} for an interval outside the volume.
std::vector<StrongestEcho> strongest_echoes(const Volume& volume, Interval b_scans = {}, Interval rows = {});

// Return CSV with a header line that includes units.
std::string csv_of(const DepthProfile& profile);
std::string csv_of(const std::vector<StrongestEcho>& echoes, const VolumeGrid& grid);

}  // namespace echolux
