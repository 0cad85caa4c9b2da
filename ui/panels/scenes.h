// The scenes that the simulator offers, as the start page and the source panel show them.
#pragma once

#include <array>

namespace echolux {

struct ShownScene {
    const char* name;  // as sim:NAME
    const char* title;
    const char* text;
};
inline constexpr std::array shown_scenes{ShownScene{"vessel", "Vessel", "tissue with pulsating blood flow"},
                                         ShownScene{"retina", "Retina", "layers, vessels, a fovea"},
                                         ShownScene{"layers", "Layers", "plain boundaries of known depth"},
                                         ShownScene{"capillary", "Capillary", "steady flow of known speed"},
                                         ShownScene{"mirror", "Mirror", "reflectors of known depth, for alignment"}};

}  // namespace echolux
