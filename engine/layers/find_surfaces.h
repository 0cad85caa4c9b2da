// Surfaces of layered tissue in B-scans and volumes: a coarse cut of averaged profiles, then, twice, the likelihood of
// each boundary's places in a band around it, made smooth in both directions by semi-global sweeps (docs/layers.md). No
// learned weights; gradients alone would be two to three times as wrong in speckle.
#pragma once

#include <array>
#include <optional>
#include <vector>

#include "compute/chosen_processor.h"
#include "engine/analysis/intensity.h"
#include "engine/layers/layer_recipe.h"
#include "engine/layers/surfaces.h"
#include "engine/progress.h"

namespace echolux {

// What is looked for, in rows.
struct SurfaceSearch {
    std::vector<WantedBoundary> wanted;
    bool tissue_below = false;
    std::optional<double> floor{};       // mean intensity of noise, where it is known
    std::array<double, 2> spacing_um{};  // of A-scans and B-scans; 0: unknown, vessels are not bridged
    BackendChoice processor{.backend = Backend::cpu};
};

// `intensity`: [b_scan][a_scan][depth], linear. The same bits for any number of threads and on a GPU. Where nothing
// stands out from the noise there are no rows: reasons say no_signal. Voxels that are no numbers were not recorded:
// beside them there are no rows. Throws Error{bad_setting} for fewer rows than boundaries need.
Surfaces find_surfaces(const std::vector<float>& intensity, const Size3& size, const SurfaceSearch& search,
                       Progress& progress);

// Of a volume in the memory of the GPU that `search.processor` names, or the first. `progress` may only cancel.
Surfaces find_surfaces_on_gpu(const float* intensity, const Size3& size, const SurfaceSearch& search,
                              Progress& progress);

// Of a volume of dB, intensity or amplitude; one that does not say is taken as intensity. Throws for all others.
Surfaces find_surfaces(const Volume& volume, const LayerRecipe& recipe, Progress& progress,
                       const BackendChoice& processor = {.backend = Backend::cpu});

}  // namespace echolux
