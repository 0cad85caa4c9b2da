// Settings of the camera. See camera.h for the axes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "compute/plan/described.h"

namespace echolux {

enum class Projection { perspective, orthographic, panorama };

// Named viewing directions; free: from the angles.
enum class Look { free, front, back, left, right, top, bottom, oblique };

struct Pose {
    Look look = Look::free;
    double azimuth_deg = 35;
    double elevation_deg = 25;
    double roll_deg = 0;
    bool fit = false;  // zoom 1 fits the current instead of every orientation
    double zoom = 1;
    double distance = 1;                     // relative to the distance that shows the whole volume
    std::vector<double> target_um{0, 0, 0};  // depth, A-scans, B-scans from the volume's centre
    Projection projection = Projection::perspective;
    double fov_deg = 30;           // along the shorter side, at zoom 1
    double near_um = 0;            // nothing closer to the eye is shown
    double eyes_apart = 1.0 / 30;  // as a fraction of the distance to the target
    double eye = 0;  // position on the stereo base: -0.5 left, 0 centre, 0.5 right; not a setting, see stereo.h
};

template <>
const std::vector<Field<Pose>>& describe<Pose>();

// Checks what the ranges of the fields do not cover. Throws Error{bad_setting} that names the key.
void check_part(const Pose& pose);

struct Angles {
    double azimuth_deg, elevation_deg, roll_deg;
};

// Returns the angles of the named direction, or the pose's own ones for Look::free.
Angles angles_of(const Pose& pose);

}  // namespace echolux
