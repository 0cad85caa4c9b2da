// Plan data for runners besides the geometry: the tables from raw lines to depth bins, and from bins to voxels. Built
// once on the host so that all backends use the same numbers.
#pragma once

#include <cstdint>
#include <vector>

#include "compute/place.h"
#include "compute/plan/choices.h"
#include "compute/plan/params.h"
#include "compute/plan/tables.h"

namespace echolux {

// Tables from a raw line to depth bins by a single transform.
struct PlainTables {
    Lengths lengths;
    ResampleTable resample;
    SpectralWeight weight;
    std::vector<float> real_weight;  // real parts of weight.values
    std::int64_t upsample = 1;
    std::int64_t rolling_width = 0;  // 0 without a rolling background
};

// Tables from depth bins to voxels.
struct VoxelTables {
    std::int64_t depth = 0;          // after cropping
    float scale = 1;                 // amplitude factor: 1 / sum of the window
    std::vector<float> noise_floor;  // amplitude [depth]; empty without one
    double reference_db = 0;         // level of 0 dB
    Recipe recipe;                   // uses average, noise_floor, quantity, voxel, low, high
    bool depth_flip = false;
};

// Range of values covered by the codes.
struct CodeRange {
    float low = 0;
    float high = 1;
};

// Build the tables of a validated spec.
PlainTables plain_tables(const ReconstructionSpec& spec);
VoxelTables voxel_tables(const ReconstructionSpec& spec, double weight_sum, DepthRange kept);

// Line and B-scan counts of a block.
struct BlockShape {
    std::int64_t frame_lines = 0;         // lines of an acquired B-scan
    std::int64_t frames = 0;              // max acquired B-scans per block
    std::int64_t outputs_per_b_scan = 0;  // output lines per B-scan position
    std::int64_t joined = 1;              // lines averaged into one output line

    std::int64_t lines() const { return frames * frame_lines; }
};

BlockShape block_shape(const ReconstructionSpec& spec, const VolumeGrid& grid);

// Checks that a block matches the spec. Throws Error{bad_setting}.
void check_block(const Block& block, const ReconstructionSpec& spec);

}  // namespace echolux
