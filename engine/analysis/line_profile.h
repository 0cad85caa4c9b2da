// Values of a volume along a straight line.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "engine/io/volume_file.h"

namespace echolux {

struct LineProfile {
    std::array<double, 3> from{}, to{};  // depth, A-scans, B-scans: lengths from the centre of the first voxel
    std::vector<float> values;           // two or more evenly spaced values, the first at `from`, the last at `to`
    std::string unit;                    // unit of the values
    double length = 0;                   // length of the line in um, or in voxels if the spacing is unknown
    bool has_spacing = false;

    double step() const { return length / static_cast<double>(values.size() - 1); }
};

// Samples the line by trilinear interpolation, two values per voxel and at most 4096. The outermost voxels extend
// beyond the volume. Throws Error{bad_setting} for complex voxels.
LineProfile line_profile(const Volume& volume, const std::array<double, 3>& from, const std::array<double, 3>& to);

// Returns CSV: "length_um,value" and a line per value; the column is length_voxels if the spacing is unknown.
std::string profile_csv(const LineProfile& profile);

}  // namespace echolux
