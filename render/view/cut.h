// Settings of the clipping: a box, free planes, and two depths. A point is visible only if no limit clips it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "compute/plan/described.h"

namespace echolux {

// A depth limit at its extreme clips nothing.
constexpr double above_all_um = -1e9;
constexpr double below_all_um = 1e9;

struct Cut {
    std::vector<double> clip_low{0, 0, 0};  // depth, A-scans, B-scans, as fractions of the volume
    std::vector<double> clip_high{1, 1, 1};
    std::vector<double> clip_planes;  // four numbers each: normal (depth, A-scans, B-scans), offset in um from the
                                      // centre
    std::string top_from;             // reference of top_um: "" for zero delay, "surface", or a file
    double top_um = above_all_um;
    std::string bottom_from;
    double bottom_um = below_all_um;
    bool heights_cut = true;  // false: the depth limits keep their values but clip nothing
    std::string flatten;      // "" as recorded, "surface", or a file
};

template <>
const std::vector<Field<Cut>>& describe<Cut>();

// Checks what the ranges of the fields do not cover. Throws Error{bad_setting} that names the key.
void check_part(const Cut& cut);

}  // namespace echolux
