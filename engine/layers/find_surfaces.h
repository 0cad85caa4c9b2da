// Finds the surfaces of layered tissue in B-scans and volumes. First cuts averaged profiles coarsely. Then computes, at
// least twice, the likelihood of each boundary at the rows of a band around it and smooths it in both directions by
// semi-global sweeps (docs/layers.md). Uses no learned weights. In speckle, gradients alone would give two to three
// times the error.
#pragma once

#include <array>
#include <optional>
#include <vector>

#include "compute/backend.h"
#include "engine/analysis/intensity.h"
#include "engine/layers/layers.h"
#include "engine/progress.h"

namespace echolux {

// What to search for, in rows.
struct SurfaceSearch {
    std::vector<BoundaryOptions> wanted;
    bool tissue_below = false;
    std::optional<double> floor{};       // mean intensity of noise, if known
    std::array<double, 2> spacing_um{};  // spacing of A-scans and B-scans; if 0, vessels are not bridged
    BackendChoice processor{.backend = Backend::cpu};
};

// Finds surfaces in linear `intensity`, [b_scan][a_scan][depth]. Gives the same bits for any number of threads and on a
// GPU. A-scans where nothing exceeds the noise have reason no_signal and no rows. Voxels that are not finite were not
// recorded; there are no rows next to them. Throws Error{bad_setting} if there are too few depth rows for the
// boundaries.
Surfaces find_surfaces(const std::vector<float>& intensity, const Size3& size, const SurfaceSearch& search,
                       Progress& progress);

// Finds surfaces in a volume in the memory of the GPU named by `search.processor`, or of the first GPU. `progress` is
// only used to cancel.
Surfaces find_surfaces_on_gpu(const float* intensity, const Size3& size, const SurfaceSearch& search,
                              Progress& progress);

// Finds surfaces in a volume of dB, intensity, amplitude or reflectivity by recipe.method. What the voxels of a volume
// without a quantity hold is decided from the statistics of speckle. Throws Error{bad_setting} for all others.
Surfaces find_surfaces(const Volume& volume, const LayerRecipe& recipe, Progress& progress,
                       const BackendChoice& processor = {.backend = Backend::cpu});

// ---- Bridges surfaces across vessels. Blood is as bright as the nerve fibres above it. Where a vessel crosses the
// lower end of a layer, there is no edge, and the search finds the vessel's far wall instead. The boundary is then
// continued straight.

// A surface of second order is fitted to the boundary within a vessel's width. Parts narrower than a vessel that leave
// this surface towards the dark side (polarity as in BoundaryOptions) are moved onto it and marked `ambiguous`.
// `spacing_um` is that of A-scans and B-scans; does nothing if one is unknown.
void bridge_vessels(Surface& surface, std::int64_t a_scans, std::int64_t b_scans, int polarity, double vessel_um,
                    const std::array<double, 2>& spacing_um);

}  // namespace echolux
