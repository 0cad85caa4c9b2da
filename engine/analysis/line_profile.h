// Values of a volume along a straight line, as a profile over its length shows them.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "engine/io/volume_file.h"

namespace echolux {

struct LineProfile {
    std::array<double, 3> from{}, to{};  // depth, A-scans, B-scans: lengths from the middle of the first voxel
    std::vector<float> values;           // evenly spaced, the first at `from`, the last at `to`; at least two
    std::string unit;                    // of them
    double length = 0;                   // of the line: micrometres, or voxels where no spacing is known
    bool has_spacing = false;

    double step() const { return length / static_cast<double>(values.size() - 1); }
};

// Trilinear between voxels, half a voxel from value to value and at most 4096 of them; beyond the volume its outermost
// voxels go on. Throws Error{bad_setting} for complex voxels.
LineProfile line_profile(const Volume& volume, const std::array<double, 3>& from, const std::array<double, 3>& to);

// "length_um,value" and a line for each value; length_voxels where no spacing is known.
std::string profile_csv(const LineProfile& profile);

}  // namespace echolux
