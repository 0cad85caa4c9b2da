#include "app/figure/figure_style.h"
#include "compute/plan/describe.h"

namespace echolux {

template <>
const std::vector<Field<FigureStyle>>& describe<FigureStyle>() {
    using S = FigureStyle;
    constexpr Effect view = Effect::view;
    static const std::vector<Field<S>> fields{
        number<S>("width_mm", &S::width_mm, 20, 2000, "mm", view,
                  "width of the page; one column of a journal is 85, two are 170"),
        number<S>("text_pt", &S::text_pt, 3, 72, "pt", view, "size of all text"),
        number<S>("dpi", &S::dpi, 36, 2400, "dpi", view,
                  "resolution of a PNG; pictures in PDF and SVG keep their own pixels"),
        choice<S>("gray", &S::gray, {"normal", "inverted"}, view, "inverted: low values are white, which saves ink"),
        number<S>("low", &S::low, lowest_value, highest_value, "", view,
                  "value shown as black; auto (-1e12): leaves 0.3 % of the values below")
            .special(lowest_value, "auto"),
        number<S>("high", &S::high, lowest_value, highest_value, "", view,
                  "value shown as white; auto (1e12): leaves 0.3 % of the values above")
            .special(highest_value, "auto"),
        flag<S>("axes", &S::axes, view, "axes in micrometres or millimetres; in voxels where no spacing is known"),
        flag<S>("scale_bar", &S::scale_bar, view, "scale bar of a round length in each picture whose spacing is known"),
        flag<S>("colour_bar", &S::colour_bar, view, "colour bar of the gray levels, with the unit"),
        flag<S>("letters", &S::letters, view, "letters a, b, c where there are several pictures"),
        text<S>("title", &S::title, view, "title above the figure"),
    };
    return fields;
}

}  // namespace echolux
