#include "render/view/sampling.h"

#include "compute/error.h"

namespace echolux {

template <>
const std::vector<Field<Sampling>>& describe<Sampling>() {
    constexpr Effect view = Effect::view;
    static const std::vector<Field<Sampling>> fields{
        number<Sampling>("step", &Sampling::step, 0.05, 10, "voxels", view,
                         "along a ray, in units of the smallest voxel edge; smaller: finer and slower"),
    };
    return fields;
}

void check_part(const Sampling&) {}

}  // namespace echolux
