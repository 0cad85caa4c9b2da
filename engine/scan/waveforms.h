// Waveforms for two galvanometers that scan a protocol within limits of velocity, acceleration and jerk.
//
// While lines are acquired, the beam follows ScanPattern: its position at the centre of each line is that of the
// pattern (with a_repeats the beam moves steadily through the lines of a position). Between B-scans each axis returns
// from the state (position, velocity, acceleration) at the end of one to that at the start of the next:
//   1. The acceleration falls to zero at the full jerk. The end is the mirror image of such a start.
//   2. Between the velocities v0 and v1 that remain, the axis ramps to a peak velocity p, holds it, and ramps to v1. A
//      ramp by dv at acceleration A and jerk J takes dv/A + A/J, or 2 sqrt(dv/J) if A is not reached, and covers the
//      mean velocity times that time.
//   For a given duration T the distance covered grows with p, so p is found by bisection. The shortest T for which both
//   axes have a solution is the shortest return with zero acceleration between the parts: the bang-bang solution of a
//   limited jerk (L. Biagiotti, C. Melchiorri, Trajectory Planning for Automatic Machines and Robots, Springer 2008,
//   3.4). It is rounded up to whole lines.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "compute/plan/describe.h"
#include "engine/progress.h"
#include "engine/scan/scan_pattern.h"

namespace echolux {

// Limits of a scanner and the voltages that move it. Both axes are alike but for their gain and offset.
struct Galvo {
    double x_volts_per_mm = 1, y_volts_per_mm = 1;  // of the beam in the field; negative: reversed
    double x_offset_volts = 0, y_offset_volts = 0;  // at the centre of the field
    double max_volts = 10;
    double max_velocity_mm_s = 2e4;
    double max_acceleration_mm_s2 = 3e7;
    double max_jerk_mm_s3 = 3e11;
    std::int64_t samples_per_line = 1;
};

template <>
const std::vector<Field<Galvo>>& describe<Galvo>();

// One volume, after which the waveforms repeat. Sample i is at time (i + 1/2) / sample_rate_hz.
struct Waveforms {
    std::vector<double> x_volts, y_volts;
    std::vector<std::uint8_t> is_line;  // 1 while a line is acquired, 0 while the beam returns
    double sample_rate_hz = 0;
    std::int64_t flyback_lines = 0, flyback_frames = 0;  // for the scan file
    double dead_share = 0;                               // share of the time without lines
    double longest_return_s = 0;                         // shortest possible time of the slowest return of a B-scan
};

// With scan.flyback_lines and scan.flyback_frames at 0, returns are as short as the limits allow. Throws
// Error{bad_setting} if the line rate is unknown, or if the lines themselves, a given flyback or the voltage exceed the
// limits: the message has the figure that is possible. Also for more than 10^8 samples.
Waveforms galvo_waveforms(const ScanGeometry& geometry, const Galvo& galvo, std::span<const double> fast_axis = {},
                          Progress* progress = nullptr);

// Columns with a heading.
inline constexpr std::string_view waveforms_heading = "time_s,x_V,y_V,line";
std::string waveforms_csv(const Waveforms& waveforms);
// An array of NumPy: [samples, 3] of little-endian float64, x_V, y_V, line.
std::string waveforms_npy(const Waveforms& waveforms);

// ---- For tests: the shortest move of one axis

struct AxisState {
    double position = 0, velocity = 0, acceleration = 0;
};

struct AxisLimits {
    double velocity = 0, acceleration = 0, jerk = 0;
};

// A stretch of constant jerk.
struct JerkPiece {
    double duration = 0, jerk = 0;
};

// Returns pieces that lead from `start` to `end` in exactly `duration`, or none if the limits do not allow it.
std::vector<JerkPiece> axis_move(const AxisState& start, const AxisState& end, const AxisLimits& limits,
                                 double duration);

// Returns the state `time` after `start`.
AxisState state_at(AxisState start, const std::vector<JerkPiece>& pieces, double time);

}  // namespace echolux
