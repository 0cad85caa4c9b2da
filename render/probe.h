// What is seen at a pixel: the measure that the shader takes of a ray, and what is said of the voxel that it met.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "compute/types.h"
#include "render/view/view.h"

namespace echolux {

// Of the paths of light through a pixel, each the mean over them.
struct PathCounts {
    float above_majorant = 0;  // places of more extinction than their brick is said to hold: each is a fault
    float scatterings = 0;
    float looks = 0;  // at the volume
    float given_up = 0;
};

// What the ray of a pixel met, exactly.
struct RayMeasure {
    float value;          // mip: the largest value; isosurface: the isovalue where it is hit
    float transmittance;  // composite: part of the light from behind that passes; 0: opaque
    float distance;       // length along the ray to where that is (composite: where a quarter of the light is held
                          // back); negative: nowhere
    float path;           // length inside what is not cut away
    float voxel_value;    // of the voxel in which that is
    float samples;        // of the volume that were taken
    std::array<float, 3>
        gradient;  // where that is, along depth, A-scans, B-scans: texture values per smallest voxel edge
    std::array<float, 3> voxel;
};

// The first visible voxel under a pixel. Three numbers run along depth, A-scans, B-scans.
struct Probe {
    double value = 0;  // of the voxel, as the volume holds it
    std::string unit;
    std::array<std::int64_t, 3> voxel{};  // counted from 0
    std::array<double, 3> index{};        // where the ray meets it, in voxels from the middle of the first
    std::array<double, 3> place_um{};     // the same in micrometres, or voxels where no spacing is known
    bool has_spacing = false;
    std::array<double, 3> normal{};  // of length 1, towards lower values; 0 where values do not change
    double distance_um = 0;          // from the eye, along the ray; or voxels
};

// The view with which a probe's ray is cast: as fine as rays get, nothing left to chance.
View view_for_probe(View view);

// Throws Error{bad_setting} for a pixel outside of the picture.
void check_pixel(const View& view, std::int64_t x, std::int64_t y);

// None where the ray of the pixel met nothing.
std::optional<Probe> probe_of(const RayMeasure& measure, const View& view, const VolumeGrid& grid, std::int64_t x,
                              std::int64_t y);

}  // namespace echolux
