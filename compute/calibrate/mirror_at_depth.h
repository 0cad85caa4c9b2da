// Measures a mirror at one depth with the calibration and recipe of a scan.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "compute/calibrate/mean_profile.h"
#include "compute/calibrate/roll_off.h"

namespace echolux {

// Measurement of a mirror at one depth.
struct MirrorAtDepth {
    MirrorReading reading;          // bins without zero padding
    bool is_opposite = false;       // the mirror is beyond zero delay: sharpest with inverted dispersion
    std::int64_t lines = 0;         // number of averaged lines
    std::int64_t bins = 0;          // size of the one-sided range
    double bin_um = 0;              // in air; 0: unknown
    std::vector<double> amplitude;  // root mean power over depth, points_per_bin points per bin
};

// Measures a mirror with both signs of the dispersion and returns the higher peak, because a mirror beyond zero delay
// shows inverted dispersion. `profile_of` computes the mean profile of the mirror's lines for a spec: `given` with
// independent lines, in air, finely sampled in depth. An empty `background` selects that of the spec. Throws
// Error{bad_file} naming `name` if there is no mirror peak.
MirrorAtDepth mirror_at_depth(const ReconstructionSpec& given, const std::vector<double>& background,
                              const std::string& name, const DepthWindow& window,
                              const std::function<MeanProfile(const ReconstructionSpec&)>& profile_of);

}  // namespace echolux
