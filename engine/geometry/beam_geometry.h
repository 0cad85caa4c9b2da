// Settings of the section [geometry]: how an instrument bends its volumes. engine/geometry/beam_map.h has the model.
#pragma once

#include <string>
#include <vector>

#include "compute/plan/described.h"

namespace echolux {

// Order of the lines of a volume. raster: as scan.protocol says. radial: B-scan b of n is a diameter of the field at
// the angle pi b / n from x towards y. circle: B-scan b is a circle of the radius (b + 1/2) spacing_b. spiral: B-scan b
// is a turn from the radius b spacing_b to (b + 1) spacing_b. A-scan a of n of circles and turns is at the angle 2 pi a
// / n.
enum class LinePattern { raster, radial, circle, spiral };

// The default of every value is an instrument that measures a box. docs/geometry.md has a figure for each sign.
struct BeamGeometry {
    LinePattern pattern = LinePattern::raster;

    // Surface at which a flat mirror, perpendicular to the axis, appears: sum of c x^i y^j in um of path in air, x and
    // y in mm. Order: 1, x, y, x^2, xy, y^2, x^3, x^2 y, ... up to y^4. Positive: deeper.
    std::vector<double> path_um{};
    double refractive_index = 0;  // by which the depths of the volume were divided; 0: as the scan says, else 1

    // Lens: mm in the sample per mm of the scan, radial terms, and x^2, x^3, ... of each axis.
    double scale_x = 1, scale_y = 1;
    double radial_per_mm2 = 0, radial_per_mm4 = 0;  // above 0: pincushion, points lie further out than the scan states
    std::vector<double> bend_x{}, bend_y{};

    // Distance from the pivot of each axis to zero delay. 0: parallel beams. Above 0: beams diverge with depth.
    double pivot_x_mm = 0, pivot_y_mm = 0;

    // Galvanometers: the beam follows the command after a delay, as an oscillator with a resonance. 0: at once.
    double delay_x_us = 0, delay_y_us = 0;
    double resonance_x_hz = 0, resonance_y_hz = 0;
    double damping_x = 0.7, damping_y = 0.7;

    // Catheters: every B-scan is a turn.
    bool polar = false;
    double rotation_deg = 0;       // of the first A-scan, from x towards y
    bool turns_backwards = false;  // from y towards x
    double zero_radius_um = 0;     // distance from the axis of rotation to zero delay; below 0: zero delay is beyond it
    double pullback_um = 0;        // along the axis per turn; 0: as scan.spacing_b_um

    std::string path_origin{}, lens_origin{}, galvo_origin{};  // how the values were found

    bool has_galvo() const { return delay_x_us != 0 || delay_y_us != 0 || resonance_x_hz != 0 || resonance_y_hz != 0; }
    bool operator==(const BeamGeometry&) const = default;
};

template <>
const std::vector<Field<BeamGeometry>>& describe<BeamGeometry>();

}  // namespace echolux
