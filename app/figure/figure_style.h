// Style of figures: section [figure].
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "compute/plan/described.h"
#include "render/view/curve.h"

namespace echolux {

enum class GrayWay { normal, inverted };  // inverted: low values are white

struct Colour {
    double red = 0, green = 0, blue = 0;
};

struct FigureStyle {
    double width_mm = 170;
    double text_pt = 8;
    double dpi = 300;
    GrayWay gray = GrayWay::normal;
    double low = lowest_value;  // black, or white if inverted; at an extreme, the range excludes 0.3 % of the values
    double high = highest_value;
    bool axes = true;
    bool scale_bar = true;
    bool colour_bar = true;
    bool letters = true;
    std::string title;
};

template <>
const std::vector<Field<FigureStyle>>& describe<FigureStyle>();

}  // namespace echolux
