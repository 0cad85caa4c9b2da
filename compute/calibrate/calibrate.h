// What can be measured in spectra themselves.
#pragma once

#include "compute/place.h"
#include "compute/plan/params.h"

namespace echolux {

// Level in dB (10 log10 of the scaled power) of the quietest depth band of `b_scans` B-scans given as one block: the
// least median over bands of a sixteenth of the depth, zero delay left out. What recipe.noise_floor_db = 0 asks for.
// Methods that leave no noise count from that of one transform.
double measured_noise_floor_db(const ReconstructionSpec& spec, const Block& block);

// The same as recipe.noise_floor_db: rounded, so that it reads well in files and does not hang on the last bits of a
// backend. Where there is no noise at all (constant spectra) nothing is subtracted, so that emptiness stays at the
// bottom of the range.
double noise_floor_for_recipe(const ReconstructionSpec& spec, const Block& block);

// The depth at which the A-scans of a B-scan agree most.
struct CommonFringe {
    std::int64_t bin = 0;
    double share = 0;  // power of the mean A-scan over the mean power there, 0..1
};

// The greatest value of the mean A-scan, among depths 10 dB above the median level. Tissue speckle gives a share of
// about 1 / a_scans; near 1, the mean of a B-scan holds a mirror, a flat interface or a fixed line, which background =
// frame_mean takes away. `block` holds one B-scan.
CommonFringe strongest_common_fringe(const ReconstructionSpec& spec, const Block& block);

// By what factor, 0 to 2, the spec's dispersion would make the lines of a block sharpest; 1 where it is as sharp as any
// by more than chance. Its sign cannot be seen: real spectra show both sides.
double sharpest_dispersion_factor(const ReconstructionSpec& spec, const Block& block);

// Part of the depth bins of the first lines of a block that hold nothing at all, 0..1.
double empty_share(const ReconstructionSpec& spec, const Block& block);

}  // namespace echolux
