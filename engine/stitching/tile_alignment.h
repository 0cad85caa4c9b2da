// Positions of tiles, from the stage and from overlaps.
//
// 1. Each overlap is registered by the normalised cross-correlation of logarithmic power without its slow variations
//    along depth (illumination, roll-off and focus), from coarse to fine. A parabola through the neighbours of the
//    maximum finds the shift between voxels.
// 2. All positions are found together by least squares: each registered overlap, weighted by its size and the square
//    of its correlation, and weakly the positions of the stage, relative to their best linear fit. The worst overlap is
//    left out while it is more than `max_error` voxels off (S. Preibisch et al., Bioinformatics 25(11), 2009).
// 3. Brightness in dB is a gain per tile, a polynomial over the field and one over depth, which are the same for all
//    tiles. Their differences between tiles are fitted to the block means of the overlaps. A ramp over the whole mosaic
//    looks the same as one over the field of each tile, so the smallest coefficients are chosen.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "compute/plan/described.h"
#include "engine/progress.h"
#include "engine/stitching/tiles.h"

namespace echolux {

// Section [stitch] of the settings.
struct StitchRecipe {
    double search_um = 100;        // largest error of the stage along A-scans and B-scans
    double search_depth_um = 100;  // and along depth
    double min_correlation = 0.2;
    double max_error = 1;  // voxels; overlaps that are further from the common solution are left out
    bool equalise = true;
};

template <>
const std::vector<Field<StitchRecipe>>& describe<StitchRecipe>();

enum class PairReason { ok, weak_match, out_of_range, outlier };
std::string_view name_of(PairReason reason);

// An overlap of two tiles.
struct TilePair {
    std::size_t first = 0, second = 0;
    TileShift shift{};  // of the second tile relative to the first, in voxels
    double correlation = 0;
    double weight = 1;  // square of the correlation times the size of the overlap
    double error = 0;   // distance from the common solution in voxels
    PairReason reason = PairReason::ok;
};

// Brightness of tiles in dB, relative to the mosaic.
struct TileBrightness {
    static constexpr std::size_t field_terms = 14, depth_terms = 4;
    std::vector<double> gain_db;
    std::array<double, field_terms> field{};  // of u, v, u^2, uv, v^2 ... v^4, with u and v from -1 to 1
    std::array<double, depth_terms> depth{};  // of w ... w^4, with w from -1 to 1
    double before_db = 0, after_db = 0;       // rms differences of block means in overlaps

    double field_db(double u, double v) const;
    double depth_db(double w) const;
};

struct TileAlignment {
    std::vector<TileShift> first;  // first voxel of each tile, in voxels
    std::vector<TilePair> pairs;
    double rms_voxels = 0;  // of the pairs that are used
    TileBrightness brightness;

    std::int64_t used() const;
};

// Holds one overlap at a time. `progress` advances by 1 per overlap. Throws Error{bad_setting} if fewer than half of
// the overlaps agree, Error{bad_file, out_of_memory, cancelled}.
TileAlignment aligned_tiles(const TileSet& set, const StitchRecipe& recipe, Progress& progress);

// The largest overlap in memory, in bytes.
std::int64_t bytes_of_overlaps(const TileSet& set, const StitchRecipe& recipe);

}  // namespace echolux
