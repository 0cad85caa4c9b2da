// Job of `echolux segment`: finds the surfaces between layers of a volume or scan, and derives tables, maps, figures
// and flattened volumes.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "app/figure/figure_page.h"
#include "app/open/open_volume.h"
#include "engine/angiography/flow_maps.h"
#include "engine/layers/layers.h"
#include "engine/progress.h"

namespace echolux {

// ---- Surfaces in a volume in memory, and volumes derived from them: also for the library. The provenance of each
// volume describes how its surfaces were found.

struct SurfaceResult {
    Surfaces surfaces;
    std::vector<std::string> warnings;
    double seconds = 0;
};

// Throws Error{bad_setting} for a flow volume, or if nothing can be distinguished from noise. Errors call the volume
// `name`.
SurfaceResult surfaces_in(const Volume& volume, const LayerRecipe& recipe, const BackendChoice& backend,
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

// Throws Error{bad_setting} for unknown surfaces, or if the lower one is not below the upper one. A slab may use one
// surface twice with different distances.
SlabSpec slab_named(const Surfaces& surfaces, const SlabNames& names);

using LayerBounds = std::pair<std::size_t, std::size_t>;  // upper and lower surface

// Returns all layers, or only the named one.
std::vector<LayerBounds> layers_between(const Surfaces& surfaces, const std::string& upper, const std::string& lower);

// One slice per layer, in um or rows. `volume`: the segmented volume.
Volume thickness_maps(const Volume& volume, const Surfaces& surfaces, const std::vector<LayerBounds>& layers);

// Returns the result of en_face_between() as a volume.
Volume en_face_map(const Volume& volume, const Surfaces& surfaces, const SlabSpec& slab);

// Result of flatten_to(). `level`: name of a surface; empty: the first.
Volume flattened(Volume volume, const Surfaces& surfaces, const std::string& level, bool back);

// ---- Job

struct SegmentJob : VolumeSource {
    LayerRecipe recipe;
    BackendChoice backend;           // device for the search
    std::filesystem::path surfaces;  // file to read surfaces from; empty: search them

    // Output files; empty: none. Figures are *.pdf, *.svg, *.png, all others are volumes.
    std::filesystem::path output;         // surfaces: a volume file or *.csv
    std::filesystem::path picture;        // figure of a B-scan with its surfaces
    std::filesystem::path thickness;      // thickness maps in um, as a figure or a volume with one slice per layer
    std::filesystem::path en_face;        // en face projection of a slab, as a figure or a volume
    std::filesystem::path flat, unflat;   // the volume with one surface flattened, or with that undone
    std::filesystem::path density, flux;  // vessel maps of an angiography volume, projected like en_face
    std::filesystem::path vessels;        // their figures of merit, *.csv

    std::optional<std::int64_t> b_scan;             // of the picture; std::nullopt: the middle one
    std::string upper, lower;                       // of thickness and en face; empty: all
    double below_upper_um = 0, below_lower_um = 0;  // offsets of the en face slab from its surfaces; negative: above
    SlabValue value = SlabValue::mean;
    double tail_gap_um = 0;  // removes tails this far below vessels from angiography; 0: keeps them
    VesselSpec vessel_spec;
    std::string level;  // surface to flatten; empty: the first
    FigureStyle style;
    bool overwrites = false;  // replaces any existing file
};

struct SegmentedLayers {
    std::vector<std::filesystem::path> files;
    std::vector<std::string> warnings, names;
    std::int64_t a_scans = 0, b_scans = 0, moved = 0;
    double ambiguous = 0, weak = 0, missing = 0;  // shares of all positions
    std::optional<VesselStats> vessels;           // if requested
    double seconds = 0;                           // of the search; 0 without one
    SearchMethod method = SearchMethod::likelihood;
    BrightnessLaw stored;  // how the voxels were taken
    BackendUsed used{};    // device used for the search
};

// Throws Error, also if nothing can be distinguished from noise. An output file only appears once it is complete.
SegmentedLayers run(const SegmentJob& job, Progress& progress);

}  // namespace echolux
