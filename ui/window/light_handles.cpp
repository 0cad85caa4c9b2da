#include "ui/window/light_handles.h"

#include <algorithm>
#include <cmath>
#include <glm/geometric.hpp>

#include "ui/panels/widgets.h"
#include "ui/window/theme.h"

namespace echolux {
namespace {

// Radius of the sphere relative to the pane, and sizes in pixels at scale 1.
constexpr double radius_of_pane = 0.42;
constexpr double twice_as_far_px = 80;
constexpr float handle_px = 8, reach_px = 13;

// In pixels.
double radius(const Region& place) {
    return radius_of_pane * static_cast<double>(std::min(place.width, place.height));
}

glm::dvec2 middle(const Region& place) {
    return 0.5 * glm::dvec2(static_cast<double>(place.width), static_cast<double>(place.height));
}

}  // namespace

std::vector<LightHandle> shown_light_handles(const PanelContext& context, const View& view) {
    if (!context.work.window().light_handles || view.show != Shown::volume) return {};
    return light_handles(view);
}

// Lights behind the volume are drawn as rings, lights in front as discs.
void draw_light_handles(const PanelContext& context, const View& view, const Region& place) {
    const Style& style = context.style;
    ImDrawList& list = *ImGui::GetWindowDrawList();
    const std::vector<LightHandle> handles = shown_light_handles(context, view);
    const auto on_pane = [&](const glm::dvec2& at) {
        const glm::dvec2 pixel = middle(place) + radius(place) * at;
        return ImVec2{static_cast<float>(place.left) + static_cast<float>(pixel.x),
                      static_cast<float>(place.top) + static_cast<float>(pixel.y)};
    };
    for (std::size_t i = 0; i < handles.size(); ++i) {
        const ImVec2 at = on_pane(handles[i].at), centre = on_pane({0, 0});
        const auto& [red, green, blue] = handles[i].colour;
        const double most = std::max({red, green, blue, 1e-6});
        const auto part = [&](double c) { return 0.25f + 0.75f * static_cast<float>(c / most); };
        const ImVec4 colour{part(red), part(green), part(blue), 1};
        const float size = style.px(handle_px);
        list.AddLine(centre, at, shade(colour, 0.25f), std::max(1.0f, style.scale));
        list.AddCircleFilled(at, size + style.px(2), shade(ground, 0.8f));
        if (handles[i].is_behind)
            list.AddCircle(at, size, shade(colour, 1), 0, style.px(2));
        else
            list.AddCircleFilled(at, size, shade(colour, 1));
        context.state.controls.places["light[" + std::to_string(i) + "]"] = {at.x - size, at.y - size, at.x + size,
                                                                             at.y + size};
    }
}

std::optional<HeldLight> light_under(const PanelContext& context, const View& view, const Region& place,
                                     const glm::dvec2& pointer) {
    const std::vector<LightHandle> handles = shown_light_handles(context, view);
    for (std::size_t i = handles.size(); i-- > 0;) {  // topmost first
        const glm::dvec2 at = middle(place) + radius(place) * handles[i].at;
        if (glm::distance(at, pointer) <= static_cast<double>(context.style.px(reach_px)))
            return HeldLight{i, handles[i], pointer, view};
    }
    return std::nullopt;
}

// The handle moves relative to its position at the start of the drag.
void drag_light(const PanelContext& context, const HeldLight& held, const Region& place, const glm::dvec2& pointer,
                bool moves_away) {
    const glm::dvec2 by = pointer - held.pointer;
    const glm::dvec2 at = moves_away ? held.before.at : held.before.at + by / radius(place);
    const double farther = moves_away ? std::exp2(-by.y / twice_as_far_px) : 1;
    const auto values = with_light_at(held.view, held.handle, at, held.before.is_behind, farther);
    if (!values.empty()) context.work.change_together("view.area_lights", values, Edit::under_way);
}

}  // namespace echolux
