// Job of `echolux segment`: finds the surfaces between layers of a volume or scan, and derives tables, maps, figures
// and flattened volumes.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "app/figure/figure_style.h"
#include "app/open/open_volume.h"
#include "engine/angiography/flow_maps.h"
#include "engine/layers/layers.h"
#include "engine/progress.h"

namespace echolux {

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
    ProcessorUsed used{};                         // device used for the search
};

// Throws Error, also if nothing can be distinguished from noise. An output file only appears once it is complete.
SegmentedLayers run(const SegmentJob& job, Progress& progress);

}  // namespace echolux
