// Handles for lights, drawn on a sphere around the volume as seen from the eye.
#pragma once

#include <optional>

#include "render/area_lights.h"
#include "render/picture.h"
#include "ui/panels/panel.h"

namespace echolux {

// State at the start of a drag.
struct HeldLight {
    std::size_t handle = 0;
    LightHandle before;
    glm::dvec2 pointer{0};
    View view;  // view at the start
};

// Returns the handles of a view; none if they are hidden.
std::vector<LightHandle> shown_light_handles(const PanelContext& context, const View& view);

void draw_light_handles(const PanelContext& context, const View& view, const Region& place);

// Returns the handle under the pointer, whose position is relative to the corner of the pane.
std::optional<HeldLight> light_under(const PanelContext& context, const View& view, const Region& place,
                                     const glm::dvec2& pointer);

// Moves a light around the volume. With `moves_away` (Shift) the distance changes instead.
void drag_light(const PanelContext& context, const HeldLight& held, const Region& place, const glm::dvec2& pointer,
                bool moves_away);

}  // namespace echolux
