// What is cut away before anything is seen: outside a box, beyond free planes, above and below two heights. Each only
// takes away: what is left is what all of them leave.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "compute/plan/describe.h"

namespace echolux {

// A height that is left at its extreme cuts nothing.
constexpr double above_all_um = -1e9;
constexpr double below_all_um = 1e9;

struct Cut {
    std::vector<double> clip_low{0, 0, 0};  // depth, A-scans, B-scans; fractions of the volume
    std::vector<double> clip_high{1, 1, 1};
    std::vector<double> clip_planes;  // normal (depth, A-scans, B-scans) and offset in um from the centre, for each
    std::string top_from;             // what top_um is counted from: "" zero delay, "surface", or a file
    double top_um = above_all_um;
    std::string bottom_from;
    double bottom_um = below_all_um;
    bool heights_cut = true;  // false: the heights above stay as they are set and cut nothing
    std::string flatten;      // "" as recorded, "surface", or a file
};

template <>
const std::vector<Field<Cut>>& describe<Cut>();

// What its fields' ranges do not say. Throws Error{bad_setting} naming the key.
void check_part(const Cut& cut);

}  // namespace echolux
