// Handles of lights over the volume: on a sphere about it, where they are seen from the eye.
#pragma once

#include <optional>

#include "render/area_lights.h"
#include "render/region.h"
#include "ui/panels/panel.h"

namespace echolux {

// A handle that is dragged: as it was, and where the pointer took hold of it.
struct HeldLight {
    std::size_t handle = 0;
    LightHandle before;
    glm::dvec2 pointer{0};
    View view;  // as it was
};

// Those of this view; none where they are switched off.
std::vector<LightHandle> shown_light_handles(const PanelContext& context, const View& view);

void draw_light_handles(const PanelContext& context, const View& view, const Region& place);

// The handle under the pointer, which is given from the pane's corner.
std::optional<HeldLight> light_under(const PanelContext& context, const View& view, const Region& place,
                                     const glm::dvec2& pointer);

// With Shift it is moved farther and nearer.
void drag_light(const PanelContext& context, const HeldLight& held, const Region& place, const glm::dvec2& pointer,
                bool moves_away);

}  // namespace echolux
