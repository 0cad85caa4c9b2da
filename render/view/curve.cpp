#include "render/view/curve.h"

#include "compute/error.h"

namespace echolux {

template <>
const std::vector<Field<Curve>>& describe<Curve>() {
    constexpr Effect view = Effect::view;
    static const std::vector<Field<Curve>> fields{
        choice<Curve>("preset", &Curve::preset, {"automatic", "oct-gray", "tissue", "retina", "angiogram", "gray"},
                      view, "colour and opacity; automatic: tissue for dB, gray for all else"),
        number<Curve>("low", &Curve::low, lowest_value, highest_value, "value", view,
                      "the preset begins here; -1e12: chosen by the preset (dB above the noise floor) or the volume's "
                      "1st percentile"),
        number<Curve>("high", &Curve::high, lowest_value, highest_value, "value", view,
                      "the preset ends here; 1e12: chosen by the preset (dB above the noise floor) or the volume's "
                      "99.9th percentile"),
        number<Curve>("opacity", &Curve::opacity, 0, 1000, "", view,
                      "factor on the preset's extinction, which is per length and counted over the volume's depth"),
        number<Curve>("isovalue", &Curve::isovalue, lowest_value, highest_value, "value", view,
                      "of the isosurface; 0: half way from low to high"),
    };
    return fields;
}

void check_part(const Curve& curve) {
    if (curve.low < curve.high) return;
    throw Error(ErrorCode::bad_setting, "low is not below high", "view.low, view.high",
                "exchange them, or leave one out to have it chosen");
}

}  // namespace echolux
