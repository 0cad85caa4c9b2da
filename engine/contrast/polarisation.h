// Polarisation of light from two complex channels and one circular input state (C. K. Hitzenberger et al., Opt. Express
// 9(13), 2001), B-scan by B-scan.
//
// The polarising beam splitter of the detector sends horizontal light to channel 1 and vertical light to channel 2. The
// source is horizontal and passes a quarter-wave plate Q at 45 degrees before and after the sample. All layers down to
// a depth have the Jones matrix M in one pass; light that returns has passed M^T M. This matrix is symmetric and,
// without diattenuation, unitary, so up to a phase it is a linear retarder of retardation d and axis t,
//   M^T M = cos d + j sin d S,   S = | cos 2t   sin 2t |        Q = | 1  j | / sqrt 2.
//                                    | sin 2t  -cos 2t |            | j  1 |
// Q Q = j | 0 1 | and Q S Q = | exp(2jt)       0      |, so Q M^T M Q (1, 0)^T = j (sin d exp(2jt), cos d)^T:
//         | 1 0 |             |    0      -exp(-2jt)  |
//   |A1| / |A2| = tan d,   arg A1 A2* = 2t,   |A1|^2 + |A2|^2 = reflectivity.
// A mirror without retarders is dark in channel 1. Retardation is known from 0 to 90 degrees only: beyond, it falls
// again and the axis turns by 90 degrees. A phase between the channels (`phase_offset_deg`) turns all axes by half of
// it.
//
// Stokes parameters I = |A1|^2 + |A2|^2, Q = |A1|^2 - |A2|^2, U + jV = 2 A1 A2* are averaged over a kernel, and then
//   2d = atan2(|U + jV|, -Q),   2t = arg(U + jV).
// Noise of equal power in both channels cancels in Q and averages out in U and V.
//
// DOPU is the length of the mean of (Q, U, V) / I of single voxels (E. Goetzinger et al., Opt. Express 16(21), 2008).
// Of n independent fully scrambled voxels, its mean square is 1 / n.
//
// Local retardation and axis (after C. Fan and G. Yao, Opt. Lett. 37(9), 2012). With J(z) = M^T M known at each depth,
// and M the product of all layers above, the next layer L gives J(z + 1) = M^T L^2 M, so L^2 = M* J(z + 1) M^+ for
// unitary M, which is again a linear retarder. M = L M continues the recursion.
#pragma once

#include <array>
#include <complex>
#include <cstdint>
#include <vector>

#include "compute/plan/described.h"

namespace echolux {

// Direction of rotation in which axes count.
enum class AxisSense { forward, backward };

// Section [polarisation] of the settings; described in polarisation.cpp.
struct PolarisationRecipe {
    std::int64_t window_depth = 3;
    std::int64_t window_a_scans = 3;
    std::int64_t dopu_depth = 3;
    std::int64_t dopu_a_scans = 5;
    double threshold_db = -300;
    double phase_offset_deg = 0;
    AxisSense axis_sense = AxisSense::forward;
    std::int64_t local_depth = 8;

    bool operator==(const PolarisationRecipe&) const = default;
};

template <>
const std::vector<Field<PolarisationRecipe>>& describe<PolarisationRecipe>();

enum class PolarisationMap {
    reflectivity,
    retardation,
    axis,
    q,
    u,
    v,
    dopu,
    local_retardation,
    local_axis,
    diattenuation
};
inline constexpr std::size_t polarisation_map_count = 10;

struct PolarisationMapText {
    const char *name, *unit, *help;
};
const PolarisationMapText& text_of(PolarisationMap map);

using PolarisationMaps = std::array<std::vector<float>, polarisation_map_count>;

// One B-scan of a channel, [a_scan][depth].
using ChannelPlane = std::vector<std::complex<float>>;

// Returns the maps of one B-scan, each [a_scan][depth]: dB, degrees, and 1 for Q, U, V over I and DOPU. Local
// retardation is in degrees per row. NaN below the threshold; no diattenuation.
PolarisationMaps polarisation_of(const ChannelPlane& channel_1, const ChannelPlane& channel_2, std::int64_t a_scans,
                                 std::int64_t depth, const PolarisationRecipe& recipe);

// The same from two input states: channels 1 and 2 of the first, then of the second. Reflectivity, retardation, local
// retardation and diattenuation; the others have no value.
PolarisationMaps polarisation_of_two(const std::array<ChannelPlane, 4>& channels, std::int64_t a_scans,
                                     std::int64_t depth, const PolarisationRecipe& recipe);

}  // namespace echolux
