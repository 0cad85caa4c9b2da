// Settings of the text and graphics drawn over the picture. Sizes are fractions of the picture's shorter side, so that
// small and large pictures look alike.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "compute/plan/described.h"

namespace echolux {

// Points in `distances`, `angles`, `flow_arrows` and `flow_streaks` are in um from the centre of the first voxel: index
// times voxel spacing along depth, A-scans, B-scans, as the probe reports them.
struct Annotations {
    bool box = true;
    bool scale_bar = false;
    bool axes = false;
    bool colour_bar = false;
    bool depth_ruler = false;
    bool time_stamp = false;
    double time_s = 0;
    double time_rate = 0;  // speed of the data relative to the movie; 0: not shown
    std::string text;
    std::vector<double> text_at{0.5, 0};  // fractions of the picture from its left and top edge
    std::vector<double> distances;        // six numbers each: start and end point
    std::vector<double> angles;           // nine numbers each: point on one leg, vertex, point on the other leg
    std::vector<double> flow_arrows;      // six numbers each: start and end point
    std::vector<double> flow_streaks;     // five numbers per point: vessel, point (3), mm/s
    std::vector<double> streak_pulse;     // two numbers per moment: s, speed over its mean
    double streak_time_s = 0;
    double streak_pace = 0.05;  // speed of the streaks over that of the blood
    double streak_s = 0;        // length as a travel time of the blood; 0: automatic
    double text_size = 0.025;
    std::vector<double> text_colour;  // red, green, blue; empty: automatic
};

template <>
const std::vector<Field<Annotations>>& describe<Annotations>();

// Checks what the ranges of the fields do not cover. Throws Error{bad_setting} that names the key.
void check_part(const Annotations& annotations);

}  // namespace echolux
