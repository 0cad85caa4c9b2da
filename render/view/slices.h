// Planes inside the volume, and sections of it as views of their own.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "compute/plan/describe.h"

namespace echolux {

enum class Shown { volume, slice, en_face };
enum class SlicePlane { b_scan, en_face, side, oblique };
enum class SliceColours { gray, curve };

struct Slices {
    std::vector<double> slices;  // normal (depth, A-scans, B-scans) and offset in um from the centre, for each
    double planes_opacity = 1;
    bool slices_cut = true;
    SliceColours slice_colours = SliceColours::gray;
    Shown show = Shown::volume;
    SlicePlane plane = SlicePlane::b_scan;
    std::vector<double> plane_normal{1, 0, 0};  // of an oblique plane
    double plane_offset_um = 0;                 // along the normal from the centre
    double slab_um = 0;
};

template <>
const std::vector<Field<Slices>>& describe<Slices>();

// What its fields' ranges do not say. Throws Error{bad_setting} naming the key.
void check_part(const Slices& slices);

}  // namespace echolux
