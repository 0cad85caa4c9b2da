#include "render/view/annotations.h"

#include <fmt/format.h>

#include "compute/counted.h"
#include "compute/error.h"
#include "compute/plan/describe.h"

namespace echolux {
namespace {

// Throws Error{bad_setting} unless the length of `numbers` is a multiple of `size`.
void check_groups(const std::vector<double>& numbers, std::size_t size, const char* key, const char* remedy) {
    if (numbers.size() % size == 0) return;
    throw Error(ErrorCode::bad_setting,
                fmt::format("{}, not a multiple of {}", counted(numbers.size(), "numbers"), size), key, remedy);
}

// Requires positive speeds, and a pulse with ascending times and speeds of 0 or more.
void check_streaks(const Annotations& annotations) {
    const std::vector<double>&streaks = annotations.flow_streaks, &pulse = annotations.streak_pulse;
    check_groups(streaks, 5, "view.flow_streaks", "five numbers for each point: vessel, depth, A-scan, B-scan, mm/s");
    check_groups(pulse, 2, "view.streak_pulse", "two numbers for each moment: seconds, speed over its mean");
    for (std::size_t i = 4; i < streaks.size(); i += 5) {
        if (streaks[i] > 0) continue;
        throw Error(ErrorCode::bad_setting, fmt::format("blood that moves at {:g} mm/s has no streaks", streaks[i]),
                    "view.flow_streaks", "give points in the direction of flow, with speeds above 0");
    }
    for (std::size_t i = 0; i < pulse.size(); i += 2) {
        if ((i == 0 || pulse[i] > pulse[i - 2]) && pulse[i + 1] >= 0) continue;
        throw Error(ErrorCode::bad_setting,
                    fmt::format("{:g} s, {:g} is out of order or runs back", pulse[i], pulse[i + 1]),
                    "view.streak_pulse", "give ascending times, and speeds of 0 and more");
    }
}

}  // namespace

template <>
const std::vector<Field<Annotations>>& describe<Annotations>() {
    using A = Annotations;
    constexpr Effect view = Effect::view;
    static const std::vector<Field<A>> fields{
        flag<A>("box", &A::box, view, "box along the edges of the volume"),
        flag<A>("scale_bar", &A::scale_bar, view,
                "scale bar of a round length; in perspective it is true at the target's distance"),
        flag<A>("axes", &A::axes, view, "directions of depth, A-scans and B-scans"),
        flag<A>("colour_bar", &A::colour_bar, view, "colour bar with values"),
        flag<A>("depth_ruler", &A::depth_ruler, view, "depth ruler along an edge of the volume"),
        flag<A>("time_stamp", &A::time_stamp, view, "time_s in the upper left corner"),
        number<A>("time_s", &A::time_s, -1e12, 1e12, "s", view, "time shown by the time stamp").soft(0, 60),
        number<A>("time_rate", &A::time_rate, 0, 1e9, "", view,
                  "speed shown after the time stamp: 0.4 reads 0.4x; 0: none"),
        text<A>("text", &A::text, view, "text over the picture (UTF-8)"),
        numbers<A>(
            "text_at", &A::text_at, 0, 1, "", view,
            "position of the text, as fractions of the picture from its left and top; 0.5, 0: centred at the top"),
        numbers<A>("distances", &A::distances, -1e9, 1e9, "um", view,
                   "distances to measure and draw, six numbers each: start and end along depth, A-scans, B-scans from "
                   "the middle of the first voxel"),
        numbers<A>(
            "angles", &A::angles, -1e9, 1e9, "um", view,
            "angles to measure and draw, nine numbers each: a point on one leg, the vertex, a point on the other leg"),
        numbers<A>(
            "flow_arrows", &A::flow_arrows, -1e9, 1e9, "um", view,
            "arrows along vessels in the direction of their flow, six numbers each as of distances: from and to"),
        numbers<A>("flow_streaks", &A::flow_streaks, -1e9, 1e9, "", view,
                   "courses of vessels along which streaks move with the blood, five numbers for each point: the "
                   "vessel's number, depth, A-scan and B-scan in um as of distances, and the speed in mm/s"),
        numbers<A>("streak_pulse", &A::streak_pulse, -1e9, 1e9, "", view,
                   "how fast blood is over time, two numbers for each moment: seconds, and the speed over its mean; "
                   "from the last on it begins again; []: always as fast"),
        number<A>("streak_time_s", &A::streak_time_s, -1e9, 1e9, "s", view,
                  "moment at which streaks are seen; movies and what is shown of a series or live go on from there")
            .soft(0, 10),
        number<A>("streak_pace", &A::streak_pace, 0, 10, "", view,
                  "how fast streaks move over how fast blood does; 0: they stand still")
            .soft(0, 1),
        number<A>("streak_s", &A::streak_s, 0, 10, "s", view,
                  "length of streaks: the way that blood goes in this time; 0: such that a vessel has six")
            .special(0, "auto")
            .soft(0, 0.1),
        number<A>("text_size", &A::text_size, 0.005, 0.2, "", view,
                  "height of the text as a fraction of the picture's shorter side")
            .soft(0.01, 0.1),
        numbers<A>("text_colour", &A::text_colour, 0, 1, "", view,
                   "colour of text and lines: red, green, blue; []: black or white, whichever suits the background"),
    };
    return fields;
}

// Lists of points are flat, so their lengths are checked here.
void check_part(const Annotations& annotations) {
    check_groups(annotations.distances, 6, "view.distances", "six numbers for each distance: from and to");
    check_groups(annotations.angles, 9, "view.angles", "nine numbers for each angle: leg, vertex, leg");
    check_groups(annotations.flow_arrows, 6, "view.flow_arrows", "six numbers for each arrow: from and to");
    check_streaks(annotations);
    if (annotations.text_at.size() != 2) {
        throw Error(ErrorCode::bad_setting, "a position in the picture has two numbers", "view.text_at",
                    "e.g. [0.5, 0]");
    }
    if (annotations.text_colour.size() != 3 && !annotations.text_colour.empty()) {
        throw Error(ErrorCode::bad_setting, "a colour has three numbers", "view.text_colour",
                    "e.g. [1, 1, 1], or [] for automatic");
    }
}

}  // namespace echolux
