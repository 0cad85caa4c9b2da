// The angle of every A-scan of a rotating catheter. Friction makes the tip turn faster and slower than the motor, which
// bends and tears the frames (non-uniform rotational distortion).
//
// 1. Neighbouring A-scans. Speckle decorrelates with the distance on the tissue: the correlation of intensities k
// A-scans
//    apart is c exp(-k^2 q v^2), with the speed v relative to its mean (N. Uribe-Patarroyo, B. E. Bouma, Opt. Lett.
//    40(23), 2015). c is the share of the signal, and q follows from the mean over the whole pullback, per band of
//    rows, because a beam of one width covers a larger angle near the axis.
// 2. Neighbouring frames. Parts of a frame are found in the next one by the correlation of logarithmic intensity.
// 3. Fiducials. The same mark, such as a guide wire, is at the same angle in all frames.
//
// Deviations from uniform rotation at every eighth A-scan are found from all of them together by least squares. The
// angle rises everywhere, and each turn continues in the next one: on average a turn has as many A-scans as a frame.
#pragma once

#include <cstdint>
#include <vector>

#include "compute/plan/described.h"
#include "compute/types.h"
#include "engine/progress.h"

namespace echolux {

// Section [catheter] of the settings.
struct CatheterRecipe {
    double sheath_um = 0;         // radius of the sheath; 0: not known
    std::int64_t max_shift = 12;  // A-scans between neighbouring frames
    std::int64_t window = 8;      // A-scans on either side of a speed or shift
};

template <>
const std::vector<Field<CatheterRecipe>>& describe<CatheterRecipe>();

// The inner edge of the sheath: a line at the same row in all A-scans.
struct Sheath {
    double row = 0;
    double above_db = 0;  // its brightness over that of its surroundings, as medians over all A-scans
    double share = 0;     // of the A-scans in which it is a local maximum

    bool is_found() const { return above_db >= 6 && share >= 0.5; }
};

// `power`: linear, [frame][a_scan][row].
Sheath found_sheath(const std::vector<float>& power, const VolumeGrid& grid);

// A mark in an A-scan of a frame.
struct Fiducial {
    double frame = 0, a_scan = 0, mark = 0;
};

struct Rotation {
    std::vector<double> angle;     // of each A-scan, [frame][a_scan], in A-scans of uniform rotation; rises
    double rms_a_scans = 0;        // deviation from uniform rotation
    double frame_correlation = 0;  // median of neighbouring frames
    double frame_rms = 0;          // of the shifts between frames from the solution, in A-scans
    double speed_rms = 0;          // of the speeds from their mean, relative
    std::int64_t frame_shifts = 0, speeds = 0, fiducials = 0;  // that are used
};

// `first_row`: tissue is below. Throws Error{bad_setting} if fewer than a quarter of the places have a speed or shift.
Rotation found_rotation(const std::vector<float>& power, const VolumeGrid& grid, std::int64_t first_row,
                        const CatheterRecipe& recipe, const std::vector<Fiducial>& fiducials, Progress& progress);

// Moves A-scans to uniform angles by cubic interpolation of linear intensity. NaN before the first and after the last.
std::vector<float> uniform_turns(const std::vector<float>& power, const VolumeGrid& grid, const Rotation& rotation);

// ---- Lumen

// The lumen of one frame; NaN where the wall is not seen.
struct LumenContour {
    std::vector<float> radius_um;  // per A-scan, from the axis
    double area_mm2 = 0;           // with radii between seen parts; NaN if less than half is seen
    double mean_um = 0, min_um = 0, max_um = 0;
    double seen = 0;  // share of the angles
};

// `zero_radius_um`: distance from the axis to row 0. Frames of uniform turns.
std::vector<LumenContour> lumen_contours(const std::vector<float>& power, const VolumeGrid& grid, double zero_radius_um,
                                         Progress& progress);

}  // namespace echolux
