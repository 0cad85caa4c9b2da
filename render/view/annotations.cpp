#include "render/view/annotations.h"

#include <fmt/format.h>

#include "compute/error.h"

namespace echolux {
namespace {

// `numbers` must come in whole groups of `size`.
void check_groups(const std::vector<double>& numbers, std::size_t size, const char* key, const char* remedy) {
    if (numbers.size() % size == 0) return;
    throw Error(ErrorCode::bad_setting, fmt::format("{} numbers, not a multiple of {}", numbers.size(), size), key,
                remedy);
}

}  // namespace

template <>
const std::vector<Field<Annotations>>& describe<Annotations>() {
    using A = Annotations;
    constexpr Effect view = Effect::view;
    static const std::vector<Field<A>> fields{
        flag<A>("box", &A::box, view, "lines along the edges of the volume"),
        flag<A>("scale_bar", &A::scale_bar, view,
                "a bar of a round length; in perspective it holds at the target's distance"),
        flag<A>("axes", &A::axes, view, "which way depth, A-scans and B-scans point"),
        flag<A>("colour_bar", &A::colour_bar, view, "the colours and their values"),
        flag<A>("depth_ruler", &A::depth_ruler, view, "depths along an edge of the volume"),
        flag<A>("time_stamp", &A::time_stamp, view, "time_s in the upper left corner"),
        number<A>("time_s", &A::time_s, -1e12, 1e12, "s", view, "the time that the time stamp shows").soft(0, 60),
        number<A>("time_rate", &A::time_rate, 0, 1e9, "", view,
                  "written behind the time stamp: 0.4 as 0.4x, which is how fast a movie shows time; 0: nothing"),
        text<A>("text", &A::text, view, "written over the picture (UTF-8)"),
        numbers<A>("text_at", &A::text_at, 0, 1, "", view,
                   "where: fractions of the picture from its left and top; 0.5, 0: centred at the top"),
        numbers<A>("distances", &A::distances, -1e9, 1e9, "um", view,
                   "measured and drawn; six numbers each: from and to, along depth, A-scans, B-scans from the middle "
                   "of the first voxel"),
        numbers<A>("angles", &A::angles, -1e9, 1e9, "um", view,
                   "measured and drawn; nine numbers each: a place on one leg, the vertex, a place on the other leg"),
        number<A>("text_size", &A::text_size, 0.005, 0.2, "", view, "of the picture's shorter side").soft(0.01, 0.1),
        numbers<A>("text_colour", &A::text_colour, 0, 1, "", view,
                   "red, green, blue of text and lines; []: black or white, whichever the background needs"),
    };
    return fields;
}

void check_part(const Annotations& annotations) {
    check_groups(annotations.distances, 6, "view.distances", "six numbers for each distance: from and to");
    check_groups(annotations.angles, 9, "view.angles", "nine numbers for each angle: leg, vertex, leg");
    if (annotations.text_at.size() != 2) {
        throw Error(ErrorCode::bad_setting, "a place in the picture has two numbers", "view.text_at", "e.g. [0.5, 0]");
    }
    if (annotations.text_colour.size() != 3 && !annotations.text_colour.empty()) {
        throw Error(ErrorCode::bad_setting, "a colour has three numbers", "view.text_colour",
                    "e.g. [1, 1, 1], or [] to have it chosen");
    }
}

}  // namespace echolux
