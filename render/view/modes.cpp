#include "render/view/modes.h"
#include "compute/plan/describe.h"

namespace echolux {

template <>
const std::vector<Field<Modes>>& describe<Modes>() {
    constexpr Effect view = Effect::view;
    static const std::vector<Field<Modes>> fields{
        number<Modes>("attenuation", &Modes::attenuation, 0, 1000, "", view,
                      "attenuated-mip: attenuation of what lies behind, as the optical depth of a volume filled with "
                      "the value high; 0: mip")
            .soft(0, 40),
        number<Modes>("mida_balance", &Modes::mida_balance, -1, 1, "", view,
                      "mida: -1: composite, 0: half way between, 1: mip"),
        number<Modes>("point_size", &Modes::point_size, 0.1, 0.99, "voxels", view,
                      "points: diameter of the balls, scaled as the voxels are"),
    };
    return fields;
}

void check_part(const Modes&) {}

}  // namespace echolux
