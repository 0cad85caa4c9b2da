#include "app/figure/figure_style.h"

namespace echolux {

template <>
const std::vector<Field<FigureStyle>>& describe<FigureStyle>() {
    using S = FigureStyle;
    constexpr Effect view = Effect::view;
    static const std::vector<Field<S>> fields{
        number<S>("width_mm", &S::width_mm, 20, 2000, "mm", view,
                  "of the page: a column of a journal is 85, two are 170"),
        number<S>("text_pt", &S::text_pt, 3, 72, "pt", view, "size of all text"),
        number<S>("dpi", &S::dpi, 36, 2400, "dpi", view, "of a PNG; the pictures in PDF and SVG keep their own pixels"),
        choice<S>("gray", &S::gray, {"normal", "inverted"}, view, "inverted: low values are white, which saves ink"),
        number<S>("low", &S::low, lowest_value, highest_value, "", view,
                  "value that is shown as black; at its least: leaves 0.3 % of the values below"),
        number<S>("high", &S::high, lowest_value, highest_value, "", view,
                  "value that is shown as white; at its greatest: leaves 0.3 % of the values above"),
        flag<S>("axes", &S::axes, view, "in micrometres or millimetres; in voxels where no spacing is known"),
        flag<S>("scale_bar", &S::scale_bar, view, "a bar of a round length in each picture whose spacing is known"),
        flag<S>("colour_bar", &S::colour_bar, view, "what grays mean, with the unit"),
        flag<S>("letters", &S::letters, view, "a, b, c where there are several pictures"),
        text<S>("title", &S::title, view, "above all"),
    };
    return fields;
}

}  // namespace echolux
