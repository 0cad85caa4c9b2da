#include "render/view/cut.h"

#include "compute/error.h"

namespace echolux {

template <>
const std::vector<Field<Cut>>& describe<Cut>() {
    constexpr Effect view = Effect::view;
    static const std::vector<Field<Cut>> fields{
        numbers<Cut>("clip_low", &Cut::clip_low, 0, 1, "", view,
                     "the clip box begins here: fractions along depth, A-scans, B-scans"),
        numbers<Cut>("clip_high", &Cut::clip_high, 0, 1, "", view, "the clip box ends here"),
    };
    return fields;
}

void check_part(const Cut&) {}

}  // namespace echolux
