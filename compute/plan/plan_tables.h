// What a runner needs of a plan besides its geometry: the tables of its way from a raw line to depth bins, and of the
// way from bins to voxels. Made once on the host, so that all backends work with the same numbers.
#pragma once

#include <cstdint>
#include <vector>

#include "compute/place.h"
#include "compute/plan/choices.h"
#include "compute/plan/params.h"
#include "compute/plan/tables.h"

namespace echolux {

struct PlainTables {
    Lengths lengths;
    ResampleTable resample;
    SpectralWeight weight;
    std::vector<float> real_weight;  // real parts of weight.values
    std::int64_t upsample = 1;
    std::int64_t rolling_width = 0;  // 0: no rolling background
};

struct VoxelTables {
    std::int64_t depth = 0;          // after cropping
    float scale = 1;                 // of the amplitude: 1 / sum of the window
    std::vector<float> noise_floor;  // amplitude [depth]; empty: none
    double reference_db = 0;         // counts as 0 dB
    Recipe recipe;                   // average, noise_floor, quantity, voxel, low, high
    bool depth_flip = false;
};

// Range of values that the codes span.
struct CodeRange {
    float low = 0;
    float high = 1;
};

// Of a spec that has been validated.
PlainTables plain_tables(const ReconstructionSpec& spec);
VoxelTables voxel_tables(const ReconstructionSpec& spec, double weight_sum, DepthRange kept);

// How blocks and volumes of a spec are counted.
struct BlockShape {
    std::int64_t frame_lines = 0;         // lines of an acquired B-scan
    std::int64_t frames = 0;              // most acquired B-scans of a block
    std::int64_t outputs_per_b_scan = 0;  // output lines for each B-scan position
    std::int64_t joined = 1;              // lines that become one output line

    std::int64_t lines() const { return frames * frame_lines; }
};

BlockShape block_shape(const ReconstructionSpec& spec, const VolumeGrid& grid);

// Throws Error{bad_setting} when the block does not hold what the spec says.
void check_block(const Block& block, const ReconstructionSpec& spec);

}  // namespace echolux
