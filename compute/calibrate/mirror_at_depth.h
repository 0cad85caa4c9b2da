// What the lines of a mirror at one depth show, by the calibration and recipe of a scan.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "compute/calibrate/mean_profile.h"
#include "compute/calibrate/roll_off.h"

namespace echolux {

struct MirrorAtDepth {
    MirrorReading reading;          // bins are those without zero padding
    bool is_opposite = false;       // dispersion with its sign turned sharpens it: beyond zero delay
    std::int64_t lines = 0;         // whose power was averaged
    std::int64_t bins = 0;          // of the one-sided range
    double bin_um = 0;              // in air; 0: unknown
    std::vector<double> amplitude;  // root mean power over depth, points_per_bin points a bin
};

// A mirror beyond zero delay shows the dispersion with its sign turned: whichever sign makes it higher. `profile_of`
// makes the mean profile of its lines by a spec, which is `given` with uncoupled lines, in air, fine in depth.
// `background` empty: that of the spec. Throws Error{bad_file} naming `name` where no mirror stands out.
MirrorAtDepth mirror_at_depth(const ReconstructionSpec& given, const std::vector<double>& background,
                              const std::string& name, const DepthWindow& window,
                              const std::function<MeanProfile(const ReconstructionSpec&)>& profile_of);

}  // namespace echolux
