// Surfaces in a volume in memory, and the volumes that follow from them: what `echolux segment` writes and the library
// gives. Every volume says in its provenance how its surfaces were found.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "engine/layers/layer_recipe.h"
#include "engine/layers/slab.h"
#include "engine/progress.h"

namespace echolux {

struct FoundSurfaces {
    Surfaces surfaces;
    std::vector<std::string> warnings;
    double seconds = 0;
};

// Throws Error{bad_setting}: a volume of flow; where nothing stands out from the noise: no surface is made up. Errors
// call the volume `name`.
FoundSurfaces surfaces_in(const Volume& volume, const LayerRecipe& recipe, const BackendChoice& backend,
                          const std::string& name, Progress& progress);

// What the search says of itself.
std::vector<std::string> warnings_of(const Surfaces& surfaces);

// How surfaces came to be.
struct SurfaceOrigin {
    LayerRecipe recipe;
    std::string file;        // that they were read from, instead of a search
    double tail_gap_um = 0;  // of SegmentJob
};
Volume with_origin(Volume volume, const SurfaceOrigin& origin);

// Two surfaces by name.
struct SlabNames {
    std::string upper, lower;  // empty: the first and the last
    double below_upper_um = 0, below_lower_um = 0;
    SlabValue value = SlabValue::mean;
};

// Throw Error{bad_setting}: no such surface, the lower one not below the upper one. One surface twice is a slab where
// distances say so.
SlabSpec slab_named(const Surfaces& surfaces, const SlabNames& names);
using LayerBounds = std::pair<std::size_t, std::size_t>;  // upper and lower surface
LayerBounds layer_named(const Surfaces& surfaces, const std::string& upper, const std::string& lower);

// Each layer, or that which is named.
std::vector<LayerBounds> layers_between(const Surfaces& surfaces, const std::string& upper, const std::string& lower);
std::string name_of_layer(const Surfaces& surfaces, const LayerBounds& layer);

// A slice for each layer, in um or rows. `volume`: that in which the surfaces lie.
Volume thickness_maps(const Volume& volume, const Surfaces& surfaces, const std::vector<LayerBounds>& layers);

// As en_face_between(), as a volume.
Volume en_face_map(const Volume& volume, const Surfaces& surfaces, const SlabSpec& slab);
Volume slab_map(const Volume& volume, const Surfaces& surfaces, const SlabSpec& slab, const std::vector<float>& map,
                const std::string& quantity, const std::string& unit);

// As flatten_to(); `level`: a surface by name, empty: the first.
Volume flattened(Volume volume, const Surfaces& surfaces, const std::string& level, bool back);

}  // namespace echolux
