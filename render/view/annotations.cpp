#include "render/view/annotations.h"

#include "compute/error.h"

namespace echolux {

template <>
const std::vector<Field<Annotations>>& describe<Annotations>() {
    constexpr Effect view = Effect::view;
    static const std::vector<Field<Annotations>> fields{
        flag<Annotations>("box", &Annotations::box, view, "lines along the edges of the volume"),
    };
    return fields;
}

void check_part(const Annotations&) {}

}  // namespace echolux
