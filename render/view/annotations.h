// What is written and drawn over the picture. Sizes are fractions of the picture's shorter side, so that small and
// large pictures look alike.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "compute/plan/describe.h"

namespace echolux {

// Places of `distances`, `angles`, `flow_arrows` and `flow_streaks` are lengths from the middle of the first voxel, as
// the probe reports them: index times voxel edge along depth, A-scans, B-scans.
struct Annotations {
    bool box = true;
    bool scale_bar = false;
    bool axes = false;
    bool colour_bar = false;
    bool depth_ruler = false;
    bool time_stamp = false;
    double time_s = 0;
    double time_rate = 0;  // of the data beside that of the movie
    std::string text;
    std::vector<double> text_at{0.5, 0};
    std::vector<double> distances;
    std::vector<double> angles;
    std::vector<double> flow_arrows;
    std::vector<double> flow_streaks;
    std::vector<double> streak_pulse;
    double streak_time_s = 0;
    double streak_pace = 0.05;
    double streak_s = 0;
    double text_size = 0.025;
    std::vector<double> text_colour;
};

template <>
const std::vector<Field<Annotations>>& describe<Annotations>();

// What its fields' ranges do not say. Throws Error{bad_setting} naming the key.
void check_part(const Annotations& annotations);

}  // namespace echolux
