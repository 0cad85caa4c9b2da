// Surfaces in a volume in memory, and volumes derived from them, shared by `echolux segment` and the library. The
// provenance of each volume describes how its surfaces were found.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "engine/layers/layers.h"
#include "engine/progress.h"

namespace echolux {

struct FoundSurfaces {
    Surfaces surfaces;
    std::vector<std::string> warnings;
    double seconds = 0;
};

// Throws Error{bad_setting} for a flow volume, or if nothing can be distinguished from noise. Errors call the volume
// `name`.
FoundSurfaces surfaces_in(const Volume& volume, const LayerRecipe& recipe, const BackendChoice& backend,
                          const std::string& name, Progress& progress);

// Returns warnings of the search.
std::vector<std::string> warnings_of(const Surfaces& surfaces);

// Origin of surfaces.
struct SurfaceOrigin {
    LayerRecipe recipe;
    std::string file;        // file they were read from, if not searched
    double tail_gap_um = 0;  // as in SegmentJob
};
Volume with_origin(Volume volume, const SurfaceOrigin& origin);

// A slab between two surfaces, by name.
struct SlabNames {
    std::string upper, lower;  // empty: the first and the last
    double below_upper_um = 0, below_lower_um = 0;
    SlabValue value = SlabValue::mean;
};

// Throw Error{bad_setting} for unknown surfaces, or if the lower one is not below the upper one. A slab may use one
// surface twice with different distances.
SlabSpec slab_named(const Surfaces& surfaces, const SlabNames& names);
using LayerBounds = std::pair<std::size_t, std::size_t>;  // upper and lower surface
LayerBounds layer_named(const Surfaces& surfaces, const std::string& upper, const std::string& lower);

// Returns all layers, or only the named one.
std::vector<LayerBounds> layers_between(const Surfaces& surfaces, const std::string& upper, const std::string& lower);
std::string name_of_layer(const Surfaces& surfaces, const LayerBounds& layer);

// One slice per layer, in um or rows. `volume`: the segmented volume.
Volume thickness_maps(const Volume& volume, const Surfaces& surfaces, const std::vector<LayerBounds>& layers);

// Results of en_face_between() as volumes.
Volume en_face_map(const Volume& volume, const Surfaces& surfaces, const SlabSpec& slab);
Volume slab_map(const Volume& volume, const Surfaces& surfaces, const SlabSpec& slab, const std::vector<float>& map,
                const std::string& quantity, const std::string& unit);

// Result of flatten_to(). `level`: name of a surface; empty: the first.
Volume flattened(Volume volume, const Surfaces& surfaces, const std::string& level, bool back);

}  // namespace echolux
