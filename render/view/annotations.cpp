#include "render/view/annotations.h"

#include <fmt/format.h>

#include "compute/counted.h"
#include "compute/error.h"

namespace echolux {
namespace {

// `numbers` must come in whole groups of `size`.
void check_groups(const std::vector<double>& numbers, std::size_t size, const char* key, const char* remedy) {
    if (numbers.size() % size == 0) return;
    throw Error(ErrorCode::bad_setting,
                fmt::format("{}, not a multiple of {}", counted(numbers.size(), "numbers"), size), key, remedy);
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
        number<A>("text_size", &A::text_size, 0.005, 0.2, "", view,
                  "height of the text as a fraction of the picture's shorter side")
            .soft(0.01, 0.1),
        numbers<A>("text_colour", &A::text_colour, 0, 1, "", view,
                   "colour of text and lines: red, green, blue; []: black or white, whichever suits the background"),
    };
    return fields;
}

void check_part(const Annotations& annotations) {
    check_groups(annotations.distances, 6, "view.distances", "six numbers for each distance: from and to");
    check_groups(annotations.angles, 9, "view.angles", "nine numbers for each angle: leg, vertex, leg");
    check_groups(annotations.flow_arrows, 6, "view.flow_arrows", "six numbers for each arrow: from and to");
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
