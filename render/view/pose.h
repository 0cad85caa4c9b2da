// Where the eye is and what it is aimed at: see camera.h for the axes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "compute/plan/describe.h"

namespace echolux {

enum class Projection { perspective, orthographic, panorama };

// Directions with a name; `free` is what the angles say.
enum class Look { free, front, back, left, right, top, bottom, oblique };

struct Pose {
    Look look = Look::free;
    double azimuth_deg = 35;
    double elevation_deg = 25;
    double roll_deg = 0;
    bool fit = false;
    double zoom = 1;
    double distance = 1;
    std::vector<double> target_um{0, 0, 0};  // depth, A-scans, B-scans from the volume's centre
    Projection projection = Projection::perspective;
    double fov_deg = 30;
    double near_um = 0;
    double eyes_apart = 1.0 / 30;
    double eye = 0;  // of those apart, from the middle to the right: -0.5, 0.5, or 0; no setting, see stereo.h
};

template <>
const std::vector<Field<Pose>>& describe<Pose>();

// What its fields' ranges do not say. Throws Error{bad_setting} naming the key.
void check_part(const Pose& pose);

struct Angles {
    double azimuth_deg, elevation_deg, roll_deg;
};

// Those of the named direction, or the pose's own.
Angles angles_of(const Pose& pose);

}  // namespace echolux
