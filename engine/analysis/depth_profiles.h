// Single A-scans as numbers: values along depth, and how sharp the strongest echo of each is.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/interval.h"
#include "engine/io/volume_file.h"

namespace echolux {

struct DepthProfile {
    bool is_um = false;         // depths: from zero delay; else counted rows
    std::vector<double> depth;  //
    std::vector<double> values;
    std::string unit;  // of the values; empty: unknown
};

// Throws Error{bad_setting} for an A-scan that is not in the volume, and complex voxels.
DepthProfile depth_profile(const Volume& volume, std::int64_t a_scan, std::int64_t b_scan);

// The strongest echo of an A-scan, measured on amplitudes: values in dB and intensities are turned into these.
struct StrongestEcho {
    std::int64_t b_scan = 0;
    std::int64_t a_scan = 0;
    double depth = 0;         // as DepthProfile counts it, finer than rows
    double height = 0;        // in the volume's unit
    double fwhm = 0;          // of the amplitude, in the unit of `depth`; 0: it does not fall to half on both sides
    double side_lobe_db = 0;  // the highest amplitude outside of the main lobe, which ends at the first minimum on each
                              // side; minus infinity: there is none
};

// Of every A-scan, or, where end is above begin, of these B-scans and in these depth rows alone. Throws
// Error{bad_setting}.
std::vector<StrongestEcho> strongest_echoes(const Volume& volume, Interval b_scans = {}, Interval rows = {});

// Comma-separated, one header line with units.
std::string csv_of(const DepthProfile& profile);
std::string csv_of(const std::vector<StrongestEcho>& echoes, const VolumeGrid& grid);

}  // namespace echolux
