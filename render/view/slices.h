// Settings of planes inside the volume and of separate views of its sections.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "compute/plan/described.h"

namespace echolux {

enum class Shown { volume, slice, en_face };
enum class SlicePlane { b_scan, en_face, side, oblique };
enum class SliceColours { gray, curve };

struct Slices {
    std::vector<double> slices;  // four numbers each: normal (depth, A-scans, B-scans), offset in um from the centre
    double planes_opacity = 1;
    bool slices_cut = true;  // clipped like the volume
    SliceColours slice_colours = SliceColours::gray;
    Shown show = Shown::volume;
    SlicePlane plane = SlicePlane::b_scan;
    std::vector<double> plane_normal{1, 0, 0};  // for oblique planes
    double plane_offset_um = 0;                 // along the normal, from the centre
    double slab_um = 0;                         // thickness of the section; 0: a single sample
};

template <>
const std::vector<Field<Slices>>& describe<Slices>();

// Checks what the ranges of the fields do not cover. Throws Error{bad_setting} that names the key.
void check_part(const Slices& slices);

}  // namespace echolux
