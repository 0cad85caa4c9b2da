#include "render/view/light.h"

#include "compute/error.h"

namespace echolux {

template <>
const std::vector<Field<Light>>& describe<Light>() {
    constexpr Effect view = Effect::view;
    static const std::vector<Field<Light>> fields{
        flag<Light>("lighting", &Light::lighting, view, "shade by the gradient, lamp at the eye"),
        number<Light>("lighting_strength", &Light::lighting_strength, 0, 1, "", view, "0: flat colours"),
    };
    return fields;
}

void check_part(const Light&) {}

}  // namespace echolux
