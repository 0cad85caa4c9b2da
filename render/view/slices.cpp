#include "render/view/slices.h"

#include "compute/error.h"

namespace echolux {

template <>
const std::vector<Field<Slices>>& describe<Slices>() {
    constexpr Effect view = Effect::view;
    static const std::vector<Field<Slices>> fields{
        numbers<Slices>("slices", &Slices::slices, -1e9, 1e9, "", view, "planes inside the volume, four numbers each"),
    };
    return fields;
}

void check_part(const Slices&) {}

}  // namespace echolux
