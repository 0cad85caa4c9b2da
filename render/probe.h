// Values under a pixel: the measurement of a ray by the shader, and the description of the voxel that it hit.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "compute/types.h"
#include "render/view/view.h"

namespace echolux {

// Statistics of the light paths through a pixel, as means over its paths.
struct PathCounts {
    float above_majorant = 0;  // lookups above the brick's majorant: each is an error
    float scatterings = 0;
    float looks = 0;     // volume lookups
    float given_up = 0;  // abandoned paths
};

// Exact result of a pixel's ray. The shader writes it in this order.
struct RayMeasure {
    float value;          // mip: max value; isosurface: isovalue if hit
    float transmittance;  // composite: fraction of the background light; 0: opaque
    float distance;       // length along the ray to the hit (composite: where a quarter of the light is blocked);
                          // negative: none
    float path;           // length inside the unclipped volume
    float voxel_value;    // of the voxel at the hit
    float samples;        // number of volume samples
    std::array<float, 3> gradient;  // at the hit, along depth, A-scans, B-scans: texture values per smallest voxel edge
    std::array<float, 3> voxel;
};

// The first visible voxel under a pixel. Triples are along depth, A-scans, B-scans.
struct Probe {
    double value = 0;  // stored value of the voxel
    std::string unit;
    std::array<std::int64_t, 3> voxel{};  // zero-based
    std::array<double, 3> index{};        // hit position in voxels from the centre of the first voxel
    std::array<double, 3> place_um{};     // the same in um, or in voxels without a spacing
    bool has_spacing = false;
    std::array<double, 3> normal{};  // unit vector towards lower values; 0 if the gradient is zero
    double distance_um = 0;          // from the eye along the ray, or in voxels
};

// Returns the view for a probe's ray: the finest steps, deterministic.
View view_for_probe(View view);

// Throws Error{bad_setting} for a pixel outside of the picture.
void check_pixel(const View& view, std::int64_t x, std::int64_t y);

// Returns the probe of a pixel. Empty if its ray hit nothing.
std::optional<Probe> probe_of(const RayMeasure& measure, const View& view, const VolumeGrid& grid, std::int64_t x,
                              std::int64_t y);

}  // namespace echolux
