// The job behind `echolux segment`: surfaces between layers of a volume or scan, and what follows from them: tables,
// maps, figures, flat volumes.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "app/figure/figure_style.h"
#include "app/open/open_volume.h"
#include "engine/angiography/flow_maps.h"
#include "engine/layers/layer_recipe.h"
#include "engine/layers/slab.h"
#include "engine/progress.h"

namespace echolux {

struct SegmentJob : VolumeSource {
    LayerRecipe recipe;
    BackendChoice backend;           // that looks for surfaces
    std::filesystem::path surfaces;  // of a file, instead of a search; empty: they are looked for

    // What is written; empty: not wanted. Figures are *.pdf, *.svg, *.png, all others volumes.
    std::filesystem::path output;         // surfaces: a volume file, or *.csv
    std::filesystem::path picture;        // a figure: a B-scan with the surfaces in it
    std::filesystem::path thickness;      // a figure, or a volume with a slice for each layer: maps in um
    std::filesystem::path en_face;        // a figure or a volume: what lies between two surfaces
    std::filesystem::path flat, unflat;   // the volume, with one surface moved to where it lies flat, or back
    std::filesystem::path density, flux;  // of a volume of angiography, as en_face: maps of its vessels
    std::filesystem::path vessels;        // their figures, *.csv

    std::optional<std::int64_t> b_scan;  // of the picture; nothing: the middle one
    std::string upper, lower;            // of thickness and en face; empty: each layer; the first and the last surface
    double below_upper_um = 0, below_lower_um = 0;  // en face begins and ends so far below them; less than 0: above
    SlabValue value = SlabValue::mean;
    double tail_gap_um =
        0;  // what lies so far below a vessel and flows no more is taken out of angiography; 0: nothing
    VesselSpec vessel_spec;
    std::string level;  // the surface that lies flat; empty: the first
    FigureStyle style;
    bool overwrites = false;  // replaces what is there, whoever made it
};

struct SegmentedLayers {
    std::vector<std::filesystem::path> files;
    std::vector<std::string> warnings, names;
    std::int64_t a_scans = 0, b_scans = 0, moved = 0;
    double ambiguous = 0, weak = 0, missing = 0;  // shares of all places
    std::optional<VesselStats> vessels;           // where they are asked for
    double seconds = 0;                           // that the search took; 0: there was none
    ProcessorUsed used{};                         // that searched
};

// Throws Error; nothing is left under an output's name unless it is complete. Where nothing stands out from the noise
// that is an error: no surface is made up.
SegmentedLayers run(const SegmentJob& job, Progress& progress);

}  // namespace echolux
